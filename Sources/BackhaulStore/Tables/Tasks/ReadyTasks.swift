internal import BackhaulModel

/// Reads rows of the table `tasks` with the help of indexes. Ready tasks (waiting tasks without a delay) are read in
/// the order in which they get slots. Other functions find tasks by their resource time-outs.
struct ReadyTasks {
    let connection: Connection

    /// A ready task. Positions are sorted in the order in which the tasks get slots.
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

    /// Calls the body for the ready tasks of the lane (one session and one server) that have these constraints, until
    /// the body returns false. The tasks are read in the order in which they get slots.
    func each(
        of lane: LaneID, stating constraints: ConstraintsID, body: (Position) -> Bool
    ) throws(Failure) {
        try connection.eachWhile(Self.selectPositions, .id(lane), .id(constraints)) { row throws(Failure) in
            body(Position(row: &row))
        }
    }

    /// Returns the smallest constraints id above `last` among the lane's ready tasks. If `last` is nil, returns the
    /// smallest of all these ids.
    func nextConstraints(after last: ConstraintsID?, in lane: LaneID) throws(Failure) -> ConstraintsID? {
        try connection.first(Self.selectNext, .id(lane), last.map { .id($0) } ?? .integer(-1)) { row throws(Failure) in
            row.constraintsID()
        }
    }

    /// For each lane and each id of constraints, counts the ready tasks. Listings show these numbers. If there are many
    /// ready tasks, this call is slow, because it reads all of them.
    func counts() throws(Failure) -> [WaitingCount] {
        try connection.all(Self.count, read: WaitingCount.init(row:))
    }

    // MARK: Resource time-outs

    /// Returns the session's waiting tasks whose own resource time-out has passed, sorted by the end of the time-out. A
    /// task has its own time-out if the task's request states one.
    func overdue(of session: SessionID, now: Int64, limit: Int) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectOverdue, .id(session), .integer(now), .number(limit)) { row throws(Failure) in
            row.taskID()
        }
    }

    /// Returns the session's waiting tasks that were enqueued at `time` or earlier, oldest first. Tasks with a resource
    /// time-out of their own are left out. The time for which a task was suspended is added to its time of enqueue.
    func enqueued(of session: SessionID, before time: Int64, limit: Int) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectByAge, .id(session), .integer(time), .number(limit)) { row throws(Failure) in
            row.taskID()
        }
    }

    /// Returns the earliest end of the waiting tasks' own resource time-outs.
    func nextOwnTimeoutEnd(of session: SessionID) throws(Failure) -> Int64? {
        try connection.first(Self.selectNextOwnEnd, .id(session)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
    }

    /// Returns the earliest time of enqueue of the waiting tasks without a resource time-out of their own. The time for
    /// which a task was suspended is added to its time of enqueue.
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
