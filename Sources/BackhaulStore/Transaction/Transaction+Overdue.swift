public import BackhaulModel

/// Resource time-outs of tasks that wait for their turn, for days if what they wait for does not come. Tasks have ids
/// in the order of their enqueue, and most have their session's time-out: those whose time is over stand in front.
extension Transaction {
    /// Waiting tasks of the session whose time is over, running and delayed ones among them. `now`: by the calendar of
    /// the rows' ages.
    public func overdue(of session: SessionID, limit: Int, now: Int64) throws(Failure) -> [StoredTask] {
        var ids = try connection.all(
            Self.selectOwn, .id(session), .integer(now), .number(limit)) { row throws(Failure) in row.taskID() }
        try eachByAge(session) { id, enqueued, end in
            guard ids.count < limit, enqueued - Self.disorder <= now else { return false }
            if end <= now { ids.append(id) }
            return true
        }
        var tasks: [StoredTask] = []
        for id in ids {
            if let task = try storedTask(id) { tasks.append(task) }
        }
        return tasks
    }

    /// When the time of the next waiting task of the session is over, by the calendar of the rows' ages.
    public func nextEndOfTime(_ session: SessionID) throws(Failure) -> Int64? {
        var next = try connection.first(Self.selectNextOwn, .id(session)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
        try eachByAge(session) { _, enqueued, end in
            // Nothing that was enqueued later ends before.
            if let next, enqueued - Self.disorder >= next { return false }
            next = min(next ?? end, end)
            return true
        }
        return next
    }

    /// Those with the session's time-out, oldest first. `earliest`: the end of its time had it never been suspended.
    private func eachByAge(
        _ session: SessionID, body: (_ id: TaskID, _ earliest: Int64, _ end: Int64) -> Bool
    ) throws(Failure) {
        let timeout = try connection.first(Self.selectTimeout, .id(session)) { row throws(Failure) in row.integer() }
        guard let timeout else { return }
        try connection.eachWhile(Self.selectByAge, .id(session)) { row throws(Failure) in
            let id = row.taskID()
            let enqueued = row.integer()
            let suspended = row.integer()
            let hasOwn = row.flag()
            let (earliest, overflow) = enqueued.addingReportingOverflow(timeout)
            guard !overflow else { return true }
            return hasOwn || body(id, earliest, earliest.addingReportingOverflow(suspended).partialValue)
        }
    }

    /// How far the calendar may go back between two enqueues without being set right.
    private static let disorder = 2 * CalendarJump.tolerance
    private static let selectTimeout = Query("SELECT resource_timeout_ms FROM sessions WHERE id = ?")
    private static let selectByAge = Query(
        """
        SELECT id, enqueued_ms, suspended_ms, own_end_ms IS NOT NULL FROM tasks INDEXED BY tasks_by_state
        WHERE session_id = ? AND state = 1 ORDER BY id
        """)
    private static let selectOwn = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_own_end
        WHERE session_id = ? AND state = 1 AND own_end_ms <= ? ORDER BY own_end_ms LIMIT ?
        """)
    private static let selectNextOwn = Query(
        "SELECT min(own_end_ms) FROM tasks WHERE session_id = ? AND state = 1 AND own_end_ms IS NOT NULL")
}
