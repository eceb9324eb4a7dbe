/// Methods for the tasks of a session. The program that uses the library acknowledges each event that it has processed.
/// A constraint is a demand of a task on the system, such as external power. An attempt is one run of a task.
extension Session {
    /// Returns a sequence of the selected tasks with their live progress, in the order of their ids. The tasks are read
    /// in pages. An ended task is listed until its event is acknowledged.
    public func tasks(_ selection: TaskSelection = .all) -> TaskSequence {
        TaskSequence(session: self, selection: selection)
    }

    /// Returns one task with its live progress. If the event about the end of the task was acknowledged, the task is
    /// returned from the history.
    ///
    /// - Throws: `BackhaulError` with `.notFound` if the task is not in the session's list of tasks, and not in the
    ///   history.
    public func task(_ id: TaskID) async throws -> TaskInfo {
        if let task = try await listed(id) { return task }
        if let task = try await inHistory(id) { return task }
        throw BackhaulError.unknownTask(id)
    }

    /// Cancels the tasks. They end as `.cancelled`, and their partly downloaded files are removed.
    ///
    /// - Returns: The number of tasks that changed. A task that has ended does not change.
    @discardableResult
    public func cancel(_ selection: TaskSelection) async throws -> UInt64 {
        try await run(.cancel(selection))
    }

    /// Suspends the tasks, and keeps their received bytes.
    @discardableResult
    public func suspend(_ selection: TaskSelection) async throws -> UInt64 {
        try await run(.suspend(selection))
    }

    /// Sets the tasks aside: suspends them, so that the round of the session and the groups of the tasks end without
    /// them. The resource time-out of the tasks does not stop. `resume` continues the tasks.
    @discardableResult
    public func setAside(_ selection: TaskSelection) async throws -> UInt64 {
        try await run(.setAside(selection))
    }

    /// Resumes suspended tasks, and ends the retry delay of waiting tasks. Conditions and earliest starts still apply.
    @discardableResult
    public func resume(_ selection: TaskSelection) async throws -> UInt64 {
        try await run(.resume(selection))
    }

    /// Sets the rate limit of each of the tasks.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The limit for both directions together. Nil or 0: only the limits of the session and of
    ///     all sessions together apply.
    ///   - selection: The tasks.
    @discardableResult
    public func setRate(_ bytesPerSecond: UInt64?, _ selection: TaskSelection) async throws -> UInt64 {
        try await run(.setRate(bytesPerSecond, selection))
    }

    /// Replaces the tasks' own constraints. The constraints of the session still apply.
    @discardableResult
    public func setConstraints(_ constraints: Constraints, _ selection: TaskSelection) async throws -> UInt64 {
        try await run(.setConstraints(constraints, selection))
    }

    /// Sets the earliest and the latest start of the tasks. A task does not start before its earliest start. After its
    /// latest start, presets such as `.discretionary` no longer delay it. A running task continues. The new times apply
    /// to its next attempt.
    ///
    /// - Returns: The number of tasks that changed. A task does not change if it has ended, or if it already has these
    ///   times.
    /// - Throws: `BackhaulError` with `.invalidArgument` if the latest start of a task would be before its earliest
    ///   start. Then the message of the error names the task, and no task changes.
    @discardableResult
    public func reschedule(
        _ selection: TaskSelection, earliestStart: StartChange = .unchanged, latestStart: StartChange = .unchanged
    ) async throws -> UInt64 {
        try await run(.reschedule(selection, earliestStart: earliestStart, latestStart: latestStart))
    }

    /// Returns the attempts of a task, oldest first. If the task had more than 100 attempts, the method returns the
    /// first one and the 99 newest ones. The task may be in the history (see `history`).
    ///
    /// - Throws: `BackhaulError` with `.notFound` if the task is not in the session's list of tasks, and not in the
    ///   history.
    public func attempts(_ task: TaskID) async throws -> [Attempt] { try await run(.attempts(task)) }

    /// Returns ended tasks whose event was acknowledged, in the order of their ids. The history keeps only the
    /// `historyLimit` tasks that ended last.
    ///
    /// - Parameters:
    ///   - after: The id of the last task that an earlier call returned. With nil, the first task is the one with the
    ///     lowest id.
    ///   - maximum: The largest number of tasks to return: 1 to 10,000.
    /// - Returns: The tasks, and whether there are more.
    public func history(
        after: TaskID? = nil, maximum: Int = 1000
    ) async throws -> (tasks: [TaskInfo], more: Bool) {
        try await run(.history(after: after, maximum: pageSize(maximum)))
    }

    /// Sets the priority of the tasks.
    ///
    /// - Parameters:
    ///   - priority: -100 to 100, or `Request.priorityNow`. In a session, tasks with a higher priority start first.
    ///   - selection: The tasks.
    @discardableResult
    public func setPriority(_ priority: Int32, _ selection: TaskSelection) async throws -> UInt64 {
        try await run(.setPriority(priority, selection))
    }

    /// Moves the file of a succeeded download out of the store to `destination`, and syncs the file. The store keeps
    /// the file of a download without a destination.
    ///
    /// - Parameters:
    ///   - task: The task of the download.
    ///   - destination: The absolute path of the file. The path may be on another file system than the store.
    ///   - ifExists: What happens if a file exists at the destination.
    public func claim(_ task: TaskID, to destination: String, ifExists: ExistsPolicy = .fail) async throws {
        try await run(.claim(task, to: destination, ifExists: ifExists))
    }
}
