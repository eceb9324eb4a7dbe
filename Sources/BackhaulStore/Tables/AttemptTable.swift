internal import BackhaulModel

/// The table `attempts` has the first attempt of each task and the newest ones (`AttemptOperations`). After the task's
/// event is acknowledged, the rows stay as long as the task is in the history.
struct AttemptTable {
    let connection: Connection

    /// Writes the attempt. It replaces an attempt with the same number.
    func write(_ attempt: Attempt) throws(Failure) {
        try connection.run(Self.write, NewRow.values { attempt.write(to: &$0) })
    }

    /// Removes the attempts with numbers up to `number`. Keeps the first attempt, and the attempt with the greatest
    /// possible number, because this row stands for all later attempts.
    func removeOlder(of task: TaskID, through number: UInt32) throws(Failure) {
        let last = AttemptKey(task: task, number: min(number, AttemptKey.greatest - 1))
        try connection.run(
            Self.removeOlder, .bits(AttemptKey(task: task, number: 2).id), .bits(last.id))
    }

    /// Removes the attempts of the tasks whose events are in the temporary table `selected`. Keeps the attempts of the
    /// `kept` newest of these tasks.
    func removeOfSelected(exceptNewest kept: Int64) throws(Failure) {
        try connection.run(Self.removeOfSelected, .integer(kept))
    }

    /// Removes the attempts of tasks in the session's history, except the attempts of the `kept` newest tasks.
    func removeOfHistory(_ session: SessionID, exceptNewest kept: Int64) throws(Failure) {
        try connection.run(Self.removeOfHistory, .id(session), .integer(kept))
    }

    /// Returns the attempts, sorted by number. `url` is the URL of the task's request.
    func all(of task: TaskID, url: String) throws(Failure) -> [Attempt] {
        try connection.all(Self.select, .id(task)) { row throws(Failure) in try Attempt(row: &row, url) }
    }

    /// Returns the times of the attempts, sorted by number.
    func times(of task: TaskID) throws(Failure) -> [AttemptTimes] {
        try connection.all(Self.selectTimes, .id(task), read: AttemptTimes.init(row:))
    }

    /// The SQL expression for the size of an upload's body. The size of a file is not stored, so the attempt that has
    /// succeeded shows it.
    static let bodySize = """
        coalesce(body_size, CASE WHEN state = \(TaskState.succeeded.sql) AND task_kind = \(TaskKind.upload.rawValue)
            THEN coalesce((SELECT request_body_bytes FROM attempts WHERE \(AttemptKey.isOf("tasks.id"))
                ORDER BY attempts.id DESC LIMIT 1), bytes_sent) END, 0)
        """
    /// The SQL condition that an attempt is of the task `task_id`.
    private static let isOfTask = AttemptKey.isOf("task_id")
    /// The SQL condition that an attempt is of task ?1.
    private static let isOfParameter = AttemptKey.isOf("?1")

    private static let write = Query("INSERT OR REPLACE INTO attempts") {
        Attempt(task: TaskID(rawValue: 0), number: 0, next: .end).write(to: &$0)
    }
    private static let removeOlder = Query("DELETE FROM attempts WHERE id BETWEEN ? AND ?")
    private static let removeOfSelected = Query(
        """
        DELETE FROM attempts WHERE id IN (SELECT attempts.id FROM
            (SELECT task_id FROM selected CROSS JOIN events ON events.id = selected.id WHERE task_id IS NOT NULL
                ORDER BY selected.id DESC LIMIT -1 OFFSET ?) CROSS JOIN attempts ON \(isOfTask))
        """)
    private static let removeOfHistory = Query(
        """
        DELETE FROM attempts WHERE id IN (SELECT attempts.id FROM \(HistoryTable.older) CROSS JOIN attempts
            ON \(isOfTask))
        """)
    private static let select = Query(
        { (row) throws(Failure) in try Attempt(row: &row, "") },
        "FROM attempts WHERE \(isOfParameter) ORDER BY id LIMIT \(Limits.attemptCount)")
    private static let selectTimes = Query(
        AttemptTimes.init(row:), "FROM attempts WHERE \(isOfParameter) ORDER BY id")
}

/// The task and the number of an attempt. The row's id has both values, so that new rows are near the end of
/// the table.
private struct AttemptKey {
    private static let numberBits = 20
    /// Attempts with greater numbers get this number, so each of them replaces the one before.
    static let greatest: UInt32 = 1 << numberBits - 1

    let task: TaskID
    let number: UInt32

    init(task: TaskID, number: UInt32) {
        self.task = task
        self.number = min(number, Self.greatest)
    }

    init(id: UInt64) {
        task = TaskID(rawValue: id >> UInt64(Self.numberBits))
        number = UInt32(truncatingIfNeeded: id) & Self.greatest
    }

    var id: UInt64 { task.rawValue << UInt64(Self.numberBits) | UInt64(number) }

    /// The SQL condition for a row of `attempts`: the attempt is of this task.
    static func isOf(_ task: String) -> String {
        "attempts.id BETWEEN (\(task) << \(numberBits)) AND (\(task) << \(numberBits) | \(greatest))"
    }
}

/// When an attempt ran, and what followed the attempt. The times are Unix milliseconds.
struct AttemptTimes {
    var began: Int64
    /// The end of the attempt's last phase (such as the connect or the response) whose time was measured.
    var ended: Int64
    var next: AttemptNext
    var nextAttempt: Int64
    var status: Status
    var message: String?

    fileprivate init(row: inout Row) {
        began = row.integer("started_ms")
        ended = began &+ max(0, row.integer(Self.duration))
        next = AttemptNext(rawValue: row.number("next")) ?? .stopped
        nextAttempt = row.integer("next_attempt_ms")
        status = Status(rawValue: row.number("status")) ?? .ok
        message = row.optionalText("error_message")
    }

    private static let duration = """
        max(ifnull(domain_lookup_us, 0), ifnull(connect_us, 0), ifnull(secure_connection_us, 0),
            ifnull(request_start_us, 0), ifnull(request_end_us, 0), ifnull(response_start_us, 0),
            ifnull(response_end_us, 0)) / 1000
        """
}

extension Attempt {
    fileprivate init(row: inout Row, _ requested: String) throws(Failure) {
        let key = AttemptKey(id: row.bits("id"))
        self.init(
            task: key.task, number: key.number,
            next: AttemptNext(rawValue: row.number("next")) ?? .stopped)
        nextAttemptMilliseconds = row.integer("next_attempt_ms")
        failure = row.failure()
        httpStatus = row.number("http_status")
        offset = row.bits("\"offset\"")
        endOffset = row.bits("end_offset")
        metrics.url = row.optionalText("url") ?? requested
        try metrics.visitFields(with: &row)
    }

    fileprivate func write(to row: inout NewRow) {
        row.set("id", .bits(AttemptKey(task: task, number: number).id))
        row.set("next", .number(next.rawValue))
        row.set("next_attempt_ms", .integer(nextAttemptMilliseconds))
        row.set("status", .number((failure?.status ?? .ok).rawValue))
        row.set("error_domain", .number((failure?.domain ?? .none).rawValue))
        row.set("error_detail", .integer(failure?.detail ?? 0))
        row.set("error_message", .optional(failure?.message))
        row.set("http_status", .number(httpStatus))
        row.set("\"offset\"", .bits(offset))
        row.set("end_offset", .bits(endOffset))
        row.set("url", metrics.url.isEmpty ? .null : .text(metrics.url))
        var metrics = metrics
        metrics.visitFields(with: &row)
    }
}

extension Row {
    /// Reads the columns of `tasks`, `attempts` and `history` that describe a failure.
    mutating func failure() -> Failure? {
        let status = Status(rawValue: number("status")) ?? .internal
        let domain = FailureDomain(rawValue: number("error_domain")) ?? .none
        let detail = integer("error_detail")
        let message = optionalText("error_message")
        guard status != .ok else { return nil }
        return Failure(status, message ?? "the task was cancelled", domain: domain, detail: detail)
    }
}
