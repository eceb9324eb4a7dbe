public import BackhaulModel

/// What the engine writes about a live task. Each of these does nothing when the task has ended or is gone meanwhile.
extension Transaction {
    public func recordCheckpoint(
        _ task: TaskID, _ checkpoint: Checkpoint, _ soFar: ReceivedSoFar? = nil
    ) throws(Failure) {
        if let soFar, try tables.tasks.write(soFar, of: task), let attempt = soFar.attempt { try record(attempt) }
        try tables.parts.write(checkpoint, of: task)
    }

    /// Nothing of the task's file is there any more: neither checkpoint nor intent.
    public func forgetProgress(_ task: TaskID) throws(Failure) {
        try tables.parts.removeCheckpoint(of: task)
        try tables.parts.removeIntent(of: task)
    }

    /// A request that is not to be repeated is about to be sent.
    public func recordUnderWay(_ task: TaskID, attempts: UInt32) throws(Failure) {
        try tables.tasks.markUnderWay(task, attempts: attempts)
    }

    /// Without a failure, the one of an earlier attempt stays.
    public func recordAttempt(_ task: TaskID, _ record: AttemptRecord) throws(Failure) {
        guard try tables.tasks.write(record, of: task) else { return }
        if let attempt = record.attempt { try self.record(attempt) }
        if let due = record.nextAttempt { try tables.delays.delay(task, until: due, for: record.reason) }
        if let checkpoint = record.checkpoint {
            try recordCheckpoint(task, checkpoint)
        } else {
            try tables.parts.removeCheckpoint(of: task)
        }
    }

    /// False when the task has ended meanwhile: its file must not get its final name. What is known of the answer is
    /// recorded with it, because the engine that ends the task after a crash has not seen the answer.
    public func recordIntent(
        _ task: TaskID, _ intent: FinishIntent, answer: AnswerSummary = AnswerSummary(), checksum: Checksum? = nil,
        attempts: UInt32 = 0, bytesReceived: UInt64 = 0, attempt: Attempt? = nil
    ) throws(Failure) -> Bool {
        let isLive = try tables.tasks.write(
            attempts: attempts, bytesReceived: bytesReceived, httpStatus: answer.httpStatus, of: task)
        guard isLive else { return false }
        try tables.parts.write(intent, of: task)
        if let attempt { try record(attempt) }
        try tables.requests.write(answer, checksum, of: task)
        return true
    }

    public func clearIntent(_ task: TaskID) throws(Failure) { try tables.parts.removeIntent(of: task) }

    // MARK: Claiming

    // The kept file of a succeeded task is moved to a path of the host's, once.

    /// False when the kept file is still to be moved to `path`; true when it is there already. Throws notFound, or
    /// wrongState for a task that has not succeeded, was not kept, or whose file was claimed elsewhere.
    public func checkClaim(_ task: TaskID, session: SessionID, path: String) throws(Failure) -> Bool {
        guard let row = try tables.tasks.claim(task), row.session == session else { throw noTask(task) }
        let isConsumed = row.state.hasEnded && row.state != .succeeded && row.path == nil
        if isConsumed, try consumedFile(of: task) != nil { return false }
        guard row.state == .succeeded || row.path != nil else {
            throw Failure(.wrongState, "task \(task.rawValue) has not succeeded; only a whole file can be claimed")
        }
        guard let place = row.path ?? row.destination else { return false }
        guard place.utf8.elementsEqual(path.utf8) else {
            throw Failure(
                .wrongState, "the file of task \(task.rawValue) is not kept in the store; it lies at \(place)")
        }
        return true
    }

    /// The file lies at `path` now, and its event says so. Throws as `checkClaim`; harmless when repeated.
    public func recordClaim(_ task: TaskID, path: String) throws(Failure) {
        guard let row = try tables.tasks.claim(task) else { throw noTask(task) }
        guard try !checkClaim(task, session: row.session, path: path) else { return }
        try tables.tasks.setPath(path, of: task)
        if let file = try consumedFile(of: task) { try tables.bodies.forgetStored(file.name, of: task) }
    }

    private func noTask(_ task: TaskID) -> Failure {
        Failure(.notFound, "the session has no task \(task.rawValue); an acknowledged one is gone with its kept file")
    }
}
