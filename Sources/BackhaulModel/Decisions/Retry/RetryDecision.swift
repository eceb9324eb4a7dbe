/// How many attempts of a task in a row, directly before the present attempt, have ended in the same way. A new engine
/// counts from 0.
public struct RepeatCounts: Equatable, Sendable {
    /// Attempts that were retried without a delay.
    public var immediate: UInt32 = 0
    /// Attempts that got no response to a whole body (`FailedAttempt.isUnanswered`).
    public var unanswered: UInt32 = 0
    /// Attempts in which the server had lost the upload (`FailedAttempt.hasLostUpload`). Attempts that ended in other
    /// ways may be between them. The count begins again when the server confirms new bytes.
    public var lost: UInt32 = 0

    public init() {}
}

/// The facts about a failed attempt. From these facts, `RetryDecision` decides whether the task is retried.
public struct FailedAttempt: Equatable, Sendable {
    public var failure: Failure
    public var method = "GET"
    /// Why the task waits: `retry`, `diskFull` if the file system has no space now, or `storage` if it is away.
    public var reason = WaitReason.retry
    /// Whether the next attempt begins at the first byte, because it cannot continue the bytes of this attempt.
    public var fromZero = false
    /// Whether the server has lost what it had of the body.
    public var hasLostUpload = false
    /// Whether the file is complete, so that the next attempt sends no request.
    public var hasCompleteFile = false
    /// Whether no server has acted on the request: no byte of the request was sent, or the server has reported that it
    /// did not act.
    public var isUnprocessed = false
    /// Whether the server ended an HTTP/2 connection before it responded. Perhaps the server has not read the request.
    public var connectionWasClosed = false
    /// Whether an HTTP/2 stream ended with an error that means a broken rule. Either the server's side has failed, or
    /// the server's response is malformed.
    public var hasStreamError = false
    /// Whether the machine has no route to the server, or no route to a name server that could resolve the server's
    /// name.
    public var hasNoRoute = false
    /// Whether the certificate of the server or proxy is not valid yet.
    public var isNotYetValid = false
    /// Whether the cause of this may be the machine's clock (`ClockWait`).
    public var waitsForClock = false
    /// Whether a server has refused credentials of the engine that had expired. The next attempt gets new ones.
    public var hasExpiredCredentials = false
    /// Whether all servers beyond the local network fail in the same way (`UplinkWatch`). Then the task waits until one
    /// of these servers responds.
    public var isUplinkFailure = false
    /// Whether the next attempt asks the server how much of the body it has, and sends only the rest. Then no request
    /// is repeated.
    public var continuesUpload = false
    /// Whether this attempt made bytes durable that no earlier attempt had made durable.
    public var madeProgress = false
    /// Whether the request continued a part file. Then the server has the file, so a page in its place may disappear.
    public var continuesPart = false
    /// How many attempts in a row, directly before this attempt, made no new byte durable.
    public var consecutiveFailures: UInt32 = 0
    /// Whether the server had the whole body of the request, and sent no response before the request time-out.
    public var isUnanswered = false
    public var repeats = RepeatCounts()
    /// The least delay that the server demanded, in seconds; nil if the response had no Retry-After. A delay of more
    /// than one day counts as one day.
    public var retryAfterSeconds: Int64?
    /// Whether this delay is a pause of the origin, so that all of its tasks wait for the end.
    public var isOriginPaused = false
    /// Set if the attempt did not follow a redirect, because the target's origin is paused (`OriginDelays`): the
    /// milliseconds until the next attempt.
    public var redirectDelay: Int64?
    /// The milliseconds until the task's resource time-out is over. This time-out is the longest permitted time between
    /// the enqueue, which stores the task, and the end of the task.
    public var remainingMilliseconds = Int64.max

    public init(_ failure: Failure) { self.failure = failure }

    /// The counts for the next attempt.
    public func repeats(after decision: RetryDecision) -> RepeatCounts {
        var counts = RepeatCounts()
        if decision == .immediately { counts.immediate = repeats.immediate.saturatingAdd(1) }
        if isUnanswered { counts.unanswered = repeats.unanswered.saturatingAdd(1) }
        if !madeProgress { counts.lost = repeats.lost }
        if hasLostUpload { counts.lost = counts.lost.saturatingAdd(1) }
        return counts
    }
}

/// Whether and when a task gets another attempt.
public enum RetryDecision: Equatable, Sendable {
    /// The task fails.
    case end
    /// The task is retried without a delay. The failed attempt does not count towards the limit of attempts.
    case immediately
    /// The task is retried after a delay. `consecutiveFailures`: how many attempts in a row made no new byte durable,
    /// including the failed attempt.
    case later(milliseconds: Int64, consecutiveFailures: UInt32)
    /// The task waits for disk space. The failed attempt does not count towards the limit of attempts.
    case whenSpaceIsFree(recheckMilliseconds: Int64)
    /// The task waits until its file system is mounted, or until its directory is made.
    case whenStorageReturns(recheckMilliseconds: Int64)
    /// The task waits for a route to the server. The failed attempt does not count towards the limit of attempts.
    case whenReachable
    /// The task waits for the uplink, the route from the local network to other networks. The failed attempt does not
    /// count towards the limit of attempts.
    case whenUplinkIsUp
    /// The task waits until the machine's clock is set. The failed attempt does not count towards the limit of
    /// attempts.
    case whenClockIsSet(recheckMilliseconds: Int64)
    /// The task waits for the origin to which a server has redirected it. The attempt does not count towards the limit
    /// of attempts.
    case whenOriginAllows(milliseconds: Int64)

    /// The most retries in a row without a delay, after a server has ended a request over HTTP/2 without a response.
    /// After these retries, such a failure is retried like any other broken connection.
    static let immediateLimit: UInt32 = 5
    /// After this many failed attempts in a row, the task fails if most servers would repeat the last failure.
    static let permanentFailureLimit: UInt32 = 3
    /// The longest delay that a server can demand, in seconds.
    static let retryAfterLimit: Int64 = 86_400
    /// The shortest delay in milliseconds after the file system was full. Space takes time to become free.
    static let diskFullMilliseconds: Int64 = 5_000
    /// The delay in milliseconds while the storage is away. Mounts and new directories end the delay earlier.
    static let storageMilliseconds: Int64 = 30_000

    /// `jitter`: a random number of 0..<1. A number outside of this range counts as the nearest number in the range.
    public static func decide(_ attempt: FailedAttempt, _ policy: TransferPolicy, jitter: Double) -> RetryDecision {
        let consecutiveFailures = attempt.madeProgress ? 0 : attempt.consecutiveFailures.saturatingAdd(1)
        let delay = policy.delay(
            consecutiveFailures: consecutiveFailures, retryAfterSeconds: attempt.retryAfterSeconds, jitter: jitter)
        // The task fails at the end of its resource time-out, so no delay is longer than the rest of this time-out.
        let remaining = max(0, attempt.remainingMilliseconds)
        if let delay = attempt.redirectDelay { return .whenOriginAllows(milliseconds: min(delay, remaining)) }
        if attempt.waitsForClock, policy.mayRepeat(attempt.method) || attempt.isUnprocessed {
            return .whenClockIsSet(recheckMilliseconds: min(ClockWait.recheckMilliseconds, remaining))
        }
        if attempt.isNotYetValid { return .end }
        if attempt.reason != .retry, !policy.mayRepeat(attempt) { return .end }
        if attempt.reason == .diskFull {
            return .whenSpaceIsFree(recheckMilliseconds: min(max(delay, diskFullMilliseconds), remaining))
        }
        if attempt.reason == .storage {
            // A finished file that cannot get its name is not removed before the end of the resource time-out.
            return remaining > 0 ? .whenStorageReturns(recheckMilliseconds: min(storageMilliseconds, remaining)) : .end
        }
        // If the server closed the connection, and the request may be repeated (RFC 9113, section 8.7), the policy for
        // errors does not apply to the first `immediateLimit` retries in a row.
        if attempt.isUnprocessedStream, attempt.repeats.immediate < immediateLimit { return .immediately }
        // The server has not acted on the request. Credentials may expire several times during a long upload.
        if attempt.hasExpiredCredentials, attempt.madeProgress || attempt.repeats.immediate < 1 { return .immediately }
        let isWanted =
            policy.retries(attempt.failure) || attempt.isRestart || attempt.isFromCaptivePortal
            || attempt.isUploadLocked
            || policy.retryErrors.contains(.lost) && attempt.hasStreamError
            || policy.retryErrors.contains(.status) && (attempt.isDeferredByServer || attempt.isNotReady)
        guard isWanted, policy.mayRepeat(attempt) else { return .end }
        if attempt.hasNoRoute { return .whenReachable }
        if attempt.isUplinkFailure { return .whenUplinkIsUp }
        // Most servers repeat such a failure. So after some failed attempts in a row, the task is not retried.
        let mayPass = attempt.continuesPart && attempt.failure.status == .unexpectedType
        let repeats = attempt.repeats(after: .end)
        if max(repeats.unanswered, repeats.lost) >= permanentFailureLimit { return .end }
        let isPermanent =
            attempt.failure.isPermanent && !mayPass || attempt.hasStreamError && !policy.retries(attempt.failure)
        if isPermanent, consecutiveFailures >= permanentFailureLimit { return .end }
        if let maximum = policy.maximumAttempts, consecutiveFailures >= maximum { return .end }
        return .later(milliseconds: min(delay, remaining), consecutiveFailures: consecutiveFailures)
    }
}

extension FailedAttempt {
    /// Whether the server closed an HTTP/2 connection (`connectionWasClosed`), and the client may repeat the request. A
    /// repetition is allowed if the server did not read the request, or if the method is idempotent. False for other
    /// broken connections, even if no byte was sent: a proxy may break every connection, so such a request is retried
    /// only with a delay.
    fileprivate var isUnprocessedStream: Bool {
        failure.status == .connectionLost
            && connectionWasClosed && (isUnprocessed || HTTPMethod.isIdempotent(method))
    }

    /// Whether the server expects that the client sends the request again later.
    public var isDeferredByServer: Bool {
        failure.status == .httpStatus && retryAfterSeconds != nil
            && ResponseHead.mayDemandPause(Int32(clamping: failure.detail))
    }

    /// Whether the server still prepares the file of a download. Only the file waits, not its origin.
    fileprivate var isNotReady: Bool {
        failure.status == .httpStatus && failure.detail == 202 && retryAfterSeconds != nil && method == "GET"
    }

    /// Whether the server has not noticed yet that an earlier connection of the upload has ended.
    fileprivate var isUploadLocked: Bool {
        continuesUpload && failure.status == .httpStatus && [409, 423].contains(failure.detail)
    }

    /// Whether a captive portal, such as a network's login page, has responded in place of the server. Then the policy
    /// for statuses does not apply.
    fileprivate var isFromCaptivePortal: Bool { isUplinkFailure && failure.isFromCaptivePortal }

    /// Whether the attempt failed because the bytes of earlier attempts proved useless. The request itself did not
    /// cause the failure.
    fileprivate var isRestart: Bool { fromZero && failure.status != .httpStatus || hasLostUpload }
}

extension TransferPolicy {
    /// Whether the policy retries the failure, by its `retry.errors` and `retry.statuses`. Some failures, such as a
    /// failure of the disk, have no bit in `retry.errors`. The caller has checked that such a failure is temporary, so
    /// it is retried, except if the policy has `RetryErrors.nothing`.
    public func retries(_ failure: Failure) -> Bool {
        switch failure.status {
        case .nameNotResolved: self.retryErrors.contains(.name)
        case .connectionFailed: self.retryErrors.contains(.connection)
        case .connectionLost, .tlsTruncated: self.retryErrors.contains(.lost)
        case .requestTimeout: self.retryErrors.contains(.timeout)
        case .tlsFailed: self.retryErrors.contains(.tls)
        case .badResponse: self.retryErrors.contains(.badResponse)
        case .addressRefused: false
        case .httpStatus:
            self.retryErrors.contains(.status) && self.retryStatuses.contains(Int32(clamping: failure.detail))
        default: !self.retryErrors.contains(.nothing)
        }
    }

    /// Whether the failure is a status or a bad response, and the policy demands a retry after such a failure. Most
    /// servers repeat these failures.
    public func retriesPermanent(_ failure: Failure) -> Bool {
        (failure.status == .httpStatus || failure.status == .badResponse) && retries(failure)
    }

    /// Whether a request with this method may be repeated, although the server has perhaps acted on the first request.
    public func mayRepeat(_ method: String) -> Bool { self.retriesUnsafeMethods || HTTPMethod.isIdempotent(method) }

    /// Whether the request may be repeated: a second request does no harm, or the server has not acted on the first
    /// request.
    fileprivate func mayRepeat(_ attempt: FailedAttempt) -> Bool {
        mayRepeat(attempt.method) || attempt.isUnprocessed || attempt.continuesUpload || attempt.hasCompleteFile
            || attempt.failure.impliesUnprocessed
    }

    /// The delay in milliseconds: `retry.first_delay_ms`, doubled with each further failed attempt in a row, up to
    /// `retry.longest_delay_ms`. A share of this delay, `retry.jitter_percent`, is random. So tasks that failed at the
    /// same time are retried at different times.
    func delay(consecutiveFailures: UInt32, retryAfterSeconds: Int64?, jitter: Double) -> Int64 {
        let doublings = min(max(1, consecutiveFailures) - 1, 31)
        let longest = UInt64(self.longestRetryDelayMilliseconds)
        let step = min(UInt64(self.firstRetryDelayMilliseconds) << UInt64(doublings), longest)
        let random = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
        let share = Double(min(self.retryJitterPercent, 100)) / 100
        let jittered = Int64((Double(step) * (1 - share + share * random)).rounded())
        guard let retryAfterSeconds else { return jittered }
        return max(jittered, min(max(0, retryAfterSeconds), RetryDecision.retryAfterLimit) * 1_000)
    }
}

extension Failure {
    /// Whether the response had the status 511 Network Authentication Required. This status is meant for portals, such
    /// as a network's login page (RFC 6585, section 6).
    var isFromCaptivePortal: Bool { status == .httpStatus && domain == .http && detail == 511 }

    /// Whether most servers repeat this failure: a body that ended without close_notify, a successful response that
    /// came before the request's body was sent, or a response of another type. A portal may have sent the other type,
    /// so a retry may succeed.
    fileprivate var isPermanent: Bool {
        status == .tlsTruncated || status == .unexpectedType || status == .connectionLost && domain == .http
    }

    /// Whether the HTTP status shows that no server has acted on the request. With 408 the request was incomplete
    /// (RFC 9110, section 15.5.9). With 421 the request reached the wrong server (section 15.5.20). With 425 the
    /// request came too early (RFC 8470, section 5.2). With 429 it was one of too many (RFC 6585, section 4). With 511
    /// a portal responded in place of the server. A failed connection does not show it: perhaps the request was sent
    /// over an earlier connection, which was lost.
    fileprivate var impliesUnprocessed: Bool {
        status == .httpStatus && ([408, 421, 425, 429].contains(detail) || isFromCaptivePortal)
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

    /// Whether a request that is sent twice has the same effect as one request (RFC 9110, section 9.2.2). An unknown
    /// method counts as not idempotent.
    public static func isIdempotent(_ method: String) -> Bool { idempotent.contains(method) }
}
