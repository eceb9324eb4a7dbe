internal import BackhaulModel

extension Constraints: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(preset?.rawValue)
        encoder.put(requiresExternalPower.map { $0 ? 1 : 0 as UInt32 })
        encoder.put(requiresUnmetered.map { $0 ? 1 : 0 as UInt32 })
        encoder.put(networks?.rawValue)
        encoder.put(minimumBatteryPercent)
        encoder.put(maximumThermalState?.rawValue)
        encoder.put(maximumCPUPressurePercent)
        encoder.put(maximumIOPressurePercent)
        encoder.put(maximumMemoryPressurePercent)
        encoder.put(minimumBytesPerSecond)
        encoder.put(quietHours?.text)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        preset = try decoder.optionalCode()
        requiresExternalPower = try decoder.optional(UInt32.self).map { $0 != 0 }
        requiresUnmetered = try decoder.optional(UInt32.self).map { $0 != 0 }
        networks = try decoder.optional(UInt32.self).map(NetworkKinds.init)
        minimumBatteryPercent = try decoder.optional()
        maximumThermalState = try decoder.optionalCode()
        maximumCPUPressurePercent = try decoder.optional()
        maximumIOPressurePercent = try decoder.optional()
        maximumMemoryPressurePercent = try decoder.optional()
        minimumBytesPerSecond = try decoder.optional()
        quietHours = try decoder.quietHours()
    }
}

extension Decoder {
    fileprivate mutating func quietHours() throws(Malformed) -> QuietHours? {
        guard let text: String = try optional() else { return nil }
        guard let hours = QuietHours(text) else { throw Malformed("it has quiet hours that are none") }
        return hours
    }
}

extension ByteBudget: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(daily)
        encoder.put(monthly)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(daily: try decoder.optional(), monthly: try decoder.optional())
    }
}

extension ConditionInfo: WireElement {
    static var minimumSize: Int { 27 }
    func encode(into encoder: inout Encoder) {
        encoder.put(code: kind)
        encoder.put(isKnown)
        encoder.put(value)
        encoder.put(name)
        encoder.put(text)
        encoder.put(source)
        encoder.put(sinceMilliseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            kind: try decoder.code(), isKnown: try decoder.bool(), value: try decoder.integer(),
            name: try decoder.optional(), text: try decoder.string(), source: try decoder.string(),
            sinceMilliseconds: try decoder.integer())
    }
}

extension Hold: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(code: reason)
        encoder.put(sentence)
        encoder.put(nextLookMilliseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            try decoder.code(), try decoder.string(), nextLookMilliseconds: try decoder.optional())
    }
}

extension HoldInfo: WireElement {
    static var minimumSize: Int { 31 }
    func encode(into encoder: inout Encoder) {
        encoder.put(application)
        encoder.put(session)
        encoder.put(origin)
        encoder.put(hold)
        encoder.put(beganMilliseconds)
        encoder.put(tasks)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            application: try decoder.string(), session: try decoder.string(), origin: try decoder.optional(),
            hold: try decoder.value(), beganMilliseconds: try decoder.integer(), tasks: try decoder.integer())
    }
}

extension Wait: WireElement {
    static var minimumSize: Int { 14 }
    func encode(into encoder: inout Encoder) {
        encoder.put(code: reason)
        encoder.put(sentence)
        encoder.put(beganMilliseconds)
        encoder.put(endedMilliseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            try decoder.code(), try decoder.string(), beganMilliseconds: try decoder.integer(),
            endedMilliseconds: try decoder.optional())
    }
}

extension NetworkSettings: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(name)
        encoder.put(isMetered.map { $0 ? 1 : 0 as UInt32 })
        encoder.put(monthStartsOn)
        encoder.put(budget)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(name: try decoder.string())
        isMetered = try decoder.optional(UInt32.self).map { $0 != 0 }
        monthStartsOn = try decoder.integer()
        budget = try decoder.value()
    }
}

extension NetworkInfo: WireElement {
    static var minimumSize: Int { 42 }
    func encode(into encoder: inout Encoder) {
        encoder.put(settings)
        encoder.put(kind?.rawValue)
        encoder.put(isCurrent)
        encoder.put(usedToday)
        encoder.put(usedThisMonth)
        encoder.put(dayEndsMilliseconds)
        encoder.put(monthEndsMilliseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(try decoder.value())
        kind = try decoder.optional(UInt32.self).map(NetworkKinds.init)
        isCurrent = try decoder.bool()
        usedToday = try decoder.integer()
        usedThisMonth = try decoder.integer()
        dayEndsMilliseconds = try decoder.integer()
        monthEndsMilliseconds = try decoder.integer()
    }
}

extension Activity: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(identifier)
        encoder.put(intervalMilliseconds)
        encoder.put(toleranceMilliseconds)
        encoder.put(repeats)
        encoder.put(code: qualityOfService)
        encoder.put(request)
        encoder.put(firstMilliseconds)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            identifier: try decoder.string(), intervalMilliseconds: try decoder.integer(),
            toleranceMilliseconds: try decoder.integer())
        repeats = try decoder.bool()
        qualityOfService = try decoder.code()
        request = try decoder.optional()
        firstMilliseconds = try decoder.optional()
    }
}

extension ActivityInfo: WireElement {
    static var minimumSize: Int { 33 }
    func encode(into encoder: inout Encoder) {
        encoder.put(identifier)
        encoder.put(intervalMilliseconds)
        encoder.put(toleranceMilliseconds)
        encoder.put(repeats)
        encoder.put(code: qualityOfService)
        encoder.put(nextMilliseconds)
        encoder.put(lastStartedMilliseconds)
        encoder.put(lastTask)
        encoder.put(url)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            identifier: try decoder.string(), intervalMilliseconds: try decoder.integer(),
            toleranceMilliseconds: try decoder.integer(), repeats: try decoder.bool(),
            qualityOfService: try decoder.code(), nextMilliseconds: try decoder.integer(),
            lastStartedMilliseconds: try decoder.optional(), lastTask: try decoder.optional(),
            url: try decoder.optional())
    }
}
