public import BackhaulModel

/// Tasks whose event was acknowledged, as far as their session remembers them.
extension Transaction {
    /// By id, those with greater ids. Ends early, with `more`, when they have `Limits.chunkSize` bytes together.
    public func history(
        of session: SessionID, after: TaskID, maximum: Int
    ) throws(Failure) -> (tasks: [TaskInfo], more: Bool) {
        if let limit = try historyLimit(session)?.limit { try trimHistory(session, to: limit) }
        let maximum = min(max(1, maximum), Limits.batchCount)
        var tasks: [TaskInfo] = []
        var room = Limits.chunkSize
        var more = false
        try connection.eachWhile(Self.select, .id(session), .id(after), .number(maximum + 1)) { row throws(Failure) in
            guard tasks.count < maximum, room > 0 else {
                more = true
                return false
            }
            let task = row.endedTask()
            room -= 200 + task.url.utf8.count + (task.destinationPath?.utf8.count ?? 0) + (task.userData?.count ?? 0)
            tasks.append(task)
            return true
        }
        return (tasks, more)
    }

    /// Moves the selected events' tasks into the history, the newest of them as far as its limit goes. The tasks
    /// themselves are deleted by the caller. Returns how many the history has then.
    func keepHistory(_ session: SessionID, selected: Int64) throws(Failure) -> Int64 {
        guard let (limit, count) = try historyLimit(session) else { return 0 }
        guard let limit else {
            try forgetAttemptsOfSelected(exceptNewest: 0)
            return count
        }
        if selected > limit { try forgetAttemptsOfSelected(exceptNewest: limit) }
        try connection.run(Self.insert, .integer(limit))
        let now = count + connection.changes
        // In batches: each costs a walk over those that stay.
        guard now > limit + max(64, limit / 4) else { return now }
        try trimHistory(session, to: limit)
        return limit
    }

    /// Removes the oldest.
    func trimHistory(_ session: SessionID, to limit: Int64) throws(Failure) {
        try connection.run(Self.forgetAttempts, .id(session), .integer(limit))
        try connection.run(Self.forgetTasks, .id(session), .integer(limit))
        guard connection.changes > 0 else { return }
        try connection.run(Self.setCount, .id(session), .integer(limit))
    }

    /// After the configuration has changed, and before the session goes.
    func trimHistory(_ session: SessionID, toConfigured: Bool) throws(Failure) {
        let limit = toConfigured ? try historyLimit(session)?.limit ?? 0 : 0
        try trimHistory(session, to: limit)
    }

    /// Nil limit: nothing is kept.
    private func historyLimit(_ session: SessionID) throws(Failure) -> (limit: Int64?, count: Int64)? {
        try connection.first(Self.selectLimit, .id(session)) { row throws(Failure) in
            (limit: row.optionalInteger(), count: row.integer())
        }
    }

    private static let selectLimit = Query("SELECT history_limit, history_count FROM sessions WHERE id = ?")
    private static let setCount = Query("UPDATE sessions SET history_count = ?2 WHERE id = ?1")
    // A kept file that nobody has claimed goes with the acknowledgement.
    private static let insert = Query(
        """
        INSERT OR REPLACE INTO history (task_id, session_id, round, state, kind, url, destination, path,
            idempotency_key, user_data, group_name, priority, status, error_domain, error_detail, error_message,
            http_status, attempts, size, enqueued_ms, ended_ms, constraints_id, lane_id, earliest_start_ms,
            latest_start_ms, expected_bytes_received, expected_bytes_sent, start_delayed_ms)
        SELECT tasks.id, tasks.session_id, tasks.round, state, task_kind, url, destination,
            iif(state = 4, ifnull(path, destination), NULL), idempotency_key, user_data,
            (SELECT name FROM groups WHERE groups.id = group_id), tasks.priority, status, error_domain, error_detail,
            error_message, http_status, attempts, size, enqueued_ms, ended_ms, constraints_id, lane_id,
            earliest_start_ms, request_options.latest_start_ms, expected_bytes_received, expected_bytes_sent,
            start_delayed_ms
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = events.task_id
            CROSS JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN request_options ON has_options AND request_options.task_id = tasks.id
        ORDER BY selected.id DESC LIMIT ?
        """)
    private static let older = """
        (SELECT task_id FROM history WHERE session_id = ?1 ORDER BY ended_ms DESC, task_id DESC LIMIT -1 OFFSET ?2)
        """
    private static let forgetAttempts = Query("DELETE FROM attempts WHERE task_id IN \(older)")
    private static let forgetTasks = Query("DELETE FROM history WHERE session_id = ?1 AND task_id IN \(older)")

    private static let select = Query(
        """
        SELECT task_id, round, state, kind, url, destination, path, idempotency_key, user_data, group_name, priority,
            status, error_domain, error_detail, error_message, http_status, attempts, size, enqueued_ms, ended_ms,
            earliest_start_ms, latest_start_ms, expected_bytes_received, expected_bytes_sent
        FROM history WHERE session_id = ? AND task_id > ? ORDER BY task_id LIMIT ?
        """)
}

extension Row {
    fileprivate mutating func endedTask() -> TaskInfo {
        let (id, round, state) = (taskID(), bits(), state())
        let kind = TaskKind(rawValue: number()) ?? .download
        let url = text()
        let (destination, path, key) = (optionalText(), optionalText(), optionalText())
        let (userData, group) = (optionalBlob(), optionalText())
        let priority: Int32 = number()
        let failure = failure()
        let httpStatus: Int32 = number()
        let attempts: UInt32 = number()
        let size = bits()
        var info = TaskInfo(
            id: id, round: round, state: state, reason: .none, reasonText: nil, nextAttemptMilliseconds: 0, url: url,
            destinationPath: destination, idempotencyKey: key, userData: userData, priority: priority,
            failure: failure, httpStatus: httpStatus, attempts: attempts, offset: size, size: size, bytesPerSecond: 0,
            enqueuedMilliseconds: integer())
        info.endedMilliseconds = integer()
        info.readStarts(&self)
        info.kind = kind
        info.path = path
        info.group = group
        return info
    }
}
