internal import BackhaulModel

/// The indexes of `tasks` that say whose turn it is, and whose time is over.
struct TaskTurns {
    let connection: Connection

    /// A ready task in the order of the turns.
    struct Turn: Comparable {
        let priority: Int64
        let id: TaskID

        fileprivate init(row: inout Row) {
            priority = row.integer("priority")
            id = row.taskID("id")
        }

        static func < (left: Turn, right: Turn) -> Bool {
            left.priority != right.priority ? left.priority > right.priority : left.id < right.id
        }
    }

    /// The ready tasks that state this, in the order of their turns, until the body returns false.
    func each(
        of lane: LaneID, stating constraints: ConstraintsID, body: (Turn) -> Bool
    ) throws(Failure) {
        try connection.eachWhile(Self.selectTurns, .id(lane), .id(constraints)) { row throws(Failure) in
            body(Turn(row: &row))
        }
    }

    /// What ready tasks of the lane state next to this; nil: the first.
    func nextConstraints(after last: ConstraintsID?, in lane: LaneID) throws(Failure) -> ConstraintsID? {
        try connection.first(Self.selectNext, .id(lane), last.map { .id($0) } ?? .integer(-1)) { row throws(Failure) in
            row.constraintsID()
        }
    }

    /// How many tasks are ready, for listings: it walks over all of them.
    func counts() throws(Failure) -> [WaitingCount] {
        try connection.all(Self.count, read: WaitingCount.init(row:))
    }

    // MARK: Resource time-outs

    /// Waiting tasks with time-outs of their own that are over, the oldest first.
    func overdue(of session: SessionID, now: Int64, limit: Int) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectOverdue, .id(session), .integer(now), .number(limit)) { row throws(Failure) in
            row.taskID()
        }
    }

    /// Waiting tasks with their session's time-out, the oldest first.
    func enqueued(of session: SessionID, before age: Int64, limit: Int) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectByAge, .id(session), .integer(age), .number(limit)) { row throws(Failure) in
            row.taskID()
        }
    }

    /// The first end of the former.
    func nextOwnEnd(of session: SessionID) throws(Failure) -> Int64? {
        try connection.first(Self.selectNextOwnEnd, .id(session)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
    }

    /// When the oldest of the latter was enqueued, its suspensions left out.
    func oldest(of session: SessionID) throws(Failure) -> Int64? {
        try connection.first(Self.selectOldest, .id(session)) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    private static let selectTurns = Query(
        Turn.init(row:),
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
