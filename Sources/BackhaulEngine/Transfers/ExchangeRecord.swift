internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// What one attempt has sent and received, over all its requests.
struct ExchangeRecord {
    private(set) var requests: UInt32 = 0
    private(set) var metrics = TransferMetrics()
    /// Offset in the file at which the last request began.
    private(set) var requestOffset: UInt64 = 0
    private var sentBefore: UInt64 = 0
    private var bodySentBefore: UInt64 = 0
    /// Of the transfer that failed.
    var circumstances = FailureCircumstances()
    var errorBody: [UInt8] = []
    var rate = RateMeter()
    /// By the loop's clock.
    var lastByte: Int64
    /// The attempt as the store has it already.
    var recorded: Attempt?

    init(now: Int64) { lastByte = now }

    /// A request is about to be sent, for the file from this byte on.
    mutating func begin(from offset: UInt64, now: Int64) {
        requests += 1
        requestOffset = offset
        lastByte = now
        metrics.startedMilliseconds = Clock.wallMilliseconds
    }

    /// The transfer is over: its counters stay.
    mutating func end(_ transfer: Transfer) {
        sentBefore &+= transfer.bytesSent
        bodySentBefore = transfer.bodySent
        let started = metrics.startedMilliseconds
        metrics = transfer.metrics
        if metrics.startedMilliseconds == 0 { metrics.startedMilliseconds = started }
    }

    mutating func moved(_ count: Int, now: Int64) {
        lastByte = now
        rate.add(count)
    }

    /// Over all requests. `transfer`: the one that is under way.
    func bytesSent(_ transfer: Transfer?) -> UInt64 { sentBefore &+ (transfer?.bytesSent ?? 0) }

    /// Of the body of the request that is under way, or was the last.
    func bodySent(_ transfer: Transfer?) -> UInt64 { transfer?.bodySent ?? bodySentBefore }

    /// Keeps the first bytes of an error's body.
    mutating func collectErrorBody(_ bytes: RawSpan) { errorBody.append(bytes, atMost: Limits.errorBodySize) }
}

extension [UInt8] {
    /// Appends bytes until there are `limit`.
    mutating func append(_ bytes: RawSpan, atMost limit: Int) {
        let room = Swift.max(0, limit - count)
        bytes.withUnsafeBytes { append(contentsOf: $0.prefix(room)) }
    }
}
