internal import BackhaulModel

extension Constraints: WireRecord {
    static var blank: Constraints { Constraints() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try visitFields(with: &coder)
    }
}

extension ByteBudget: WireRecord {
    static var blank: ByteBudget { ByteBudget() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&daily)
        try coder.field(&monthly)
    }
}

extension ConditionInfo: WireRecord, WireElement {
    static var minimumSize: Int { 27 }
    static var blank: ConditionInfo {
        ConditionInfo(
            kind: .externalPower, isKnown: false, value: 0, text: "", source: "", sinceMilliseconds: 0)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&kind)
        try coder.field(&isKnown)
        try coder.field(&value)
        try coder.field(&name)
        try coder.field(&text)
        try coder.field(&source)
        try coder.field(&sinceMilliseconds)
    }
}

extension Hold: WireRecord {
    static var blank: Hold { Hold(.none, "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&reason)
        try coder.field(&sentence)
        try coder.field(&nextCheckMilliseconds)
    }
}

extension HoldInfo: WireRecord, WireElement {
    static var minimumSize: Int { 31 }
    static var blank: HoldInfo { HoldInfo(application: "", session: "", hold: .blank, beganMilliseconds: 0, tasks: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&application)
        try coder.field(&session)
        try coder.field(&origin)
        try coder.field(&hold)
        try coder.field(&beganMilliseconds)
        try coder.field(&tasks)
    }
}

extension WaitRecord: WireRecord, WireElement {
    static var minimumSize: Int { 22 }
    static var blank: WaitRecord { WaitRecord(.none, "", beganMilliseconds: 0, endedMilliseconds: nil) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&task)
        try coder.field(&reason)
        try coder.field(&sentence)
        try coder.field(&beganMilliseconds)
        try coder.field(&endedMilliseconds)
    }
}

extension NetworkSettings: WireRecord {
    static var blank: NetworkSettings { NetworkSettings(name: "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&name)
        try coder.field(&isMetered)
        try coder.field(&monthStartsOn)
        try coder.field(&budget)
    }
}

extension NetworkInfo: WireRecord, WireElement {
    static var minimumSize: Int { 42 }
    static var blank: NetworkInfo { NetworkInfo(.blank) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&settings)
        try coder.field(&kind)
        try coder.field(&isCurrent)
        try coder.field(&usedToday)
        try coder.field(&usedThisMonth)
        try coder.field(&dayEndsMilliseconds)
        try coder.field(&monthEndsMilliseconds)
    }
}

extension Activity: WireRecord {
    static var blank: Activity { Activity(identifier: "", intervalMilliseconds: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&identifier)
        try coder.field(&intervalMilliseconds)
        try coder.field(&toleranceMilliseconds)
        try coder.field(&repeats)
        try coder.field(&qualityOfService)
        try coder.field(&request)
        try coder.field(&firstMilliseconds)
    }
}

extension ActivityInfo: WireRecord, WireElement {
    static var minimumSize: Int { 33 }
    static var blank: ActivityInfo {
        ActivityInfo(
            identifier: "", intervalMilliseconds: 0, toleranceMilliseconds: 0, repeats: false,
            qualityOfService: .background, nextMilliseconds: 0)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&identifier)
        try coder.field(&intervalMilliseconds)
        try coder.field(&toleranceMilliseconds)
        try coder.field(&repeats)
        try coder.field(&qualityOfService)
        try coder.field(&nextMilliseconds)
        try coder.field(&lastStartedMilliseconds)
        try coder.field(&lastTask)
        try coder.field(&url)
    }
}
