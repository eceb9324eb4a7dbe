import CBackhaul

/// Notes for the user about tasks that are retried after a failed attempt (one run of a task). Each kind of failure is
/// reported one time.
struct FailureNotes {
    private struct Kind: Hashable {
        let status: bh_status
        let httpStatus: Int32
    }

    private var reported: Set<Kind> = []
    /// The latest failure, such as "https://example.org/a: connection refused (BH_CONNECTION_FAILED)".
    private(set) var last: String?

    /// Finds failures in a list of tasks.
    /// - Returns: Sentences about the kinds of failures that were not reported before.
    mutating func newSentences(for tasks: [TaskRecord]) -> [String] {
        // Tasks that wait for a credential are left out, because `ChallengePrompter` reports them. The last attempt of
        // such a task failed with 401 or 407. When the task has just got its credential, its reason is no longer
        // "credential", but its status still shows the failure. So the status is checked, too.
        let failed = tasks.filter {
            !$0.hasEnded && Int($0.status) != BH_OK && Int($0.status) != BH_AUTHENTICATION_REQUIRED
                && Int($0.reason) != BH_REASON_CREDENTIAL
        }
        if let latest = failed.max(by: { $0.nextAttempt < $1.nextAttempt }) { last = latest.failureSentence }
        return failed.compactMap { task in
            guard reported.insert(Kind(status: task.status, httpStatus: task.httpStatus)).inserted else { return nil }
            return "\(task.failureSentence); it is retried "
                + "\(task.nextAttempt > 0 ? Text.time(until: task.nextAttempt) : "now")."
        }
    }
}

extension TaskRecord {
    /// The URL and error of the last failed attempt.
    fileprivate var failureSentence: String {
        let reason = errorMessage ?? String(cString: bh_status_text(status))
        return "\(url): \(reason) (\(String(cString: bh_status_name(status))))"
    }
}
