internal import BackhaulModel

extension Progress: WireRecord, WireElement {
    static var minimumSize: Int { 43 }
    static var blank: Progress {
        Progress(task: .zero, state: .waiting, reason: .none, offset: 0, size: nil, bytesPerSecond: 0)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&task)
        try coder.field(&state)
        try coder.field(&reason)
        try coder.field(&offset)
        try coder.field(&size)
        try coder.field(&bytesPerSecond)
        try coder.field(&bodySent)
        try coder.field(&bodySize)
    }
}
