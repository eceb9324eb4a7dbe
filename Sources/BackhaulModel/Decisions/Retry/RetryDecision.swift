/// The facts about an attempt that has not ended its task.
public struct FailedAttempt: Equatable, Sendable {
    public var failure: Failure
    public var method = "GET"
    /// `retry`, or `diskFull`: there is no space at the moment.
    public var reason = WaitReason.retry
    /// Whether the bytes cannot be continued, so that the next attempt begins at the first byte.
    public var fromZero = false
    /// Whether no server has acted on the request: nothing of it was sent, or the server has reported so.
    public var isUnprocessed = false
    /// Whether the server ended an HTTP/2 connection before it responded. It may not have read the request.
    public var connectionWasClosed = false
    /// Whether there is no route to the server, or to a name server that could resolve its name.
    public var hasNoRoute = false
    /// Whether all origins fail in the same way (`UplinkWatch`). Then the task is held until one of them responds.
    public var isUplinkFailure = false
    /// Whether this attempt made bytes durable that no earlier one had.
    public var madeProgress = false
    /// The number of attempts in a row before this one that made no new byte durable.
    public var consecutiveFailures: UInt32 = 0
    /// The number of attempts in a row before this one that were repeated at once.
    public var immediate: UInt32 = 0
    /// The least delay that the server demanded, of which a day at most counts.
    public var retryAfterSeconds: Int64?
    /// The time until the task's resource timeout.
    public var remainingMilliseconds = Int64.max

    public init(_ failure: Failure) { self.failure = failure }
}

/// Whether and when a task is tried again.
public enum RetryDecision: Equatable, Sendable {
    /// The task fails.
    case end
    /// The task is tried at once. This does not count as an attempt.
    case immediately
    /// `consecutiveFailures`: attempts in a row that made no new byte durable, including this one.
    case later(milliseconds: Int64, consecutiveFailures: UInt32)
    /// The task waits for disk space. This does not count as an attempt.
    case whenSpaceIsFree(recheckMilliseconds: Int64)
    /// The task waits for a route to the server. This does not count as an attempt.
    case whenReachable
    /// The task waits for the uplink. This does not count as an attempt.
    case whenUplinkIsUp

    /// The most repetitions at once in a row. A server that refuses more streams than this fails.
    static let immediateLimit: UInt32 = 5
    /// The most attempts in a row with a failure that most servers repeat.
    static let permanentFailureLimit: UInt32 = 3
    /// The longest delay that a server can demand, in seconds.
    static let retryAfterLimit: Int64 = 86_400
    /// The shortest delay when the disk is full: space takes time to become free.
    static let diskFullMilliseconds: Int64 = 5_000

    /// `jitter`: a random number of 0..<1; others count as the nearest.
    public static func decide(_ attempt: FailedAttempt, _ policy: TransferPolicy, jitter: Double) -> RetryDecision {
        let consecutiveFailures = attempt.madeProgress ? 0 : attempt.consecutiveFailures.addingSaturating(1)
        let delay = policy.delay(
            consecutiveFailures: consecutiveFailures, retryAfterSeconds: attempt.retryAfterSeconds, jitter: jitter)
        // The task is checked again at its timeout at the latest, and then ends.
        let remaining = max(0, attempt.remainingMilliseconds)
        if attempt.reason == .diskFull {
            return .whenSpaceIsFree(recheckMilliseconds: min(max(delay, diskFullMilliseconds), remaining))
        }
        // The server has not read the stream (RFC 9113, section 8.7), so the policy for errors does not apply.
        if attempt.isUnprocessedStream, attempt.immediate < immediateLimit { return .immediately }
        let isWanted =
            policy.retries(attempt.failure) || attempt.isRestart || attempt.isFromCaptivePortal
            || policy.retryErrors.contains(.status) && attempt.isDeferredByServer
        guard isWanted, policy.mayRepeat(attempt) else { return .end }
        if attempt.hasNoRoute { return .whenReachable }
        if attempt.isUplinkFailure { return .whenUplinkIsUp }
        // A server that failed in this way three times will fail again.
        if attempt.failure.isPermanent, consecutiveFailures >= permanentFailureLimit { return .end }
        if let maximum = policy.maximumAttempts, consecutiveFailures >= maximum { return .end }
        return .later(milliseconds: min(delay, remaining), consecutiveFailures: consecutiveFailures)
    }
}

extension FailedAttempt {
    /// Whether the server closed the connection, and either did not read the request or does no harm if it gets it
    /// twice. A connection that broke before anything was sent does not count: a proxy may break every one.
    fileprivate var isUnprocessedStream: Bool {
        failure.status == .connectionLost
            && connectionWasClosed && (isUnprocessed || HTTPMethod.isIdempotent(method))
    }

    /// Whether the server wants the request later: 413 with Retry-After is temporary (RFC 9110, section 15.5.14).
    fileprivate var isDeferredByServer: Bool {
        failure.status == .httpStatus && failure.detail == 413 && retryAfterSeconds != nil
    }

    /// Whether a portal has responded and not the server, so that the policy for statuses does not apply.
    fileprivate var isFromCaptivePortal: Bool { isUplinkFailure && failure.isFromCaptivePortal }

    /// Whether the earlier bytes proved useless, which is no fault of the request.
    fileprivate var isRestart: Bool { fromZero && failure.status != .httpStatus }
}

extension TransferPolicy {
    /// Whether `retry.errors` and `retry.statuses` include the failure. Other failures, such as one of the disk, have
    /// no bit. The caller has found them to be temporary.
    public func retries(_ failure: Failure) -> Bool {
        switch failure.status {
        case .nameNotResolved: retryErrors.contains(.name)
        case .connectionFailed: retryErrors.contains(.connection)
        case .connectionLost, .tlsTruncated: retryErrors.contains(.lost)
        case .requestTimeout: retryErrors.contains(.timeout)
        case .tlsFailed: retryErrors.contains(.tls)
        case .badResponse: retryErrors.contains(.badResponse)
        case .httpStatus:
            retryErrors.contains(.status) && retryStatuses.contains(Int32(clamping: failure.detail))
        default: !retryErrors.contains(.nothing)
        }
    }

    /// Whether the policy demands a retry after a failure that a retry does not usually cure.
    public func retriesPermanent(_ failure: Failure) -> Bool {
        (failure.status == .httpStatus || failure.status == .badResponse) && retries(failure)
    }

    /// Whether a request of this method may be sent again although the server may have acted on it.
    public func mayRepeat(_ method: String) -> Bool { retriesUnsafeMethods || HTTPMethod.isIdempotent(method) }

    /// Whether a second request does no harm, or the server has not acted on the first one.
    fileprivate func mayRepeat(_ attempt: FailedAttempt) -> Bool {
        mayRepeat(attempt.method) || attempt.isUnprocessed || attempt.failure.impliesUnprocessed
    }

    /// `retry.first_delay_ms`, doubled with each attempt in a row up to `retry.longest_delay_ms`.
    /// `retry.jitter_percent` of it are random, so that many tasks that failed together are not tried again together.
    func delay(consecutiveFailures: UInt32, retryAfterSeconds: Int64?, jitter: Double) -> Int64 {
        let doublings = min(max(1, consecutiveFailures) - 1, 31)
        let step = min(UInt64(firstRetryDelayMilliseconds) << UInt64(doublings), UInt64(longestRetryDelayMilliseconds))
        let random = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
        let share = Double(min(retryJitterPercent, 100)) / 100
        let jittered = Int64((Double(step) * (1 - share + share * random)).rounded())
        guard let retryAfterSeconds else { return jittered }
        return max(jittered, min(max(0, retryAfterSeconds), RetryDecision.retryAfterLimit) * 1_000)
    }
}

extension Failure {
    /// Status 511 Network Authentication Required, which only a portal in front of the server sends (RFC 6585, section
    /// 6).
    var isFromCaptivePortal: Bool { status == .httpStatus && domain == .http && detail == 511 }

    /// A body that ended without close_notify, or a response of success that came before the request's body was sent.
    fileprivate var isPermanent: Bool { status == .tlsTruncated || status == .connectionLost && domain == .http }

    /// Whether the failure alone shows that no server has acted on the request. Either there was no connection, or the
    /// status says so. 408: the request was incomplete (RFC 9110, section 15.5.9). 421: it reached the wrong server
    /// (section 15.5.20). 425: it came too early (RFC 8470, section 5.2).
    fileprivate var impliesUnprocessed: Bool {
        switch status {
        case .nameNotResolved, .connectionFailed, .tlsFailed: true
        case .httpStatus: detail == 408 || detail == 421 || detail == 425 || isFromCaptivePortal
        default: false
        }
    }
}

/// The properties of methods, from the IANA registry (https://www.iana.org/assignments/http-methods).
public enum HTTPMethod {
    private static let idempotent: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY", "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN",
        "CHECKOUT", "COPY", "LABEL", "LINK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF",
        "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND", "PROPPATCH", "REBIND", "REPORT", "SEARCH", "UNBIND",
        "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    /// Whether a request that is sent twice has the effect of one (RFC 9110, section 9.2.2). An unknown method counts
    /// as not idempotent.
    public static func isIdempotent(_ method: String) -> Bool { idempotent.contains(method) }
}

extension UInt32 {
    /// The sum, or the largest number.
    fileprivate func addingSaturating(_ other: UInt32) -> UInt32 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
