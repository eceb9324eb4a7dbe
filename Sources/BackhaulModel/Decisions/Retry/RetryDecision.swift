/// What is known of an attempt that has not brought its task to an end.
public struct FailedAttempt: Equatable, Sendable {
    public var failure: Failure
    public var method = "GET"
    /// `retry`, or `diskFull`: there is no space for now.
    public var reason = WaitReason.retry
    /// What is there cannot be continued: the next attempt begins at the first byte.
    public var fromZero = false
    /// No server has acted on the request: nothing of it was sent, or the server has said so.
    public var surelyNotProcessed = false
    /// The server has ended an HTTP/2 connection before it answered, and has perhaps not looked at the request.
    public var wentAway = false
    /// No route leads to the server, or its name cannot be looked up because no name server can be reached.
    public var hasNoWay = false
    /// All origins fail in the same way (`UplinkWatch`): it is held until one of them answers.
    public var isOfUplink = false
    /// This attempt made bytes durable that no earlier one had.
    public var madeProgress = false
    /// Tries in a row before this one that did not.
    public var fruitless: UInt32 = 0
    /// Tries in a row before this one that were made at once.
    public var immediate: UInt32 = 0
    /// What the server asked for: the least delay, up to a day.
    public var retryAfterSeconds: Int64?
    /// Until the task's resource time-out.
    public var remainingMilliseconds = Int64.max

    public init(_ failure: Failure) { self.failure = failure }
}

/// Whether and when a task is tried again.
public enum RetryDecision: Equatable, Sendable {
    /// The task fails.
    case end
    /// It does not count as a try.
    case atOnce
    /// `fruitless`: tries in a row, this one included, that made no new byte durable.
    case later(milliseconds: Int64, fruitless: UInt32)
    /// There is no space on the disk. It does not count as a try.
    case whenThereIsSpace(lookAgainMilliseconds: Int64)
    /// There is no way to the server. It does not count as a try.
    case whenConnected
    /// The way to all servers is closed. It does not count as a try.
    case whenUplinkLeads

    /// Tries at once in a row: a server that refuses more than so many streams is one that fails.
    static let immediateLimit: UInt32 = 5
    /// Attempts in a row with a failure that most servers repeat.
    static let lastingLimit: UInt32 = 3
    /// The longest that a server may make a task wait.
    static let retryAfterLimit: Int64 = 86_400
    /// A disk does not get empty at once.
    static let diskFullMilliseconds: Int64 = 5_000

    /// `jitter`: a random number of 0..<1; others count as the nearest.
    public static func decide(_ attempt: FailedAttempt, _ policy: TransferPolicy, jitter: Double) -> RetryDecision {
        let fruitless = attempt.madeProgress ? 0 : attempt.fruitless.addingSaturating(1)
        let delay = policy.delay(fruitless: fruitless, retryAfterSeconds: attempt.retryAfterSeconds, jitter: jitter)
        // Looked at again when its time is over, at the latest: then it ends.
        let remaining = max(0, attempt.remainingMilliseconds)
        if attempt.reason == .diskFull {
            return .whenThereIsSpace(lookAgainMilliseconds: min(max(delay, diskFullMilliseconds), remaining))
        }
        // A stream that the server has not looked at (RFC 9113, section 8.7): no error that a policy is for.
        if attempt.isLeftUnseen, attempt.immediate < immediateLimit { return .atOnce }
        let isWanted =
            policy.retries(attempt.failure) || attempt.isNewBeginning || attempt.isOfPortal
            || policy.retryErrors.contains(.status) && attempt.isPutOff
        guard isWanted, policy.mayRepeat(attempt) else { return .end }
        if attempt.hasNoWay { return .whenConnected }
        if attempt.isOfUplink { return .whenUplinkLeads }
        // A server that failed like this three times will fail again.
        if attempt.failure.isLasting, fruitless >= lastingLimit { return .end }
        if let maximum = policy.maximumAttempts, fruitless >= maximum { return .end }
        return .later(milliseconds: min(delay, remaining), fruitless: fruitless)
    }
}

extension FailedAttempt {
    /// The server has gone away and has not looked at the request, or it does no harm twice. A connection that broke
    /// before anything was sent is none of these: a proxy may break each of them.
    fileprivate var isLeftUnseen: Bool {
        failure.status == .connectionLost
            && wentAway && (surelyNotProcessed || HTTPMethod.isIdempotent(method))
    }

    /// 413 with Retry-After is temporary (RFC 9110, section 15.5.14).
    fileprivate var isPutOff: Bool {
        failure.status == .httpStatus && failure.detail == 413 && retryAfterSeconds != nil
    }

    /// No answer of the server's, so nothing that a policy of statuses is for.
    fileprivate var isOfPortal: Bool { isOfUplink && failure.isOfPortal }

    /// The bytes that were there turned out to be of no use, which is no fault of the request for them.
    fileprivate var isNewBeginning: Bool { fromZero && failure.status != .httpStatus }
}

extension TransferPolicy {
    /// Whether `retry.errors` and `retry.statuses` have the failure. For those that no bit is for, such as one of the
    /// disk, whoever met it has found that it may pass.
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

    /// Whether the policy wants a try after a failure that trying again is not known to cure.
    public func retriesLasting(_ failure: Failure) -> Bool {
        (failure.status == .httpStatus || failure.status == .badResponse) && retries(failure)
    }

    /// Whether a request of this method may be sent again although the server may have acted on it.
    public func mayRepeat(_ method: String) -> Bool { retriesUnsafeMethods || HTTPMethod.isIdempotent(method) }

    /// A request whose effect may have happened is not sent twice, unless that does no harm.
    fileprivate func mayRepeat(_ attempt: FailedAttempt) -> Bool {
        mayRepeat(attempt.method) || attempt.surelyNotProcessed || attempt.failure.tellsNotProcessed
    }

    /// `retry.first_delay_ms`, doubled with each try in a row up to `retry.longest_delay_ms`. `retry.jitter_percent` of
    /// it are random, so that many tasks that failed together do not come back together.
    func delay(fruitless: UInt32, retryAfterSeconds: Int64?, jitter: Double) -> Int64 {
        let doublings = min(max(1, fruitless) - 1, 31)
        let step = min(UInt64(firstRetryDelayMilliseconds) << UInt64(doublings), UInt64(longestRetryDelayMilliseconds))
        let random = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
        let share = Double(min(retryJitterPercent, 100)) / 100
        let jittered = Int64((Double(step) * (1 - share + share * random)).rounded())
        guard let retryAfterSeconds else { return jittered }
        return max(jittered, min(max(0, retryAfterSeconds), RetryDecision.retryAfterLimit) * 1_000)
    }
}

extension Failure {
    /// 511 Network Authentication Required, which no server gives but one that stands in its way (RFC 6585, section 6).
    var isOfPortal: Bool { status == .httpStatus && domain == .http && detail == 511 }

    /// A body that ended without close_notify, or a response of success that came before the request's body.
    fileprivate var isLasting: Bool { status == .tlsTruncated || status == .connectionLost && domain == .http }

    /// That no server has acted on the request can be told from the failure alone: there was no connection to send it
    /// over, or the status says so. 408: it had not come whole (RFC 9110, section 15.5.9); 421: the server is not the
    /// one (section 15.5.20); 425: it came too early (RFC 8470, section 5.2).
    fileprivate var tellsNotProcessed: Bool {
        switch status {
        case .nameNotResolved, .connectionFailed, .tlsFailed: true
        case .httpStatus: detail == 408 || detail == 421 || detail == 425 || isOfPortal
        default: false
        }
    }
}

/// What the registry of methods says of them (https://www.iana.org/assignments/http-methods).
public enum HTTPMethod {
    private static let idempotent: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY", "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN",
        "CHECKOUT", "COPY", "LABEL", "LINK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF",
        "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND", "PROPPATCH", "REBIND", "REPORT", "SEARCH", "UNBIND",
        "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    /// Sent twice it does what it does once (RFC 9110, section 9.2.2). A method that is not known is taken for one that
    /// does not.
    public static func isIdempotent(_ method: String) -> Bool { idempotent.contains(method) }
}

extension UInt32 {
    /// The sum, or the largest number.
    fileprivate func addingSaturating(_ other: UInt32) -> UInt32 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
