internal import CBackhaul

extension Session {
    /// The selected tasks by id, with their live progress, read in pages. Ended tasks are listed until their event is
    /// acknowledged.
    public func tasks(_ selection: TaskSelection = .all) -> TaskSequence {
        TaskSequence(session: self, selection: selection)
    }

    /// Reads one task.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func task(_ id: TaskID) async throws -> TaskInfo {
        let tasks = try await verb {
            bh_session_task($0, id, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.batch().tasks()
        }
        guard let task = tasks.first else { throw BackhaulError(BH_NOT_FOUND) }
        return task
    }

    func page(
        _ selection: TaskSelection, after: TaskID, maximum: Int
    ) async throws -> (tasks: [TaskInfo], more: Bool) {
        let arena = Arena()
        var value = try selection.value(arena)
        return try await verb {
            bh_session_tasks($0, &value, after, maximum, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            let batch = try outcome.batch()
            return (batch.tasks(), batch.hasMore)
        }
    }

    /// Cancels the tasks: they end as `.cancelled`, and their part files are removed.
    ///
    /// - Returns: The number of tasks that changed. Tasks that have ended are skipped.
    @discardableResult
    public func cancel(_ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_cancel($0, $1, BH_START, nil, $2) }
    }

    /// Stops the tasks, and keeps what they have received.
    @discardableResult
    public func suspend(_ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_suspend($0, $1, BH_START, nil, $2) }
    }

    /// Resumes suspended tasks. It also starts the next attempt of waiting tasks immediately, if their conditions allow
    /// it.
    @discardableResult
    public func resume(_ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_resume($0, $1, BH_START, nil, $2) }
    }

    /// Limits the rate of each of the tasks.
    ///
    /// - Parameter bytesPerSecond: The limit for both directions together; nil: only the limits of session and store
    ///   apply.
    @discardableResult
    public func setRate(_ bytesPerSecond: UInt64?, _ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_set_rate($0, $1, bytesPerSecond ?? 0, BH_START, nil, $2) }
    }

    /// Replaces the tasks' own constraints. The session's constraints stay.
    @discardableResult
    public func setConstraints(_ constraints: Constraints, _ selection: TaskSelection) async throws -> UInt64 {
        let arena = Arena()
        var value = try constraints.value(arena)
        return try await control(selection) { bh_tasks_set_constraints($0, $1, &value, BH_START, nil, $2) }
    }

    /// Sets when the tasks start. A running task continues; the time applies to its next attempt.
    ///
    /// - Returns: The number of tasks that changed. Tasks that have ended, or already have these times, are skipped.
    /// - Throws: `BackhaulError` with `.invalidArgument` for a latest start before the earliest one: the message names
    ///   the task, and no task is changed.
    @discardableResult
    public func reschedule(
        _ selection: TaskSelection, earliestStart: StartChange = .unchanged, latestStart: StartChange = .unchanged
    ) async throws -> UInt64 {
        try await control(selection) {
            bh_tasks_reschedule($0, $1, earliestStart.value, latestStart.value, BH_START, nil, $2)
        }
    }

    /// The attempts of a task, oldest first, at most 100. If there were more, it returns the first and the newest ones.
    /// The task may be in the history.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func attempts(_ task: TaskID) async throws -> [Attempt] {
        try await verb {
            bh_task_attempts($0, task, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.batch().attempts()
        }
    }

    /// Ended tasks whose event was acknowledged, by id. The session keeps the newest, `historyLimit` of them.
    ///
    /// - Parameters:
    ///   - after: The id of the last task that was returned, or 0.
    ///   - maximum: 1 to 10,000.
    /// - Returns: The tasks, and whether there are more.
    public func history(
        after: TaskID = 0, maximum: Int = 1000
    ) async throws -> (tasks: [TaskInfo], more: Bool) {
        try await verb {
            bh_session_history($0, after, maximum, BH_START, nil, $1)
        } take: { outcome throws(BackhaulError) in
            let batch = try outcome.batch()
            return (batch.tasks(), batch.hasMore)
        }
    }

    /// Sets the tasks' priority.
    ///
    /// - Parameter priority: -100 to 100, or `Request.priorityNow`; tasks with a higher priority start first.
    @discardableResult
    public func setPriority(_ priority: Int32, _ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_set_priority($0, $1, priority, BH_START, nil, $2) }
    }

    // Unsafe: the pointers are valid for the duration of the call.
    private func control(
        _ selection: TaskSelection,
        _ start: (
            OpaquePointer, UnsafePointer<bh_task_selection>, UnsafeMutablePointer<bh_error>
        ) -> bh_status
    ) async throws -> UInt64 {
        let arena = Arena()
        var value = try selection.value(arena)
        return try await verb {
            start($0, &value, $1)
        } take: { outcome throws(BackhaulError) in
            try outcome.count()
        }
    }

    /// Moves the kept file of a successful task to `destination`, synced, across file systems if needed.
    ///
    /// - Parameter destination: Absolute path.
    public func claim(_ task: TaskID, to destination: String, ifExists: ExistsPolicy = .fail) async throws {
        let handle = try open()
        try await driver.slowVerb { _, error in
            destination.withCString {
                bh_task_claim(handle.pointer, task, $0, ifExists.rawValue, BH_START, error)
            }
        } take: { outcome throws(BackhaulError) in
            try outcome.done()
        }
    }
}
