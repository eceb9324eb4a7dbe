internal import BackhaulModel

/// Sets of rows are gathered in tables in memory, so that what is then done to them is one statement, however many
/// there are.
extension Transaction {
    /// Fills `selected` with the live tasks that the selection means, those that are being finished left out: they are
    /// ending. `which` narrows it to those that a control would change.
    func select(
        _ selection: TaskSelection, of session: SessionID, running: Set<TaskID>, which: LiveTasks
    ) throws(Failure) {
        try fillRunning(selection.states, running)
        try connection.run(Self.clearSelected)
        let flags = StateFlags(selection.states)
        var group: GroupID?
        if let name = selection.group {
            group = try self.group(name, of: session)
            // Nobody is in a group that is not there.
            if group == nil { return }
        }
        if let ids = selection.enumerated(running: running) {
            for id in ids {
                try connection.run(
                    Self.selectOne, .id(session), .flag(flags.waiting), .flag(flags.running), .flag(flags.suspended),
                    .flag(which.waiting), .flag(which.delayed), .flag(which.suspended),
                    which.priorityOtherThan.map { .number($0) } ?? .null, .id(id), group.map { .id($0) } ?? .null)
            }
        } else if let group {
            try connection.run(
                Self.selectGroup, .id(session), .flag(flags.waiting), .flag(flags.running), .flag(flags.suspended),
                .flag(which.waiting), .flag(which.delayed), .flag(which.suspended),
                which.priorityOtherThan.map { .number($0) } ?? .null, .id(group))
        } else {
            try connection.run(
                Self.selectAll, .id(session), .flag(flags.waiting), .flag(flags.running), .flag(flags.suspended),
                .flag(which.waiting), .flag(which.delayed), .flag(which.suspended),
                which.priorityOtherThan.map { .number($0) } ?? .null)
        }
    }

    /// Fills `selected` with these numbers.
    func select(_ numbers: some Sequence<UInt64>) throws(Failure) {
        try connection.run(Self.clearSelected)
        for number in numbers { try connection.run(Self.insertSelected, .number(number)) }
    }

    func clearSelection() throws(Failure) {
        try connection.run(Self.clearSelected)
        try connection.run(Self.clearRunning)
    }

    func selectedTasks() throws(Failure) -> [TaskID] {
        try connection.all(Self.readSelected) { row throws(Failure) in row.taskID() }
    }

    func lanesOfSelectedTasks() throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.readLanes) { row throws(Failure) in row.laneID() })
    }

    /// Of those that wait for their turn, with these constraints.
    func countOfSelectedTasks(in places: [LaneID: Set<ConstraintsID>]) throws(Failure) -> UInt64 {
        var sum: UInt64 = 0
        try connection.each(Self.countPlaces) { row throws(Failure) in
            let (lane, constraints, count) = (row.laneID(), row.constraintsID(), row.number() as UInt64)
            if places[lane]?.contains(constraints) == true { sum += count }
        }
        return sum
    }

    /// Only a selection that tells running tasks from waiting ones needs to know them.
    func fillRunning(_ states: TaskStates, _ running: Set<TaskID>) throws(Failure) {
        try connection.run(Self.clearRunning)
        guard states.contains(TaskStates(.waiting)) != states.contains(TaskStates(.running)) else { return }
        for task in running { try connection.run(Self.insertRunning, .id(task)) }
    }

    /// Live tasks that a control would change.
    struct LiveTasks {
        var waiting = false
        /// Those that wait for a due time.
        var delayed = false
        var suspended = false
        var priorityOtherThan: Int32?
    }

    struct StateFlags {
        var waiting: Bool
        var running: Bool
        var suspended: Bool
        init(_ states: TaskStates) {
            waiting = states.contains(TaskStates(.waiting))
            running = states.contains(TaskStates(.running))
            suspended = states.contains(TaskStates(.suspended))
        }
    }

    // A task that runs is in state 1 like one that waits. When both are meant alike, `running` is not asked.
    private static let condition = """
        session_id = ?1 AND state IN (1, 3)
        AND iif(state = 3, ?4, iif(?2 = ?3, ?2, iif(id IN running, ?3, ?2)))
        AND iif(state = 3, ?7, ?5 OR (?6 AND due_boot_ms IS NOT NULL AND due_reason NOT IN (8, 18)))
        AND (?8 IS NULL OR priority <> ?8)
        AND NOT EXISTS (SELECT 1 FROM intents WHERE task_id = id)
        """
    private static let selectAll = Query("INSERT INTO selected SELECT id FROM tasks WHERE \(condition)")
    private static let selectOne = Query(
        """
        INSERT OR IGNORE INTO selected SELECT id FROM tasks
        WHERE id = ?9 AND (?10 IS NULL OR group_id = ?10) AND \(condition)
        """)
    private static let selectGroup = Query(
        "INSERT INTO selected SELECT id FROM tasks INDEXED BY tasks_by_group WHERE group_id = ?9 AND \(condition)")
    private static let clearSelected = Query("DELETE FROM selected")
    private static let insertSelected = Query("INSERT OR IGNORE INTO selected (id) VALUES (?)")
    private static let readSelected = Query("SELECT id FROM selected ORDER BY id")
    private static let countPlaces = Query(
        """
        SELECT lane_id, constraints_id, count(*) FROM selected CROSS JOIN tasks ON tasks.id = selected.id
        WHERE state = 1 AND due_boot_ms IS NULL GROUP BY lane_id, constraints_id
        """)
    private static let readLanes = Query(
        "SELECT DISTINCT lane_id FROM selected CROSS JOIN tasks ON tasks.id = selected.id")
    private static let clearRunning = Query("DELETE FROM running")
    private static let insertRunning = Query("INSERT OR IGNORE INTO running (id) VALUES (?)")
}
