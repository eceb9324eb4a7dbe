internal import BackhaulModel

extension TaskSelection: WireRecord {
    static var blank: TaskSelection { TaskSelection() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&ids)
        try coder.field(&states)
        try coder.field(&group)
    }
}

extension TaskControl: WireValue {
    enum Form: UInt8 {
        case cancel = 1, suspend, resume, setPriority, setRate, setConstraints, reschedule, setAside
    }

    func write(to coder: inout Coder) {
        switch self {
        case .cancel: coder.put(Form.cancel)
        case .suspend: coder.put(Form.suspend)
        case .resume: coder.put(Form.resume)
        case .setPriority(let priority): coder.put(Form.setPriority, priority)
        case .setRate(let rate): coder.put(Form.setRate, rate)
        case .setConstraints(let constraints): coder.put(Form.setConstraints, constraints)
        case .reschedule(let rescheduling): coder.put(Form.reschedule, rescheduling)
        case .setAside: coder.put(Form.setAside)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> TaskControl {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .cancel: .cancel
        case .suspend: .suspend
        case .resume: .resume
        case .setPriority: .setPriority(try coder.next())
        case .setRate: .setRate(try coder.next())
        case .setConstraints: .setConstraints(try coder.next())
        case .reschedule: .reschedule(try coder.next())
        case .setAside: .setAside
        case nil: throw Malformed("it has the unknown task control \(tag)")
        }
    }
}

extension Rescheduling: WireRecord {
    static var blank: Rescheduling { Rescheduling() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&earliest)
        try coder.field(&latest)
    }
}

extension StartChange: WireValue {
    func write(to coder: inout Coder) { coder.write(code) }
    static func read(from coder: inout Coder) throws(Malformed) -> StartChange {
        let code: Int64 = try coder.integer()
        guard let change = StartChange(code: code) else { throw Malformed("it has \(code) for a start") }
        return change
    }
}

extension TaskInfo: WireRecord, WireElement {
    static var minimumSize: Int { 105 }
    static var blank: TaskInfo {
        TaskInfo(
            id: .zero, round: 0, state: .waiting, reason: .none, reasonText: nil, nextAttemptMilliseconds: 0, url: "",
            destinationPath: nil, idempotencyKey: nil, userData: nil, priority: 0, failure: nil, httpStatus: 0,
            attempts: 0, offset: 0, size: nil, bytesPerSecond: 0, enqueuedMilliseconds: 0)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&id)
        try coder.field(&round)
        try coder.field(&state)
        try coder.field(&reason)
        try coder.field(&reasonText)
        try coder.field(&nextAttemptMilliseconds)
        try coder.field(&url)
        try coder.field(&destinationPath)
        try coder.field(&idempotencyKey)
        try coder.field(&userData)
        try coder.field(&priority)
        try coder.field(&failure)
        try coder.field(&httpStatus)
        try coder.field(&attempts)
        try coder.field(&offset)
        try coder.field(&size)
        try coder.field(&bytesPerSecond)
        try coder.field(&enqueuedMilliseconds)
        try coder.field(&kind)
        try coder.field(&group)
        try coder.field(&bodySent)
        try coder.field(&bodySize)
        try coder.field(&endedMilliseconds)
        try coder.field(&path)
        try coder.field(&earliestStartMilliseconds)
        try coder.field(&latestStartMilliseconds)
        try coder.field(&expectedBytesReceived)
        try coder.field(&expectedBytesSent)
        try coder.field(&constraints, as: { $0?.value }, from: { $0.map(Boxed.init) })
        try coder.field(&rateLimit)
    }
}
