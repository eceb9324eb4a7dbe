public import BackhaulModel

/// Attempts of tasks: a row for each, written in the transaction that ends or retries.
extension Transaction {
    /// One that has its number takes its place: what is known before an attempt is over is written down, too.
    func record(_ attempt: Attempt) throws(Failure) {
        let metrics = attempt.metrics
        try connection.run(
            Self.insert,
            [
                .id(attempt.task), .number(attempt.number), .number(attempt.next.rawValue),
                .integer(attempt.nextAttemptMilliseconds), .number((attempt.failure?.status ?? .ok).rawValue),
                .number((attempt.failure?.domain ?? .none).rawValue), .integer(attempt.failure?.detail ?? 0),
                .optional(attempt.failure?.message), .number(attempt.httpStatus), .bits(attempt.offset),
                .bits(attempt.endOffset), .integer(metrics.startedMilliseconds),
                metrics.url.isEmpty ? .null : .text(metrics.url), .number(metrics.redirects),
                .optional(metrics.domainLookup), .optional(metrics.connect), .optional(metrics.secureConnection),
                .optional(metrics.requestStart), .optional(metrics.requestEnd), .optional(metrics.responseStart),
                .optional(metrics.responseEnd), .optional(metrics.networkProtocol), .flag(metrics.reusedConnection),
                .flag(metrics.proxyConnection), .optional(metrics.localAddress), .number(metrics.localPort),
                .optional(metrics.remoteAddress), .number(metrics.remotePort), .optional(metrics.tlsVersion),
                .optional(metrics.tlsCipher), .bits(metrics.requestHeaderBytes), .bits(metrics.requestBodyBytes),
                .bits(metrics.responseHeaderBytes), .bits(metrics.responseBodyBytes),
            ])
        // The first stays, and with it as many as are listed.
        let kept = UInt32(Limits.attemptCount)
        guard attempt.number > kept else { return }
        try connection.run(Self.forgetOlder, .id(attempt.task), .number(attempt.number - kept + 1))
    }

    /// Those of acknowledged tasks that are not kept in the history.
    func forgetAttemptsOfSelected(exceptNewest kept: Int64) throws(Failure) {
        try connection.run(Self.forgetSelected, .integer(kept))
    }

    /// Oldest first, the first and the newest of many. Throws notFound when the session has no such task, not even in
    /// its history.
    public func attempts(of task: TaskID, in session: SessionID) throws(Failure) -> [Attempt] {
        let url = try connection.first(Self.selectURL, .id(task), .id(session)) { row throws(Failure) in
            row.optionalText()
        }
        guard let url = url ?? nil else { throw Failure(.notFound, "the session has no task \(task.rawValue)") }
        return try connection.all(Self.select, .id(task)) { row throws(Failure) in row.attempt(url) }
    }

    private static let columns = """
        task_id, number, next, next_attempt_ms, status, error_domain, error_detail, error_message, http_status,
        "offset", end_offset, started_ms, url, redirects, domain_lookup_us, connect_us, secure_connection_us,
        request_start_us, request_end_us, response_start_us, response_end_us, protocol, reused_connection,
        proxy_connection, local_address, local_port, remote_address, remote_port, tls_version, tls_cipher,
        request_header_bytes, request_body_bytes, response_header_bytes, response_body_bytes
        """
    private static let insert = Query(
        """
        INSERT OR REPLACE INTO attempts (\(columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let forgetOlder = Query("DELETE FROM attempts WHERE task_id = ?1 AND number > 1 AND number <= ?2")
    private static let forgetSelected = Query(
        """
        DELETE FROM attempts WHERE task_id IN
            (SELECT task_id FROM selected CROSS JOIN events ON events.id = selected.id WHERE task_id IS NOT NULL
                ORDER BY selected.id DESC LIMIT -1 OFFSET ?)
        """)
    private static let select = Query(
        "SELECT \(columns) FROM attempts WHERE task_id = ? ORDER BY number LIMIT \(Limits.attemptCount)")
    private static let selectURL = Query(
        """
        SELECT ifnull(
            (SELECT url FROM tasks JOIN requests ON requests.task_id = tasks.id
                WHERE tasks.id = ?1 AND session_id = ?2),
            (SELECT url FROM history WHERE task_id = ?1 AND session_id = ?2))
        """)
}

extension Row {
    fileprivate mutating func attempt(_ requested: String) -> Attempt {
        var attempt = Attempt(
            task: taskID(), number: number(), next: AttemptNext(rawValue: number()) ?? .stopped)
        attempt.nextAttemptMilliseconds = integer()
        attempt.failure = failure()
        attempt.httpStatus = number()
        attempt.offset = bits()
        attempt.endOffset = bits()
        attempt.metrics = metrics(requested)
        return attempt
    }

    private mutating func metrics(_ requested: String) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.startedMilliseconds = integer()
        metrics.url = optionalText() ?? requested
        metrics.redirects = number()
        metrics.domainLookup = optionalInteger()
        metrics.connect = optionalInteger()
        metrics.secureConnection = optionalInteger()
        metrics.requestStart = optionalInteger()
        metrics.requestEnd = optionalInteger()
        metrics.responseStart = optionalInteger()
        metrics.responseEnd = optionalInteger()
        metrics.networkProtocol = optionalText()
        metrics.reusedConnection = flag()
        metrics.proxyConnection = flag()
        metrics.localAddress = optionalText()
        metrics.localPort = number()
        metrics.remoteAddress = optionalText()
        metrics.remotePort = number()
        metrics.tlsVersion = optionalText()
        metrics.tlsCipher = optionalText()
        metrics.requestHeaderBytes = bits()
        metrics.requestBodyBytes = bits()
        metrics.responseHeaderBytes = bits()
        metrics.responseBodyBytes = bits()
        return metrics
    }
}
