import Backhaul

/// Notes for the user about tasks that are retried after a failed attempt. Each kind of failure is reported once for
/// each number of attempts, so many tasks with the same failure cause one note.
struct FailureNotes {
    private struct Kind: Hashable {
        let status: Status
        let httpStatus: Int?
    }

    /// The number of attempts with which each kind was reported last.
    private var reported: [Kind: Int] = [:]
    private var hasAdvised = false
    /// The latest failure, such as "https://example.org/a: connection refused (BH_CONNECTION_FAILED)".
    private(set) var last: String?

    /// Finds failures in a list of tasks.
    /// - Returns: Sentences about the failures that were not reported before, and once what ends the retries.
    mutating func newSentences(for tasks: [TaskInfo], _ context: Context) -> [String] {
        // Tasks that wait for a credential are left out, because `ChallengePrompter` reports them. The last attempt of
        // such a task failed with 401 or 407. When the task has just got its credential, its reason is no longer
        // "credential", but its status still shows the failure. So the status is checked, too.
        let failed = tasks.filter {
            !$0.hasEnded && $0.error != nil && $0.error?.status != .authenticationRequired
                && $0.waitsFor != .credential
        }
        if let latest = failed.max(by: { $0.nextAttempt ?? 0 < $1.nextAttempt ?? 0 }) { last = latest.failureSentence }
        var sentences: [String] = []
        for task in failed.sorted(by: { $0.attempts > $1.attempts }) {
            guard let status = task.error?.status else { continue }
            let kind = Kind(status: status, httpStatus: task.httpStatus)
            // While an attempt runs, the error is not new.
            guard reported[kind].map({ task.state != .running && task.attempts > $0 }) ?? true else { continue }
            reported[kind] = task.attempts
            sentences.append("\(task.failureSentence); \(task.nextAttemptSentence).")
            guard !hasAdvised else { continue }
            hasAdvised = true
            sentences.append(
                "Attempts follow up to the limits of --retry and --max-time. To end the transfer: "
                    + context.command("cancel", "\(task.id)"))
        }
        return sentences
    }
}

extension TaskInfo {
    /// The URL and error of the last failed attempt.
    fileprivate var failureSentence: String { "\(url): " + (error?.spoken.description ?? "") }

    fileprivate var nextAttemptSentence: String {
        if state == .running { return "the next attempt runs" }
        return "attempt \(attempts + 1) follows " + (nextAttempt.map { Text.time(until: $0) } ?? "now")
    }
}
