/// Checks that the policy of a request (its rules for redirects, retries and statuses) does not contradict the
/// configuration of its session. For a field that the request does not set, the session's value applies. A default
/// value of the session can cause a contradiction, too. Only the default list of retried statuses never causes a
/// contradiction.
extension RequestCheck {
    /// Throws `invalidArgument` if a field of the request contradicts a field of the session. The message names both
    /// fields.
    public static func check(_ request: Request, in session: SessionConfiguration) throws(Failure) {
        guard request.hasOptions else { return }
        let policy = request.options.policy
        try checkDelays(policy, session)
        try checkStatuses(policy, session)
        if policy.maximumRedirects != nil, policy.redirects == nil, session.redirects == .none {
            throw contradiction("the request's maximum_redirects", "the session's redirects, BH_REDIRECTS_NONE")
        }
        if let size = request.options.expectedSize, policy.maximumSize == nil, let maximum = session.maximumSize,
            size > maximum
        {
            throw contradiction("the request's expected_size, \(size),", "the session's maximum_size, \(maximum)")
        }
    }

    private static func checkDelays(_ policy: TaskPolicy, _ session: SessionConfiguration) throws(Failure) {
        guard policy.firstRetryDelayMilliseconds != nil || policy.longestRetryDelayMilliseconds != nil else { return }
        let both = TransferPolicy(session, policy)
        guard both.firstRetryDelayMilliseconds > both.longestRetryDelayMilliseconds else { return }
        let (first, longest) = (both.firstRetryDelayMilliseconds, both.longestRetryDelayMilliseconds)
        let owners = [policy.firstRetryDelayMilliseconds, policy.longestRetryDelayMilliseconds].map {
            $0 == nil ? "session" : "request"
        }
        throw contradiction(
            "retry.first_delay_ms of the \(owners[0]), \(first),",
            "the smaller retry.longest_delay_ms of the \(owners[1]), \(longest)")
    }

    private static func checkStatuses(_ policy: TaskPolicy, _ session: SessionConfiguration) throws(Failure) {
        // If the request has a list of accepted statuses and a list of retried statuses, `PolicyCheck` compares the two
        // lists. If the request has only one list, it is compared with the session's other list. The session's default
        // list of retried statuses contradicts nothing, so the request's accepted statuses may overlap this list.
        if policy.acceptedStatuses == nil, let retried = policy.retryStatuses {
            try checkStatuses(accepted: session.acceptedStatuses, retried: retried, "request", "session")
        }
        if policy.retryStatuses == nil, let accepted = policy.acceptedStatuses, session.retryStatuses != .transient {
            try checkStatuses(accepted: accepted, retried: session.retryStatuses, "session", "request")
        }
    }

    private static func checkStatuses(
        accepted: StatusList, retried: StatusList, _ retryOwner: String, _ acceptOwner: String
    ) throws(Failure) {
        guard let both = (100...599).first(where: { accepted.contains($0) && retried.contains($0) }) else { return }
        throw contradiction(
            "retry.statuses of the \(retryOwner)", "accepted_statuses of the \(acceptOwner), which has \(both), too")
    }

    private static func contradiction(_ one: String, _ other: String) -> Failure {
        Failure(.invalidArgument, "\(one) contradicts \(other); give the request a value that agrees")
    }
}
