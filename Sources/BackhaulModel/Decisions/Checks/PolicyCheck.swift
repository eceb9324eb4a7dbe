/// Checks of the fields that control requests and retries. Tasks (downloads and uploads) and sessions (named
/// collections of tasks) have these fields. If two fields contradict each other, the message names both fields.
enum PolicyCheck {
    static let day: UInt32 = 86_400_000
    static let decade: UInt64 = 315_360_000_000

    static func check(_ policy: TaskPolicy) throws(Failure) {
        if let attempts = policy.maximumAttempts { try FieldCheck.range(attempts, 1...UInt32.max, "maximum_attempts") }
        if let delay = policy.firstRetryDelayMilliseconds {
            try FieldCheck.range(delay, 1...day, "retry.first_delay_ms")
        }
        if let delay = policy.longestRetryDelayMilliseconds {
            try FieldCheck.range(delay, 1...day, "retry.longest_delay_ms")
        }
        if let first = policy.firstRetryDelayMilliseconds, let longest = policy.longestRetryDelayMilliseconds {
            try checkDelays(first, longest)
        }
        if let percent = policy.retryJitterPercent { try FieldCheck.range(percent, 1...100, "retry.jitter_percent") }
        if let errors = policy.retryErrors { try check(errors, attempts: policy.maximumAttempts) }
        if let timeout = policy.requestTimeoutMilliseconds {
            try FieldCheck.range(timeout, 1...day, "request_timeout_ms")
        }
        if let timeout = policy.resourceTimeoutMilliseconds { try checkResourceTimeout(timeout) }
        if let count = policy.maximumRedirects { try check(redirects: count, policy.redirects) }
        try ConstraintsCheck.check(policy.constraints)
        if let accepted = policy.acceptedStatuses, let retried = policy.retryStatuses { try check(accepted, retried) }
    }

    static func check(_ session: SessionConfiguration) throws(Failure) {
        var policy = TaskPolicy(session)
        policy.constraints = session.constraints
        // A session always has a maximum number of redirects, even if it follows no redirects. So the maximum does not
        // contradict the session's redirect policy.
        policy.redirects = nil
        // Accepted statuses may overlap the default list of retried statuses, so the default list is not checked.
        if session.retryStatuses == .transient { policy.retryStatuses = nil }
        try check(policy)
        try check(session.tolerances)
    }

    private static func check(_ tolerances: Tolerances) throws(Failure) {
        let unknown = tolerances.subtracting(.all)
        guard unknown.isEmpty else {
            throw invalid("tolerances has the unknown bits 0x\(String(unknown.rawValue, radix: 16))")
        }
    }

    private static func checkDelays(_ first: UInt32, _ longest: UInt32) throws(Failure) {
        guard first <= longest else {
            throw invalid("retry.first_delay_ms is \(first) ms, more than retry.longest_delay_ms, \(longest) ms")
        }
    }

    private static func check(_ errors: RetryErrors, attempts: UInt32?) throws(Failure) {
        let unknown = errors.subtracting(.all)
        guard unknown.isEmpty else {
            throw invalid("retry.errors has the unknown bits 0x\(String(unknown.rawValue, radix: 16))")
        }
        guard !errors.contains(.nothing) || errors == .nothing else {
            throw invalid("retry.errors has BH_RETRY_NONE beside other bits; give it alone")
        }
        if errors == .nothing, let attempts, attempts > 1 {
            throw invalid("retry.errors is BH_RETRY_NONE, but maximum_attempts is \(attempts); give one of them")
        }
    }

    private static func checkResourceTimeout(_ timeout: UInt64) throws(Failure) {
        guard (1...decade).contains(timeout) else {
            throw invalid("resource_timeout_ms is outside of 1 to \(decade)")
        }
    }

    private static func check(redirects count: UInt32, _ policy: RedirectPolicy?) throws(Failure) {
        try FieldCheck.range(count, 1...Limits.redirects, "maximum_redirects")
        if policy == RedirectPolicy.none {
            throw invalid("redirects is BH_REDIRECTS_NONE, but maximum_redirects is \(count); give one of them")
        }
    }

    private static func check(_ accepted: StatusList, _ retried: StatusList) throws(Failure) {
        if let both = (100...599).first(where: { accepted.contains($0) && retried.contains($0) }) {
            throw invalid("accepted_statuses and retry.statuses both have \(both); a response cannot be both")
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
