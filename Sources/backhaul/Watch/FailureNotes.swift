import CBackhaul

/// Notes about failed attempts that are retried. Each kind of failure is reported once.
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
        // `ChallengePrompter` reports tasks that wait for a credential, although their last attempt failed with 401 or
        // 407. A task that has just got its credential no longer has the reason, so the status is checked, too.
        let failed = tasks.filter {
            !$0.hasEnded && Int($0.status) != BH_OK && Int($0.status) != BH_AUTHENTICATION_REQUIRED
                && Int($0.reason) != BH_REASON_CREDENTIAL
        }
        if let latest = failed.max(by: { $0.nextAttempt < $1.nextAttempt }) { last = latest.failureSentence }
        return failed.compactMap { task in
            guard reported.insert(Kind(status: task.status, httpStatus: task.httpStatus)).inserted else { return nil }
            return "\(task.failureSentence); it is tried again "
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
