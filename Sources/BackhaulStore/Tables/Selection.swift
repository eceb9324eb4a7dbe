internal import BackhaulModel

/// The temporary tables `selected`, `running` and `acknowledged`, which are in memory. `selected` has the ids of the
/// tasks or events that bulk statements change. `running` has the ids of the running tasks. `acknowledged` has the ids
/// of the tasks whose events are selected. So a bulk change is one statement, regardless of the number of rows.
struct Selection {
    let connection: Connection

    func clear() throws(Failure) {
        try connection.run(Self.clearSelected)
        try connection.run(Self.clearRunning)
        try connection.run(Self.clearAcknowledged)
    }

    /// Returns the selected ids as task ids, sorted by id.
    func tasks() throws(Failure) -> [TaskID] {
        try connection.all(Self.readSelected) { row throws(Failure) in row.taskID() }
    }

    // MARK: Tasks

    func select(_ tasks: some Sequence<TaskID>) throws(Failure) {
        try connection.run(Self.clearSelected)
        for task in tasks { try connection.run(Self.insertSelected, .id(task)) }
    }

    /// Selects the live tasks of the selection. Leaves out tasks that are ending: their files get their final names.
    /// `which` limits the result to tasks that a command such as suspend would change. `group` is the group that the
    /// selection names; nil if the selection names no group, or if that group does not exist.
    func select(
        _ selection: TaskSelection, of session: SessionID, group: GroupID?, running: Set<TaskID>, which: LiveTasks
    ) throws(Failure) {
        try fill(running: running, for: selection.states)
        try connection.run(Self.clearSelected)
        // If the selection names a group that does not exist, no task matches.
        if selection.group != nil, group == nil { return }
        let states = selection.states
        let values: [Value] = [
            .id(session), .flag(states.contains(TaskStates(.waiting))), .flag(states.contains(TaskStates(.running))),
            .flag(states.contains(TaskStates(.suspended))), .flag(which.waiting), .flag(which.delayed),
            .flag(which.suspended), .optional(which.priorityOtherThan), .flag(which.aside),
        ]
        let groupValue = group.map { Value.id($0) } ?? .null
        if let ids = selection.enumerated(running: running) {
            for id in ids { try connection.run(Self.selectOne, values + [.id(id), groupValue]) }
        } else if group != nil {
            try connection.run(Self.selectGroup, values + [groupValue])
        } else {
            try connection.run(Self.selectAll, values)
        }
    }

    /// Selects the tasks that wait for the challenge, and returns these tasks.
    func selectTasks(waitingFor challenge: ChallengeID) throws(Failure) -> [TaskID] {
        try clear()
        try connection.run(Self.selectParked, .id(challenge))
        return try tasks()
    }

    /// Fills the table `running` if `states` contains exactly one of the states waiting and running. Otherwise clears
    /// the table.
    func fill(running: Set<TaskID>, for states: TaskStates) throws(Failure) {
        try connection.run(Self.clearRunning)
        guard states.contains(TaskStates(.waiting)) != states.contains(TaskStates(.running)) else { return }
        for task in running { try connection.run(Self.insertRunning, .id(task)) }
    }

    /// The live tasks that a command such as suspend would change.
    struct LiveTasks {
        var waiting = false
        /// Whether the command changes tasks that wait for a due time.
        var delayed = false
        var suspended = false
        /// Whether the command changes tasks that were set aside.
        var aside = true
        var priorityOtherThan: Int32?
    }

    // MARK: Events

    /// Selects the events that belong to the session. Returns the number of selected events.
    func select(_ events: [EventID], of session: SessionID) throws(Failure) -> Int64 {
        try clear()
        for id in events { try connection.run(Self.selectEvent, .id(session), .id(id)) }
        return try count()
    }

    /// Selects the session's events with ids up to `id`. Returns the number of selected events.
    func select(through id: EventID, of session: SessionID) throws(Failure) -> Int64 {
        try clear()
        try connection.run(Self.selectEvents, .id(session), .id(id))
        return try count()
    }

    /// Fills the table `acknowledged`.
    func fillAcknowledged() throws(Failure) { try connection.run(Self.insertAcknowledged) }

    private func count() throws(Failure) -> Int64 {
        try connection.first(Self.countSelected) { row throws(Failure) in row.integer() } ?? 0
    }

    // MARK: -

    private static let waiting = TaskState.waiting.sql
    private static let suspended = TaskState.suspended.sql
    // The row of a running task has the state waiting. The table `running` is read only if the selection has exactly
    // one of the states waiting and running.
    private static let condition = """
        session_id = ?1 AND ended_ms IS NULL AND state IN (\(waiting), \(suspended))
        AND iif(state = \(suspended), ?4, iif(?2 = ?3, ?2, iif(id IN running, ?3, ?2)))
        AND iif(state = \(suspended), ?7, ?5 OR (?6 AND due_boot_ms IS NOT NULL AND NOT \(TaskDelays.staysDelayed)))
        AND (?8 IS NULL OR priority <> ?8) AND (?9 OR NOT \(TaskDelays.isAside))
        AND NOT \(isFinishing)
        """
    /// A waiting task with a finish intent gets its file's name now, except while it is delayed. A task that was set
    /// aside is delayed, too.
    private static let isFinishing = "(state = \(waiting) AND due_boot_ms IS NULL AND \(PartTable.hasIntent))"
    private static let selectAll = Query("INSERT INTO selected SELECT id FROM tasks WHERE \(condition)")
    private static let selectOne = Query(
        """
        INSERT OR IGNORE INTO selected SELECT id FROM tasks
        WHERE id = ?10 AND (?11 IS NULL OR group_id = ?11) AND \(condition)
        """)
    private static let selectGroup = Query(
        "INSERT INTO selected SELECT id FROM tasks INDEXED BY tasks_by_group WHERE group_id = ?10 AND \(condition)")
    private static let selectParked = Query(
        """
        INSERT INTO selected SELECT id FROM tasks
        WHERE challenge_id = ? AND \(TaskDelays.isParked) AND NOT \(PartTable.hasIntent)
        """)
    private static let clearSelected = Query("DELETE FROM selected")
    private static let insertSelected = Query("INSERT OR IGNORE INTO selected (id) VALUES (?)")
    private static let readSelected = Query("SELECT id FROM selected ORDER BY id")
    private static let countSelected = Query("SELECT count(*) FROM selected")
    private static let clearRunning = Query("DELETE FROM running")
    // The transfer of a task that was set aside may still be stopping. Such a task counts as waiting.
    private static let insertRunning = Query(
        "INSERT OR IGNORE INTO running SELECT id FROM tasks WHERE id = ? AND NOT \(TaskDelays.isAside)")
    private static let clearAcknowledged = Query("DELETE FROM acknowledged")
    private static let insertAcknowledged = Query(
        """
        INSERT INTO acknowledged
        SELECT task_id FROM selected CROSS JOIN events ON events.id = selected.id WHERE task_id IS NOT NULL
        """)
    private static let selectEvent = Query(
        "INSERT OR IGNORE INTO selected SELECT id FROM events WHERE id = ?2 AND session_id = ?1")
    private static let selectEvents = Query(
        "INSERT INTO selected SELECT id FROM events WHERE session_id = ? AND id <= ?")
}

extension TaskSelection {
    /// If the selection lists tasks, returns these tasks. If the selection has only the state running, returns the
    /// running tasks. Otherwise returns nil.
    func enumerated(running: Set<TaskID>) -> Set<TaskID>? {
        if !ids.isEmpty { return Set(ids) }
        return states == TaskStates(.running) ? running : nil
    }
}
