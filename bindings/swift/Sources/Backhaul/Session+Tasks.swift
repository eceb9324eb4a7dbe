internal import CBackhaul

extension Session {
    /// The tasks by id, with their live progress, asked for in pages. Ended tasks are listed until acknowledged.
    public func tasks(_ selection: TaskSelection = .all) -> TaskSequence {
        TaskSequence(session: self, selection: selection)
    }

    /// - Throws: `BackhaulError` with `.notFound`.
    public func task(_ id: TaskID) async throws -> TaskInfo {
        let tasks = try await verb {
            bh_task_info_start($0, id, $1, $2)
        } take: { answer throws(BackhaulError) in
            try answer.batch().tasks()
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
            bh_session_tasks_start($0, &value, after, maximum, $1, $2)
        } take: { answer throws(BackhaulError) in
            let batch = try answer.batch()
            return (batch.tasks(), batch.hasMore)
        }
    }

    /// Ends the tasks as cancelled and removes what they have received.
    ///
    /// - Returns: how many changed. Those that have ended already are passed over.
    @discardableResult
    public func cancel(_ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_cancel_start($0, $1, $2, $3) }
    }

    /// Stops the tasks and keeps what they have received.
    @discardableResult
    public func suspend(_ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_suspend_start($0, $1, $2, $3) }
    }

    /// Lets suspended tasks run, and sends waiting ones to their next attempt at once.
    @discardableResult
    public func resume(_ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_resume_start($0, $1, $2, $3) }
    }

    /// - Parameter bytesPerSecond: of each of the tasks, both ways, from now on; nil: no limit but the session's and
    ///   the engine's.
    @discardableResult
    public func setRate(_ bytesPerSecond: UInt64?, _ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_set_rate_start($0, $1, bytesPerSecond ?? 0, $2, $3) }
    }

    /// - Parameter constraints: what each of the tasks demands of the conditions from now on, in the place of what it
    ///   was enqueued with. The session's own demands stay.
    @discardableResult
    public func setConstraints(_ constraints: Constraints, _ selection: TaskSelection) async throws -> UInt64 {
        var policy = Policy()
        policy.constraints = constraints
        let arena = Arena()
        var value = try policy.value(arena)
        return try await control(selection) { bh_tasks_set_constraints_start($0, $1, &value, $2, $3) }
    }

    /// When each of the tasks is to start from now on. What may start now waits no longer, what runs goes on, and its
    /// next try waits.
    ///
    /// - Returns: how many changed. Those that have ended, or are to start so already, are passed over.
    /// - Throws: `BackhaulError` with `.invalidArgument` where the latest start of a task would be before its earliest;
    ///   nothing is changed then.
    @discardableResult
    public func reschedule(
        _ selection: TaskSelection, earliestStart: StartChange = .unchanged, latestStart: StartChange = .unchanged
    ) async throws -> UInt64 {
        try await control(selection) {
            bh_tasks_reschedule_start($0, $1, earliestStart.value, latestStart.value, $2, $3)
        }
    }

    /// What was measured of the requests of a task that is listed or in the history, oldest first; of many the first
    /// and the newest.
    ///
    /// - Throws: `BackhaulError` with `.notFound`.
    public func attempts(_ task: TaskID) async throws -> [Attempt] {
        try await verb {
            bh_task_attempts_start($0, task, $1, $2)
        } take: { answer throws(BackhaulError) in
            try answer.batch().attempts()
        }
    }

    /// Tasks whose event was acknowledged, by id; the session keeps the newest, as its `historyLimit` says.
    ///
    /// - Parameters:
    ///   - after: The id of the last task that is known already, or 0.
    ///   - maximum: 1 to 10,000.
    /// - Returns: the tasks, and whether there are more.
    public func history(
        after: TaskID = 0, maximum: Int = 1000
    ) async throws -> (tasks: [TaskInfo], more: Bool) {
        try await verb {
            bh_session_history_start($0, after, maximum, $1, $2)
        } take: { answer throws(BackhaulError) in
            let batch = try answer.batch()
            return (batch.tasks(), batch.hasMore)
        }
    }

    /// - Parameter priority: -100 to 100, or `Request.priorityNow`; higher runs first.
    @discardableResult
    public func setPriority(_ priority: Int32, _ selection: TaskSelection) async throws -> UInt64 {
        try await control(selection) { bh_tasks_set_priority_start($0, $1, priority, $2, $3) }
    }

    // Unsafe: what is pointed to lives for the length of the call.
    private func control(
        _ selection: TaskSelection,
        _ start: (
            OpaquePointer, UnsafePointer<bh_task_selection>, UnsafeMutablePointer<OpaquePointer?>,
            UnsafeMutablePointer<bh_error>
        ) -> bh_status
    ) async throws -> UInt64 {
        let arena = Arena()
        var value = try selection.value(arena)
        return try await verb {
            start($0, &value, $1, $2)
        } take: { answer throws(BackhaulError) in
            try answer.count()
        }
    }

    /// Moves the kept file of a succeeded task to its place, synced, across file systems if needed.
    ///
    /// - Parameter destination: Absolute path.
    public func claim(_ task: TaskID, to destination: String, ifExists: ExistsPolicy = .fail) async throws {
        let handle = try open()
        try await driver.slowVerb { _, ticket, error in
            destination.withCString { bh_task_claim_start(handle.pointer, task, $0, ifExists.rawValue, ticket, error) }
        } take: { answer throws(BackhaulError) in
            try answer.done()
        }
    }
}
