public import BackhaulModel

/// Tasks whose event was acknowledged, as far as their session remembers them.
extension Transaction {
    /// By id, those with greater ids.
    public func history(
        of session: SessionID, after: TaskID, maximum: Int
    ) throws(Failure) -> (tasks: [TaskInfo], more: Bool) {
        let maximum = min(max(1, maximum), Limits.batchCount)
        let found = try connection.all(
            Self.select, .id(session), .id(after), .number(maximum + 1)) { row throws(Failure) in row.endedTask() }
        return (Array(found.prefix(maximum)), found.count > maximum)
    }

    private static let select = Query(
        """
        SELECT task_id, round, state, kind, url, destination, path, idempotency_key, user_data, group_name, priority,
            status, error_domain, error_detail, error_message, http_status, attempts, size, enqueued_ms, ended_ms
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
        info.kind = kind
        info.path = path
        info.group = group
        return info
    }
}
