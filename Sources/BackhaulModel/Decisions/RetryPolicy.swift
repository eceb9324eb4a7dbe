/// Whether and when a task is tried again.
public struct RetryPolicy: Equatable, Sendable {
    public var maximumAttempts: UInt32?
    public var firstDelayMilliseconds: UInt32
    public var longestDelayMilliseconds: UInt32

    public init(_ configuration: SessionConfiguration) {
        maximumAttempts = configuration.maximumAttempts
        firstDelayMilliseconds = configuration.firstRetryDelayMilliseconds
        longestDelayMilliseconds = configuration.longestRetryDelayMilliseconds
    }

    /// Statuses that say "not now" rather than "no": RFC 9110 for 408, 500, 502, 503, 504, RFC 6585 for 429.
    public static func isTransient(httpStatus: Int32) -> Bool {
        switch httpStatus {
        case 408, 429, 500, 502, 503, 504: true
        default: false
        }
    }

    /// The delay before the next try, or nil when there is none.
    ///
    /// - attemptsWithoutProgress: tries in a row that brought no new durable bytes, the one that has just failed
    ///   included; 0 after one that did.
    /// - retryAfterSeconds: what the server asked for; it is the least delay, up to a day.
    /// - jitter: a random number of 0..<1; others count as the nearest. The delay is between half and all of the
    ///   exponential step, so that many tasks that failed together do not come back together.
    public func delay(attemptsWithoutProgress: UInt32, retryAfterSeconds: Int64?, jitter: Double) -> Int64? {
        if let maximumAttempts, attemptsWithoutProgress >= maximumAttempts { return nil }
        let doublings = min(max(1, attemptsWithoutProgress) - 1, 31)
        let step = min(UInt64(firstDelayMilliseconds) << UInt64(doublings), UInt64(longestDelayMilliseconds))
        let part = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
        let jittered = Int64((Double(step) * (0.5 + 0.5 * part)).rounded())
        guard let retryAfterSeconds else { return jittered }
        return max(jittered, min(max(0, retryAfterSeconds), 86_400) * 1_000)
    }
}
