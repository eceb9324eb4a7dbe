internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// The counters of an attempt: the sent and received bytes of all its requests.
struct ExchangeRecord {
    private(set) var requests: UInt32 = 0
    private(set) var metrics = TransferMetrics()
    /// The offset in the file at which the last request began.
    private(set) var requestOffset: UInt64 = 0
    /// The offset in the file at which the first request began; nil before the first request.
    private(set) var firstOffset: UInt64?
    /// The metrics of the earlier requests of the attempt; nil if there are none.
    private var metricsBefore: TransferMetrics?
    private var sentBefore: UInt64 = 0
    private var bodySentBefore: UInt64 = 0
    /// The circumstances of the transfer that failed.
    var failureContext = FailureContext()
    var errorBody: [UInt8] = []
    var rate = RateMeter()
    /// The time of the last byte, in milliseconds since boot.
    var lastByte: Int64
    /// The record of this attempt that is in the store already; nil if there is none.
    var recorded: Attempt?

    init(now: Int64) { lastByte = now }

    /// Notes that a request is about to be sent. `offset`: the offset in the file at which the request begins. `wall`:
    /// the present time in Unix milliseconds. `continuesAttempt`: whether the request is a further step of an upload,
    /// and not counted.
    mutating func begin(from offset: UInt64, now: Int64, wall: Int64, continuesAttempt: Bool = false) {
        if !continuesAttempt { requests += 1 }
        requestOffset = offset
        firstOffset = firstOffset ?? offset
        lastByte = now
        metricsBefore = continuesAttempt ? metrics : nil
        if !continuesAttempt { metrics.startedMilliseconds = wall }
    }

    /// Adds the counters of a transfer that is over.
    mutating func end(_ transfer: Transfer) {
        sentBefore &+= transfer.bytesSent
        bodySentBefore = transfer.bodySent
        let started = metrics.startedMilliseconds
        metrics = metricsBefore?.continued(by: transfer.metrics) ?? transfer.metrics
        if metrics.startedMilliseconds == 0 { metrics.startedMilliseconds = started }
    }

    /// Adds the counters of the transfer of an extra part, which has run beside other requests of the attempt.
    mutating func endExtra(_ transfer: Transfer) {
        sentBefore &+= transfer.bytesSent
        metrics = metrics.continued(by: transfer.metrics)
        metricsBefore = metricsBefore?.continued(by: transfer.metrics)
    }

    mutating func moved(_ count: Int, now: Int64) {
        lastByte = now
        rate.add(count)
    }

    /// The sent bytes of all requests. `transfer`: the transfer that is under way, or nil.
    func bytesSent(_ transfer: Transfer?) -> UInt64 { sentBefore &+ (transfer?.bytesSent ?? 0) }

    /// The sent bytes of the body in the present or the last request. `transfer`: the transfer that is under way, or
    /// nil.
    func bodySent(_ transfer: Transfer?) -> UInt64 { transfer?.bodySent ?? bodySentBefore }

    /// Adds bytes to the body of an error response, up to the limit.
    mutating func collectErrorBody(_ bytes: RawSpan) { errorBody.append(bytes, atMost: Limits.errorBodySize) }
}

extension [UInt8] {
    /// Appends bytes until the array has `limit` bytes.
    mutating func append(_ bytes: RawSpan, atMost limit: Int) {
        let room = Swift.max(0, limit - count)
        bytes.withUnsafeBytes { append(contentsOf: $0.prefix(room)) }
    }
}
