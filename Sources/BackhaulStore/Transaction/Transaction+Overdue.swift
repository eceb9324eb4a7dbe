public import BackhaulModel

/// Resource time-outs of tasks that wait for their turn, for days if what they wait for does not come. Asked again and
/// again while tasks are held, so both kinds stand in an index in the order of their ends.
extension Transaction {
    /// Waiting tasks of the session whose time is over, running and delayed ones among them. `now`: by the calendar of
    /// the rows' ages.
    public func overdue(of session: SessionID, limit: Int, now: Int64) throws(Failure) -> [StoredTask] {
        var ids = try connection.all(
            Self.selectOwn, .id(session), .integer(now), .number(limit)) { row throws(Failure) in row.taskID() }
        // Nobody has waited for longer than there are times.
        let (age, isForEver) = now.subtractingReportingOverflow(try timeout(of: session))
        if !isForEver {
            ids += try connection.all(
                Self.selectByAge, .id(session), .integer(age), .number(max(0, limit - ids.count))
            ) { row throws(Failure) in row.taskID() }
        }
        var tasks: [StoredTask] = []
        for id in ids {
            if let task = try storedTask(id) { tasks.append(task) }
        }
        return tasks
    }

    /// When the time of the next waiting task of the session is over, by the calendar of the rows' ages.
    public func nextEndOfTime(_ session: SessionID) throws(Failure) -> Int64? {
        let own = try connection.first(Self.selectNextOwn, .id(session)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
        let oldest = try connection.first(Self.selectOldest, .id(session)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
        guard let oldest else { return own }
        let (end, isForEver) = oldest.addingReportingOverflow(try timeout(of: session))
        return isForEver ? own : min(own ?? end, end)
    }

    private func timeout(of session: SessionID) throws(Failure) -> Int64 {
        try connection.first(Self.selectTimeout, .id(session)) { row throws(Failure) in row.integer() } ?? .max
    }

    private static let selectTimeout = Query("SELECT resource_timeout_ms FROM sessions WHERE id = ?")
    private static let selectByAge = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_age
        WHERE session_id = ? AND state = 1 AND own_end_ms IS NULL AND enqueued_ms + suspended_ms <= ?
        ORDER BY enqueued_ms + suspended_ms LIMIT ?
        """)
    private static let selectOldest = Query(
        """
        SELECT min(enqueued_ms + suspended_ms) FROM tasks INDEXED BY tasks_by_age
        WHERE session_id = ? AND state = 1 AND own_end_ms IS NULL
        """)
    private static let selectOwn = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_own_end
        WHERE session_id = ? AND state = 1 AND own_end_ms <= ? ORDER BY own_end_ms LIMIT ?
        """)
    private static let selectNextOwn = Query(
        "SELECT min(own_end_ms) FROM tasks WHERE session_id = ? AND state = 1 AND own_end_ms IS NOT NULL")
}
