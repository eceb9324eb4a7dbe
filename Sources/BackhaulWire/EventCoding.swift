internal import BackhaulModel

extension ResponseSummary: WireRecord {
    static var blank: ResponseSummary { ResponseSummary() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&httpStatus)
        try coder.field(&finalURL)
        try coder.field(&mediaType)
        try coder.field(&headers)
        try coder.field(&errorBody)
        try coder.field(&responseBody)
    }
}

extension Outcome: WireRecord {
    static var blank: Outcome { Outcome(state: .waiting) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&state)
        try coder.field(&failure)
        try coder.field(&path)
        try coder.field(&size)
        try coder.field(&response)
        try coder.field(&attempts)
        try coder.field(&bytesReceived)
        try coder.field(&bytesSent)
        try coder.field(&checksum, "checksum")
    }
}

extension EndedTask: WireRecord {
    static var blank: EndedTask { EndedTask(id: .zero, url: "", idempotencyKey: nil, userData: nil, outcome: .blank) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&id)
        try coder.field(&url)
        try coder.field(&idempotencyKey)
        try coder.field(&userData)
        try coder.field(&outcome)
        try coder.field(&kind)
        try coder.field(&group)
    }
}

extension FinishedGroup: WireRecord {
    static var blank: FinishedGroup { FinishedGroup(name: "", succeeded: 0, failed: 0, cancelled: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&name)
        try coder.field(&succeeded)
        try coder.field(&failed)
        try coder.field(&cancelled)
    }
}

extension Event: WireRecord, WireElement {
    static var minimumSize: Int { 25 }
    static var blank: Event { Event(id: .zero, round: 0, timeMilliseconds: 0, kind: .sessionFinished) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&id)
        try coder.field(&round)
        try coder.field(&timeMilliseconds)
        try coder.field(&kind)
    }
}

extension Event.Kind: WireValue {
    enum Form: UInt8 { case taskEnded = 1, sessionFinished, challenge, groupFinished, activity }

    func write(to coder: inout Coder) {
        switch self {
        case .taskEnded(let task): coder.put(Form.taskEnded, task)
        case .sessionFinished: coder.put(Form.sessionFinished)
        case .challenge(let challenge): coder.put(Form.challenge, challenge)
        case .groupFinished(let group): coder.put(Form.groupFinished, group)
        case .activity(let identifier): coder.put(Form.activity, identifier)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Event.Kind {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .taskEnded: .taskEnded(try coder.next())
        case .sessionFinished: .sessionFinished
        case .challenge: .challenge(try coder.next())
        case .groupFinished: .groupFinished(try coder.next())
        case .activity: .activity(try coder.next())
        case nil: throw Malformed("it has the unknown kind of event \(tag)")
        }
    }
}
