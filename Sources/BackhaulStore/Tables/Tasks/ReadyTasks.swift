internal import BackhaulModel

/// Reads of the table `tasks` that an index makes fast: ready tasks in the order of slots, and tasks by their resource
/// time-outs.
struct ReadyTasks {
    let connection: Connection

    /// A ready task, compared by the order in which tasks get slots.
    struct Position: Comparable {
        let priority: Int64
        let id: TaskID

        fileprivate init(row: inout Row) {
            priority = row.integer("priority")
            id = row.taskID("id")
        }

        static func < (left: Position, right: Position) -> Bool {
            left.priority != right.priority ? left.priority > right.priority : left.id < right.id
        }
    }

    /// Calls the body for the lane's ready tasks with these constraints, in the order of slots, until it returns false.
    func each(
        of lane: LaneID, stating constraints: ConstraintsID, body: (Position) -> Bool
    ) throws(Failure) {
        try connection.eachWhile(Self.selectPositions, .id(lane), .id(constraints)) { row throws(Failure) in
            body(Position(row: &row))
        }
    }

    /// Returns the next greater constraints id among the lane's ready tasks, or the smallest if `last` is nil.
    func nextConstraints(after last: ConstraintsID?, in lane: LaneID) throws(Failure) -> ConstraintsID? {
        try connection.first(Self.selectNext, .id(lane), last.map { .id($0) } ?? .integer(-1)) { row throws(Failure) in
            row.constraintsID()
        }
    }

    /// Counts the ready tasks of each lane with the same constraints, for listings. This call is slow for many tasks,
    /// because it reads all of them.
    func counts() throws(Failure) -> [WaitingCount] {
        try connection.all(Self.count, read: WaitingCount.init(row:))
    }

    // MARK: Resource time-outs

    /// Returns the session's waiting tasks whose own resource time-out has passed, in the order of their ends.
    func overdue(of session: SessionID, now: Int64, limit: Int) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectOverdue, .id(session), .integer(now), .number(limit)) { row throws(Failure) in
            row.taskID()
        }
    }

    /// Returns the session's waiting tasks without their own time-out that were enqueued at `age` or earlier, oldest
    /// first. The time of enqueue includes the time of suspension.
    func enqueued(of session: SessionID, before age: Int64, limit: Int) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectByAge, .id(session), .integer(age), .number(limit)) { row throws(Failure) in
            row.taskID()
        }
    }

    /// Returns when the next of the tasks' own resource time-outs ends.
    func nextOwnTimeoutEnd(of session: SessionID) throws(Failure) -> Int64? {
        try connection.first(Self.selectNextOwnEnd, .id(session)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
    }

    /// Returns when the oldest task without its own time-out was enqueued, plus its time of suspension.
    func oldest(of session: SessionID) throws(Failure) -> Int64? {
        try connection.first(Self.selectOldest, .id(session)) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    private static let selectPositions = Query(
        Position.init(row:),
        """
        FROM tasks WHERE lane_id = ? AND \(TaskTable.isReady) AND constraints_id = ? ORDER BY priority DESC, id
        """)
    private static let selectNext = Query(
        """
        SELECT constraints_id FROM tasks
        WHERE lane_id = ? AND \(TaskTable.isReady) AND constraints_id > ? ORDER BY constraints_id LIMIT 1
        """)
    private static let count = Query(
        WaitingCount.init(row:),
        """
        FROM lanes CROSS JOIN tasks ON lane_id = lanes.id AND \(TaskTable.isReady)
        GROUP BY lanes.id, constraints_id
        """)
    private static let isOfSession = "session_id = ? AND \(TaskTable.isWaiting)"
    private static let selectByAge = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_age
        WHERE \(isOfSession) AND own_end_ms IS NULL AND enqueued_ms + suspended_ms <= ?
        ORDER BY enqueued_ms + suspended_ms LIMIT ?
        """)
    private static let selectOldest = Query(
        """
        SELECT min(enqueued_ms + suspended_ms) FROM tasks INDEXED BY tasks_by_age
        WHERE \(isOfSession) AND own_end_ms IS NULL
        """)
    private static let selectOverdue = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_own_end
        WHERE \(isOfSession) AND own_end_ms <= ? ORDER BY own_end_ms LIMIT ?
        """)
    private static let selectNextOwnEnd = Query(
        "SELECT min(own_end_ms) FROM tasks WHERE \(isOfSession) AND own_end_ms IS NOT NULL")
}

extension WaitingCount {
    fileprivate init(row: inout Row) {
        self.init(
            session: row.sessionID("lanes.session_id"), constraints: row.constraintsID("constraints_id"),
            lane: row.laneID("lanes.id"), count: row.number("count(*)"))
    }
}
