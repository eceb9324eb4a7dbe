import Backhaul

/// Notes for the user about tasks that are retried after a failed attempt. Each kind of failure is reported one time.
struct FailureNotes {
    private struct Kind: Hashable {
        let status: Status
        let httpStatus: Int?
    }

    private var reported: Set<Kind> = []
    /// The latest failure, such as "https://example.org/a: connection refused (BH_CONNECTION_FAILED)".
    private(set) var last: String?

    /// Finds failures in a list of tasks.
    /// - Returns: Sentences about the kinds of failures that were not reported before.
    mutating func newSentences(for tasks: [TaskInfo]) -> [String] {
        // Tasks that wait for a credential are left out, because `ChallengePrompter` reports them. The last attempt of
        // such a task failed with 401 or 407. When the task has just got its credential, its reason is no longer
        // "credential", but its status still shows the failure. So the status is checked, too.
        let failed = tasks.filter {
            !$0.hasEnded && $0.error != nil && $0.error?.status != .authenticationRequired
                && $0.waitsFor != .credential
        }
        if let latest = failed.max(by: { $0.nextAttempt ?? 0 < $1.nextAttempt ?? 0 }) { last = latest.failureSentence }
        return failed.compactMap { task in
            guard let status = task.error?.status,
                reported.insert(Kind(status: status, httpStatus: task.httpStatus)).inserted
            else { return nil }
            if task.state == .running { return task.failureSentence + "." }
            return "\(task.failureSentence); it is retried "
                + "\(task.nextAttempt.map { Text.time(until: $0) } ?? "now")."
        }
    }
}

extension TaskInfo {
    /// The URL and error of the last failed attempt. If a later attempt runs, the sentence says so, because the error
    /// is not the present state.
    fileprivate var failureSentence: String {
        let error = error.map { $0.spoken.description } ?? ""
        return state == .running
            ? "\(url): attempt \(attempts) runs; the last one failed: \(error)" : "\(url): \(error)"
    }
}
