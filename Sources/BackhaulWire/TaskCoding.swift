internal import BackhaulModel

extension TaskSelection: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(ids)
        encoder.put(states.rawValue)
        encoder.put(group)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(ids: try decoder.list(), states: TaskStates(rawValue: try decoder.integer()),
            group: try decoder.optional())
    }
}

extension TaskControl: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .cancel: encoder.tag(1)
        case .suspend: encoder.tag(2)
        case .resume: encoder.tag(3)
        case .setPriority(let priority):
            encoder.tag(4)
            encoder.put(priority)
        case .setRate(let rate):
            encoder.tag(5)
            encoder.put(rate)
        case .setConstraints(let constraints):
            encoder.tag(6)
            encoder.put(constraints)
        case .reschedule(let rescheduling):
            encoder.tag(7)
            encoder.put(rescheduling.earliest.code)
            encoder.put(rescheduling.latest.code)
        }
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .cancel
        case 2: self = .suspend
        case 3: self = .resume
        case 4: self = .setPriority(try decoder.integer())
        case 5: self = .setRate(try decoder.optional())
        case 6: self = .setConstraints(try decoder.value())
        case 7:
            self = .reschedule(Rescheduling(earliest: try decoder.startChange(), latest: try decoder.startChange()))
        case let tag: throw Malformed("it has the unknown task control \(tag)")
        }
    }
}

extension Decoder {
    fileprivate mutating func startChange() throws(Malformed) -> StartChange {
        let code: Int64 = try integer()
        guard let change = StartChange(code: code) else { throw Malformed("it has \(code) for a start") }
        return change
    }
}

extension TaskInfo: WireElement {
    static var minimumSize: Int { 104 }
    func encode(into encoder: inout Encoder) {
        encoder.put(id)
        encoder.put(round)
        encoder.put(code: state)
        encoder.put(code: reason)
        encoder.put(reasonText)
        encoder.put(nextAttemptMilliseconds)
        encoder.put(url)
        encoder.put(destinationPath)
        encoder.put(idempotencyKey)
        encoder.put(userData.map(WireData.init))
        encoder.put(priority)
        encoder.put(failure)
        encoder.put(httpStatus)
        encoder.put(attempts)
        encoder.put(offset)
        encoder.put(size)
        encoder.put(bytesPerSecond)
        encoder.put(enqueuedMilliseconds)
        encoder.put(code: kind)
        encoder.put(group)
        encoder.put(bodySent)
        encoder.put(bodySize)
        encoder.put(endedMilliseconds)
        encoder.put(path)
        encoder.put(earliestStartMilliseconds)
        encoder.put(latestStartMilliseconds)
        encoder.put(expectedBytesReceived)
        encoder.put(expectedBytesSent)
        encoder.put(constraints?.value)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            id: try decoder.value(), round: try decoder.integer(), state: try decoder.code(),
            reason: try decoder.code(), reasonText: try decoder.optional(),
            nextAttemptMilliseconds: try decoder.integer(), url: try decoder.string(),
            destinationPath: try decoder.optional(), idempotencyKey: try decoder.optional(),
            userData: try decoder.optional(WireData.self)?.bytes, priority: try decoder.integer(),
            failure: try decoder.optional(), httpStatus: try decoder.integer(), attempts: try decoder.integer(),
            offset: try decoder.integer(), size: try decoder.optional(), bytesPerSecond: try decoder.integer(),
            enqueuedMilliseconds: try decoder.integer())
        kind = try decoder.code()
        group = try decoder.optional()
        bodySent = try decoder.integer()
        bodySize = try decoder.integer()
        endedMilliseconds = try decoder.integer()
        path = try decoder.optional()
        earliestStartMilliseconds = try decoder.optional()
        latestStartMilliseconds = try decoder.optional()
        expectedBytesReceived = try decoder.optional()
        expectedBytesSent = try decoder.optional()
        constraints = try decoder.optional(Constraints.self).map(Boxed.init)
    }
}
