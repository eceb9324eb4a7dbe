internal import BackhaulModel

/// The table `history` contains each task that has ended and whose event the host has acknowledged. The session's
/// configuration limits the number of these tasks.
struct HistoryTable {
    let connection: Connection

    /// Copies to the history the tasks whose events are in the temporary table `selected`, except the tasks of the
    /// `skipped` oldest events. Returns the number of copied tasks.
    func insertSelected(exceptOldest skipped: Int64) throws(Failure) -> Int64 {
        try connection.run(Self.insertSelected, .integer(skipped))
        return connection.changes
    }

    /// Removes all tasks of the session except the `limit` newest. Returns false when there was nothing to remove.
    func removeOlder(of session: SessionID, than limit: Int64) throws(Failure) -> Bool {
        try connection.run(Self.removeOlder, .id(session), .integer(limit))
        return connection.changes > 0
    }

    /// Calls the body for the tasks with ids greater than `after`, sorted by id, until the body returns false.
    func each(
        of session: SessionID, after: TaskID, limit: Int, body: (TaskInfo) -> Bool
    ) throws(Failure) {
        try connection.eachWhile(Self.select, .id(session), .id(after), .number(limit)) { row throws(Failure) in
            body(TaskInfo(historyRow: &row))
        }
    }

    func timeline(of task: TaskID, in session: SessionID) throws(Failure) -> TaskTimeline? {
        try connection.first(Self.selectTimeline, .id(task), .id(session), read: TaskTimeline.init(historyRow:))
    }

    func url(of task: TaskID, in session: SessionID) throws(Failure) -> String? {
        try connection.first(Self.selectURL, .id(task), .id(session)) { row throws(Failure) in row.text() }
    }

    /// The SQL list of the events and tasks in the history of session ?1, without the ?2 newest tasks.
    static let older = """
        (SELECT event_id, task_id FROM history WHERE session_id = ?1 ORDER BY event_id DESC LIMIT -1 OFFSET ?2)
        """

    // The size of an upload is the size of its body. If a downloaded file is still in the store when the event of its
    // task is acknowledged, the file is removed. So the history has no path of such a file. If the file is at the
    // destination, the path is NULL. The rows are inserted in the order of their ids, so that SQLite adds each row at
    // the end of the table.
    private static let insertSelected = Query(
        """
        INSERT OR REPLACE INTO history (event_id, task_id, session_id, round, state, kind, url, destination, path,
            idempotency_key, user_data, group_name, priority, status, error_domain, error_detail, error_message,
            http_status, attempts, size, enqueued_ms, ended_ms, constraints_id, lane_id, earliest_start_ms,
            latest_start_ms, expected_bytes_received, expected_bytes_sent, start_delayed_ms)
        SELECT events.id, tasks.id, tasks.session_id, tasks.round, state, task_kind, url, destination,
            iif(state = \(TaskState.succeeded.sql), path, NULL), idempotency_key, user_data,
            (SELECT name FROM groups WHERE groups.id = group_id), tasks.priority, status, error_domain, error_detail,
            error_message, http_status, attempts,
            iif(task_kind = \(TaskKind.upload.rawValue), \(AttemptTable.bodySize), size), enqueued_ms, ended_ms,
            constraints_id, lane_id, earliest_start_ms, request_options.latest_start_ms, expected_bytes_received,
            expected_bytes_sent, start_delayed_ms
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = events.task_id
            CROSS JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN request_options ON has_options AND request_options.task_id = tasks.id
        ORDER BY selected.id LIMIT -1 OFFSET ?
        """)
    private static let removeOlder = Query("DELETE FROM history WHERE event_id IN (SELECT event_id FROM \(older))")
    private static let select = Query(
        TaskInfo.init(historyRow:), "FROM history WHERE session_id = ? AND task_id > ? ORDER BY task_id LIMIT ?")
    private static let selectTimeline = Query(
        TaskTimeline.init(historyRow:), "FROM history WHERE task_id = ? AND session_id = ?")
    private static let selectURL = Query("SELECT url FROM history WHERE task_id = ? AND session_id = ?")
}

extension TaskInfo {
    fileprivate init(historyRow row: inout Row) {
        let (id, round) = (row.taskID("task_id"), row.bits("round"))
        let state = row.state("state")
        let kind = TaskKind(rawValue: row.number("kind")) ?? .download
        let url = row.text("url")
        let destination = row.optionalText("destination")
        let path = row.optionalText("path")
        let key = row.optionalText("idempotency_key")
        let userData = row.optionalBlob("user_data")
        let group = row.optionalText("group_name")
        let priority: Int32 = row.number("priority")
        let failure = row.failure()
        let httpStatus: Int32 = row.number("http_status")
        let attempts: UInt32 = row.number("attempts")
        let isUpload = kind == .upload
        let bytes = row.bits("size")
        let size = isUpload ? 0 : bytes
        self.init(
            id: id, round: round, state: state, reason: .none, reasonText: nil, nextAttemptMilliseconds: 0, url: url,
            destinationPath: destination, idempotencyKey: key, userData: userData, priority: priority,
            failure: failure, httpStatus: httpStatus, attempts: attempts, offset: size, size: size, bytesPerSecond: 0,
            enqueuedMilliseconds: row.integer("enqueued_ms"))
        endedMilliseconds = row.integer("ended_ms")
        earliestStartMilliseconds = row.optionalInteger("earliest_start_ms")
        latestStartMilliseconds = row.optionalInteger("latest_start_ms")
        expectedBytesReceived = row.optionalBits("expected_bytes_received")
        expectedBytesSent = row.optionalBits("expected_bytes_sent")
        self.kind = kind
        if isUpload { (bodySize, bodySent) = (bytes, state == .succeeded ? bytes : 0) }
        self.path = path ?? (state == .succeeded ? destination : nil)
        self.group = group
    }
}

extension TaskTimeline {
    fileprivate init(historyRow row: inout Row) {
        self.init(
            enqueued: row.integer("enqueued_ms"), ended: row.optionalInteger("ended_ms"),
            constraints: row.constraintsID("constraints_id"), lane: row.laneID("lane_id"),
            earliestStart: row.optionalInteger("earliest_start_ms"),
            latestStart: row.optionalInteger("latest_start_ms"),
            startDelayed: row.optionalInteger("start_delayed_ms"))
    }
}
