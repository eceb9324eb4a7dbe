public import BackhaulModel

/// Attempts of tasks: a row for each, written in the transaction that ends or retries.
extension Transaction {
    /// One that has its number takes its place: what is known before an attempt is over is written down, too.
    func record(_ attempt: Attempt) throws(Failure) {
        try tables.attempts.write(attempt)
        // The first stays, and with it as many as are listed.
        let kept = UInt32(Limits.attemptCount)
        guard attempt.number > kept else { return }
        try tables.attempts.removeOlder(of: attempt.task, through: attempt.number - kept + 1)
    }

    /// Oldest first, the first and the newest of many. Throws notFound when the session has no such task, not even in
    /// its history.
    public func attempts(of task: TaskID, in session: SessionID) throws(Failure) -> [Attempt] {
        var url = try tables.requests.url(of: task, in: session)
        if url == nil { url = try tables.history.url(of: task, in: session) }
        guard let url else { throw Failure(.notFound, "the session has no task \(task.rawValue)") }
        return try tables.attempts.all(of: task, url: url)
    }
}
