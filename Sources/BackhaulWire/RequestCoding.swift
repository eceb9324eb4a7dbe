internal import BackhaulModel

extension HeaderField: WireRecord, WireElement {
    static var minimumSize: Int { 8 }
    static var blank: HeaderField { HeaderField("", "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&name)
        try coder.field(&value)
    }
}

extension Destination: WireRecord {
    static var blank: Destination { Destination(path: "", directoryDevice: 0, directoryInode: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&path)
        try coder.field(&directoryDevice)
        try coder.field(&directoryInode)
        try coder.field(&fileExists)
    }
}

extension Request: WireRecord, WireElement {
    static var minimumSize: Int { 22 }
    static var blank: Request { Request(url: "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&url)
        try coder.field(&destination)
        try coder.field(&idempotencyKey)
        try coder.field(&headers)
        try coder.field(&userData)
        try coder.field(&ifExists)
        try coder.field(&priority)
        try coder.field(&startsSuspended)
        try coder.field(&mode, as: { $0.rawValue }, from: { FileMode(rawValue: $0) })
        var given = hasOptions ? options : nil
        try coder.field(&given)
        if coder.isReading, let given { options = given }
    }
}

extension Enqueued: WireRecord, WireElement {
    static var minimumSize: Int { 9 }
    static var blank: Enqueued { Enqueued(task: .zero, disposition: .notApplied) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&task)
        try coder.field(&disposition)
        guard disposition == .existing else { return }
        try coder.field(&state, as: { $0 ?? .waiting }, from: { $0 })
        try coder.field(&end)
    }
}
