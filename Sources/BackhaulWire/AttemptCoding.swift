internal import BackhaulModel

extension TransferMetrics: WireRecord {
    static var blank: TransferMetrics { TransferMetrics() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&url)
        try visitFields(with: &coder)
    }
}

extension Attempt: WireRecord, WireElement {
    static var minimumSize: Int { 108 }
    static var blank: Attempt { Attempt(task: .zero, number: 0, next: .end) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&task)
        try coder.field(&number)
        try coder.field(&next)
        try coder.field(&nextAttemptMilliseconds)
        try coder.field(&failure)
        try coder.field(&httpStatus)
        try coder.field(&offset)
        try coder.field(&endOffset)
        try coder.field(&metrics)
    }
}
