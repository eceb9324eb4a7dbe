public import BackhaulModel

/// Operations on the records of attempts in the database. There is one row for each attempt. The checkpoint has the
/// state of the task's part file, to which the download writes. The finish intent has the identity of the finished
/// file, and is recorded before the file gets its final name. The transaction that ends or retries the task writes the
/// attempt's row. The public functions change nothing when the task has ended or does not exist.
public struct AttemptOperations {
    let tables: Tables

    public func recordCheckpoint(
        _ task: TaskID, _ checkpoint: Checkpoint, _ progress: AttemptProgress? = nil
    ) throws(Failure) {
        if let progress, try tables.tasks.write(progress, of: task), let attempt = progress.attempt {
            try write(attempt)
        }
        try tables.parts.write(checkpoint, of: task)
    }

    /// Removes the checkpoint and the finish intent, because the file that they describe is not the task's part file
    /// any more. The counters of the intent's attempt stay with the task.
    public func forgetProgress(_ task: TaskID) throws(Failure) {
        try tables.parts.removeCheckpoint(of: task)
        try tables.tasks.copyCountersFromIntent(of: task)
        try tables.parts.removeIntent(of: task)
    }

    /// Records that an attempt will now send a request that must not be repeated. So after a crash, the next engine
    /// does not send the request again.
    public func recordUnderWay(_ task: TaskID, attempts: UInt32) throws(Failure) {
        try tables.tasks.markUnderWay(task, attempts: attempts)
    }

    /// Records an attempt. If the record has no failure, the stored failure of an earlier attempt stays.
    public func record(_ task: TaskID, _ record: AttemptRecord) throws(Failure) {
        guard try tables.tasks.write(record, of: task) else { return }
        if let attempt = record.attempt { try write(attempt) }
        if let resource = record.uploadResource { try tables.uploads.write(resource, of: task) }
        if let due = record.nextAttempt { try tables.delays.delay(task, until: due, for: record.reason) }
        if let checkpoint = record.checkpoint {
            try recordCheckpoint(task, checkpoint)
        } else {
            try tables.parts.removeCheckpoint(of: task)
        }
    }

    /// Records the finish intent and the summary of the response. If this engine crashes, the next engine needs this
    /// record to end the task, because the next engine has not seen the response. Returns false when the task has
    /// ended. In that case, the file of the task must not get its final name.
    public func recordIntent(
        _ task: TaskID, _ intent: FinishIntent, response: ResponseSummary, checksum: Checksum? = nil,
        attempts: UInt32, bytesReceived: UInt64, attempt: Attempt? = nil
    ) throws(Failure) -> Bool {
        let isLive = try tables.parts.write(
            intent, attempts: attempts, bytesReceived: bytesReceived, httpStatus: response.httpStatus, of: task)
        guard isLive else { return false }
        if let attempt { try write(attempt) }
        try tables.requests.write(response, checksum, of: task)
        return true
    }

    /// Gives the task another part file, so that the task starts from the beginning. This function is called when an
    /// operation on the old file cannot be stopped and may still change that file. Does nothing when the task has a
    /// finish intent, because then the old file is the finished file.
    public func renewPart(of task: TaskID) throws(Failure) {
        guard try tables.leftovers.insertPart(of: task) else { return }
        try tables.tasks.renewPart(of: task)
        try forgetProgress(task)
    }

    /// Writes the attempt's row. If a row with the same number was written before the attempt was over, the new row
    /// replaces it.
    func write(_ attempt: Attempt) throws(Failure) {
        try tables.attempts.write(attempt)
        // At most `Limits.attemptCount` rows stay: the row of the first attempt, and the rows of the newest attempts.
        let kept = UInt32(Limits.attemptCount)
        guard attempt.number > kept else { return }
        try tables.attempts.removeOlder(of: attempt.task, through: attempt.number - kept + 1)
    }

    /// Returns the task's stored attempts, oldest first. If there were many attempts, only the first and the newest are
    /// stored. Throws notFound when the task is missing both in the session and in the session's history (its list of
    /// ended tasks).
    public func all(of task: TaskID, in session: SessionID) throws(Failure) -> [Attempt] {
        guard let url = try url(of: task, in: session) else {
            throw Failure(.notFound, "the session has no task \(task.rawValue)")
        }
        return try tables.attempts.all(of: task, url: url)
    }

    /// Returns the stored attempts of several tasks, sorted by task. Tasks that are missing are left out. The result
    /// ends early, after a task, when its attempts have `Limits.chunkSize` bytes together. Then `more` is true.
    public func all(
        of tasks: [TaskID], in session: SessionID
    ) throws(Failure) -> (attempts: [Attempt], more: Bool) {
        var page = RecordPage<Attempt>()
        for task in Set(tasks).sorted() {
            guard let url = try url(of: task, in: session) else { continue }
            guard page.add(try tables.attempts.all(of: task, url: url), size: \.listedSize) else { break }
        }
        return (page.records, page.more)
    }

    private func url(of task: TaskID, in session: SessionID) throws(Failure) -> String? {
        if let url = try tables.requests.url(of: task, in: session) { return url }
        return try tables.history.url(of: task, in: session)
    }
}

extension Attempt {
    /// The approximate size of the attempt in a reply, in bytes.
    fileprivate var listedSize: Int { 300 + metrics.url.utf8.count + (failure?.message.utf8.count ?? 0) }
}
