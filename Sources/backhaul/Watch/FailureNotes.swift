import CBackhaul

/// Failed tries of transfers that are tried again: each kind is told once.
struct FailureNotes {
    private struct Kind: Hashable {
        let status: bh_status
        let httpStatus: Int32
    }

    private var reported: Set<Kind> = []
    /// "https://example.org/a: connection refused (BH_CONNECTION_FAILED)"
    private(set) var last: String?

    /// - Returns: Sentences about kinds that were not told before.
    mutating func look(at tasks: [TaskRecord]) -> [String] {
        // What waits for a credential, or has just got one, has its own notes. The row tells of the question as of a
        // failed try, so the status is looked at as well as the reason, which a released task has no more.
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
    /// Of the last try that failed.
    fileprivate var failureSentence: String {
        let reason = errorMessage ?? String(cString: bh_status_text(status))
        return "\(url): \(reason) (\(String(cString: bh_status_name(status))))"
    }
}
