internal import BackhaulModel

extension TransferMetrics: WireRecord {
    static var blank: TransferMetrics { TransferMetrics() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&startedMilliseconds)
        try coder.field(&url)
        try coder.field(&redirects)
        try coder.field(&domainLookup)
        try coder.field(&connect)
        try coder.field(&secureConnection)
        try coder.field(&requestStart)
        try coder.field(&requestEnd)
        try coder.field(&responseStart)
        try coder.field(&responseEnd)
        try coder.field(&networkProtocol)
        try coder.field(&reusedConnection)
        try coder.field(&proxyConnection)
        try coder.field(&localAddress)
        try coder.field(&localPort)
        try coder.field(&remoteAddress)
        try coder.field(&remotePort)
        try coder.field(&tlsVersion)
        try coder.field(&tlsCipher)
        try coder.field(&requestHeaderBytes)
        try coder.field(&requestBodyBytes)
        try coder.field(&responseHeaderBytes)
        try coder.field(&responseBodyBytes)
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
