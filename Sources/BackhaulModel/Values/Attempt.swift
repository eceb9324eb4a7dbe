/// What follows an attempt, which is one run of a task: `BH_NEXT_…`.
public enum AttemptNext: Int32, Sendable, CaseIterable {
    case end = 1
    case retry = 2
    case challenge = 3
    case stopped = 4
    /// Never stored: the engine adds it to a listing.
    case running = 5
}

/// Measurements of the last request of an attempt. `startedMilliseconds` is a Unix time. Each other time is the time of
/// a step, in microseconds after the start of the request. It is nil if the request did not reach or need the step.
public struct TransferMetrics: Equatable, Sendable {
    public var startedMilliseconds: Int64 = 0
    public var url = ""
    public var redirects: UInt32 = 0
    public var domainLookup: Int64?
    public var connect: Int64?
    public var secureConnection: Int64?
    public var requestStart: Int64?
    public var requestEnd: Int64?
    public var responseStart: Int64?
    public var responseEnd: Int64?
    /// The version of HTTP, such as "h2" or "http/1.1".
    public var networkProtocol: String?
    public var reusedConnection = false
    public var proxyConnection = false
    public var localAddress: String?
    public var localPort: UInt16 = 0
    public var remoteAddress: String?
    public var remotePort: UInt16 = 0
    public var tlsVersion: String?
    public var tlsCipher: String?
    public var requestHeaderBytes: UInt64 = 0
    public var requestBodyBytes: UInt64 = 0
    public var responseHeaderBytes: UInt64 = 0
    public var responseBodyBytes: UInt64 = 0

    public init() {}

    /// Visits all fields except `url`, which the database stores only if it is not the URL of the request. Inlinable,
    /// so that the store's visitor is specialized: the store writes each attempt.
    @inlinable
    public mutating func visitFields<Visitor: FieldVisitor>(with visitor: inout Visitor) throws(Visitor.Problem) {
        try visitor.field(&startedMilliseconds, "started_ms")
        try visitor.field(&redirects, "redirects")
        try visitor.field(&domainLookup, "domain_lookup_us")
        try visitor.field(&connect, "connect_us")
        try visitor.field(&secureConnection, "secure_connection_us")
        try visitor.field(&requestStart, "request_start_us")
        try visitor.field(&requestEnd, "request_end_us")
        try visitor.field(&responseStart, "response_start_us")
        try visitor.field(&responseEnd, "response_end_us")
        try visitor.field(&networkProtocol, "protocol")
        try visitor.field(&reusedConnection, "reused_connection")
        try visitor.field(&proxyConnection, "proxy_connection")
        try visitor.field(&localAddress, "local_address")
        try visitor.field(&localPort, "local_port")
        try visitor.field(&remoteAddress, "remote_address")
        try visitor.field(&remotePort, "remote_port")
        try visitor.field(&tlsVersion, "tls_version")
        try visitor.field(&tlsCipher, "tls_cipher")
        try visitor.field(&requestHeaderBytes, "request_header_bytes")
        try visitor.field(&requestBodyBytes, "request_body_bytes")
        try visitor.field(&responseHeaderBytes, "response_header_bytes")
        try visitor.field(&responseBodyBytes, "response_body_bytes")
    }

    /// The metrics of an attempt with several requests: from the start of the first request to the end of the last one.
    public func continued(by next: TransferMetrics) -> TransferMetrics {
        guard startedMilliseconds != 0, next.startedMilliseconds != 0 else { return next }
        let shift = max(0, next.startedMilliseconds - startedMilliseconds) &* 1_000
        var sum = next
        sum.startedMilliseconds = startedMilliseconds
        sum.redirects += redirects
        (sum.domainLookup, sum.connect, sum.secureConnection) = (domainLookup, connect, secureConnection)
        sum.requestStart = requestStart ?? next.requestStart.map { $0 &+ shift }
        sum.requestEnd = next.requestEnd.map { $0 &+ shift }
        sum.responseStart = next.responseStart.map { $0 &+ shift }
        sum.responseEnd = next.responseEnd.map { $0 &+ shift }
        sum.requestHeaderBytes &+= requestHeaderBytes
        sum.requestBodyBytes &+= requestBodyBytes
        sum.responseHeaderBytes &+= responseHeaderBytes
        sum.responseBodyBytes &+= responseBodyBytes
        return sum
    }
}

/// One attempt of a task: `bh_attempt`.
public struct Attempt: Equatable, Sendable {
    public var task: TaskID
    /// The attempt's number, from 1.
    public var number: UInt32
    public var next: AttemptNext
    /// The time of the next attempt in Unix milliseconds; 0 if no time is set.
    public var nextAttemptMilliseconds: Int64 = 0
    public var failure: Failure?
    public var httpStatus: Int32 = 0
    /// How many bytes of the file had arrived when the attempt began. The next property is the number of bytes that had
    /// arrived when the attempt ended.
    public var offset: UInt64 = 0
    public var endOffset: UInt64 = 0
    public var metrics = TransferMetrics()

    public init(task: TaskID, number: UInt32, next: AttemptNext) {
        self.task = task
        self.number = number
        self.next = next
    }
}
