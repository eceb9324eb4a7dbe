/// Checks that the options that control requests and retries do not contradict each other. The message names both
/// options.
enum PolicyCheck {
    static func check(_ policy: TaskPolicy) throws(Failure) {
        if let first = policy.firstRetryDelayMilliseconds, let longest = policy.longestRetryDelayMilliseconds {
            try checkDelays(first, longest)
        }
        if let errors = policy.retryErrors { try check(errors, attempts: policy.maximumAttempts) }
        if let count = policy.maximumRedirects, policy.redirects == RedirectPolicy.none {
            throw invalid("redirects is BH_REDIRECTS_NONE, but maximum_redirects is \(count); give one of them")
        }
        if let types = policy.acceptedTypes { try MediaRanges.check(types) }
        try ConstraintsCheck.checkContradictions(policy.constraints)
        if let accepted = policy.acceptedStatuses, let retried = policy.retryStatuses { try check(accepted, retried) }
    }

    static func check(_ session: SessionConfiguration) throws(Failure) {
        var policy = session.policy
        // A session always has a maximum number of redirects, even if it follows no redirects. So the maximum does not
        // contradict the session's redirect policy.
        policy.redirects = nil
        // Accepted statuses may overlap the default list of retried statuses, so the default list is not checked.
        if session.retryStatuses == .transient { policy.retryStatuses = nil }
        try check(policy)
    }

    private static func checkDelays(_ first: UInt32, _ longest: UInt32) throws(Failure) {
        guard first <= longest else {
            throw invalid("retry.first_delay_ms is \(first) ms, more than retry.longest_delay_ms, \(longest) ms")
        }
    }

    private static func check(_ errors: RetryErrors, attempts: UInt32?) throws(Failure) {
        guard !errors.contains(.nothing) || errors == .nothing else {
            throw invalid("retry.errors has BH_RETRY_NONE beside other bits; give it alone")
        }
        if errors == .nothing, let attempts, attempts > 1 {
            throw invalid("retry.errors is BH_RETRY_NONE, but maximum_attempts is \(attempts); give one of them")
        }
    }

    private static func check(_ accepted: StatusList, _ retried: StatusList) throws(Failure) {
        if let both = (100...599).first(where: { accepted.contains($0) && retried.contains($0) }) {
            throw invalid("accepted_statuses and retry.statuses both have \(both); a response cannot be both")
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
