internal import BackhaulModel

/// The table `tasks` has the values that change while a task is live (until it ends), in small rows. The state of a
/// running task is `waiting`, because the database does not record which tasks run.
///
/// Further statements are in the other files of this folder. Delays are in TaskDelays.swift, bulk changes are in
/// SelectedTasks.swift, and listings are in TaskListing.swift. Time-outs, and the order in which tasks get slots, are
/// in ReadyTasks.swift.
struct TaskTable {
    let connection: Connection

    // MARK: Making and finding

    /// Inserts the row. Returns nil when another task has the same idempotency key or destination.
    func insert(
        _ request: Request, in session: SessionID, lane: LaneID, group: GroupID?, constraints: ConstraintsID,
        round: UInt64, now: Int64
    ) throws(Failure) -> TaskID? {
        let state = request.startsSuspended ? TaskState.suspended : .waiting
        try connection.run(
            Self.insert, .id(session), .id(lane), .bits(round), .number(state.rawValue),
            .number(request.priority), .integer(now), .optional(request.idempotencyKey),
            .optional(request.destination?.path), .number(request.kind.rawValue),
            request.startsSuspended ? .integer(now) : .null, group.map { .id($0) } ?? .null, .id(constraints))
        guard connection.changes == 1 else { return nil }
        return TaskID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    /// Returns the task with this idempotency key, and the request as the host enqueued it.
    func find(key: String, in session: SessionID) throws(Failure) -> EnqueuedRow? {
        try connection.first(Self.selectByKey, .id(session), .text(key), read: EnqueuedRow.init(row:))
    }

    func hasKey(_ key: String, in session: SessionID) throws(Failure) -> Bool {
        try connection.first(Self.hasKey, .id(session), .text(key)) { row throws(Failure) in row.flag() } ?? false
    }

    /// Returns the live task that will place its file at the destination.
    func find(destination: String) throws(Failure) -> TaskID? {
        try connection.first(Self.selectByDestination, .text(destination)) { row throws(Failure) in row.taskID() }
    }

    /// Whether another live task has reserved the path, or will place its file there.
    func isTaken(_ path: String, exceptBy task: TaskID) throws(Failure) -> Bool {
        if try find(destination: path) != nil { return true }
        return try connection.first(Self.selectReserved, .text(path), .id(task)) { row throws(Failure) in row.taskID() }
            != nil
    }

    func reserve(_ path: String, for task: TaskID) throws(Failure) {
        try connection.run(Self.reserve, .id(task), .text(path))
    }

    func newest() throws(Failure) -> TaskID? {
        try connection.first(Self.selectNewest) { row throws(Failure) in row.optionalNumber().map(TaskID.init) } ?? nil
    }

    func countSuspended() throws(Failure) -> UInt64 {
        try connection.first(Self.countSuspended) { row throws(Failure) in row.number() } ?? 0
    }

    func lane(of task: TaskID) throws(Failure) -> LaneID? {
        try connection.first(Self.selectLane, .id(task)) { row throws(Failure) in row.laneID() }
    }

    /// Returns the live task, or nil when it has ended.
    func live(_ task: TaskID) throws(Failure) -> LiveTaskRow? {
        try connection.first(Self.selectLive, .id(task), read: LiveTaskRow.init(row:))
    }

    /// Returns a task in any state, for which another task waits.
    func predecessor(_ task: TaskID, in session: SessionID) throws(Failure) -> PredecessorRow? {
        try connection.first(Self.selectPredecessor, .id(task), .id(session), read: PredecessorRow.init(row:))
    }

    func claim(_ task: TaskID) throws(Failure) -> ClaimRow? {
        try connection.first(Self.selectClaim, .id(task), read: ClaimRow.init(row:))
    }

    // MARK: Progress

    /// Writes the progress. If the task has ended, writes nothing and returns false. The next function also returns
    /// false for an ended task.
    func write(_ progress: AttemptProgress, of task: TaskID) throws(Failure) -> Bool {
        try connection.run(
            Self.writeProgress, .id(task), .number(progress.attempts), .bits(progress.bytesReceived),
            .number(progress.furthestOffset), .flag(progress.madeProgress))
        return connection.changes == 1
    }

    /// Writes the record of an attempt. If the record has no failure, the stored failure of an earlier attempt stays.
    func write(_ record: AttemptRecord, of task: TaskID) throws(Failure) -> Bool {
        try connection.run(
            Self.writeAttempt, .id(task), .number(record.attempts), .number(record.attemptsWithoutProgress),
            .bits(record.bytesReceived), .number(record.httpStatus), .number(record.failure?.status.rawValue ?? 0),
            .number(record.failure?.domain.rawValue ?? 0), .integer(record.failure?.detail ?? 0),
            .optional(record.failure?.message), .number(record.furthestOffset), .bits(record.bytesSent),
            .flag(record.isUnderWay))
        return connection.changes == 1
    }

    /// Copies the counters of the task's finish intent to the task's row. Does nothing when there is no finish intent.
    func copyCountersFromIntent(of task: TaskID) throws(Failure) {
        try connection.run(Self.copyCounters, .id(task))
    }

    func markUnderWay(_ task: TaskID, attempts: UInt32) throws(Failure) {
        try connection.run(Self.markUnderWay, .id(task), .number(attempts))
    }

    // MARK: Changing

    /// Writes the end of the task. The task's file is usually at the destination. If the task has no destination, its
    /// file is usually at `keptFile`. The path of the file is stored only if the file is at another path. If the
    /// outcome has no response, the HTTP status is that of the response that was recorded with the finish intent.
    func end(_ task: TaskID, _ outcome: Outcome, keptFile: String, now: Int64) throws(Failure) {
        try connection.run(
            Self.end, .id(task), .number(outcome.state.rawValue), .integer(now), .number(outcome.attempts),
            .bits(outcome.bytesReceived), .bits(outcome.size), .number(outcome.response.httpStatus),
            .number(outcome.failure?.status.rawValue ?? 0), .number(outcome.failure?.domain.rawValue ?? 0),
            .integer(outcome.failure?.detail ?? 0), .optional(outcome.failure?.message), .optional(outcome.path),
            .text(keptFile), .bits(outcome.bytesSent))
    }

    /// Sets the path of an ended task's file.
    func setPath(_ path: String, of task: TaskID) throws(Failure) {
        try connection.run(Self.setPath, .id(task), .text(path))
    }

    func move(_ task: TaskID, to lane: LaneID) throws(Failure) {
        try connection.run(Self.setLane, .id(task), .id(lane))
    }

    /// Gives the task the part file with this number.
    func setPart(_ part: UInt64, of task: TaskID) throws(Failure) {
        try connection.run(Self.setPart, .id(task), .bits(part))
    }

    /// Gives the task a new part file with a new name.
    func renewPart(of task: TaskID) throws(Failure) { try connection.run(Self.renewPart, .id(task)) }

    /// Adds `step` milliseconds to the times from which the ages of live tasks are computed.
    func moveTimes(by step: Int64) throws(Failure) { try connection.run(Self.moveTimes, .integer(step)) }

    /// Removes the tasks in the temporary table `acknowledged`. The caller removes their rows in other tables.
    func removeAcknowledged() throws(Failure) { try connection.run(Self.removeAcknowledged) }

    // MARK: Conditions

    /// The SQL condition that the task is waiting. SQLite uses an index of live tasks only if the statement has the
    /// condition on `ended_ms`.
    static let isWaiting = "ended_ms IS NULL AND state = \(TaskState.waiting.sql)"
    /// The SQL condition that the task may get a slot: it is waiting and has no delay.
    static let isReady = "\(isWaiting) AND due_boot_ms IS NULL"
    /// The SQL condition for a row of `lanes`: a task of the lane is ready.
    static let isReadyInLane = "EXISTS (SELECT 1 FROM tasks WHERE lane_id = lanes.id AND \(isReady))"
    /// The SQL condition for a row of `sessions`: a waiting task of the session can start without a command of the
    /// host. Tasks that wait for the host's response to a challenge, and tasks that were set aside, do not count. A
    /// task that waits for another task does not count either, because the other task counts if it can start.
    static let startsInSession = """
        EXISTS (SELECT 1 FROM tasks WHERE session_id = sessions.id AND \(isWaiting)
            AND NOT \(TaskDelays.isDueAtEnd))
        """
    /// The SQL condition that lane ?1 has live tasks.
    static let isLiveInLane = "EXISTS (SELECT 1 FROM tasks WHERE lane_id = ?1 AND ended_ms IS NULL)"
    /// The SQL condition that group ?1 has tasks in any state.
    static let isInGroup = "EXISTS (SELECT 1 FROM tasks WHERE group_id = ?1)"
    /// The SQL condition for a row of `constraints`: a task refers to the row.
    static let statesConstraints =
        "EXISTS (SELECT 1 FROM tasks WHERE constraints_id = constraints.id AND constraints_id <> 0)"
    /// The SQL condition for a row of `challenges`: a task waits for the challenge.
    static let waitsForChallenge =
        "EXISTS (SELECT 1 FROM tasks WHERE challenge_id = challenges.id AND \(TaskDelays.isParked))"
    static let countOfChallenge =
        "(SELECT count(*) FROM tasks WHERE challenge_id = challenges.id AND \(TaskDelays.isParked))"
    /// The SQL value for a row of `activities`: the activity's last task, if that task has not ended.
    static let livingOfActivity =
        "(SELECT tasks.id FROM tasks WHERE tasks.id = last_task_id AND tasks.ended_ms IS NULL)"

    // MARK: Statements

    private static let insert = Query(
        """
        INSERT INTO tasks (session_id, lane_id, round, state, priority, enqueued_ms, idempotency_key, destination,
            task_kind, suspended_since_ms, group_id, constraints_id, part)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, random()) ON CONFLICT DO NOTHING
        """)
    /// The SQL condition for a row of `events`: the event is about the end of this row of `tasks`.
    private static let countSuspended = Query(
        """
        SELECT count(*) FROM lanes CROSS JOIN tasks
            ON lane_id = lanes.id AND ended_ms IS NULL AND state = \(TaskState.suspended.sql)
        """)
    private static let isAboutEnd =
        "events.session_id = tasks.session_id AND events.task_state = tasks.state AND events.task_id = tasks.id"
    private static let selectByKey = Query(
        EnqueuedRow.init(row:),
        """
        FROM tasks JOIN requests ON requests.task_id = tasks.id LEFT JOIN events ON \(isAboutEnd)
        WHERE tasks.session_id = ? AND idempotency_key = ?
        """)
    private static let hasKey = Query(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE session_id = ? AND idempotency_key = ?)")
    private static let selectByDestination = Query(
        "SELECT id FROM tasks WHERE destination = ? AND ended_ms IS NULL AND substr(destination, -1) <> '/'")
    private static let selectReserved = Query(
        "SELECT id FROM tasks WHERE reserved_path = ? AND ended_ms IS NULL AND id <> ? LIMIT 1")
    private static let reserve = Query("UPDATE tasks SET reserved_path = ?2 WHERE id = ?1")
    private static let selectNewest = Query("SELECT max(id) FROM tasks")
    private static let selectPredecessor = Query(
        PredecessorRow.init(row:), "FROM tasks WHERE id = ? AND session_id = ?")
    private static let selectLane = Query("SELECT lane_id FROM tasks WHERE id = ?")
    // A separate statement reads the task before the task ends. With RETURNING, SQLite would open a temporary table
    // each time.
    private static let selectLive = Query(LiveTaskRow.init(row:), "FROM tasks WHERE id = ? AND ended_ms IS NULL")
    private static let selectClaim = Query(ClaimRow.init(row:), "FROM tasks WHERE id = ?")
    private static let writeProgress = Query(
        """
        UPDATE tasks SET attempts = ?2, bytes_received = ?3, furthest_offset = max(furthest_offset, ?4),
            attempts_without_progress = iif(?5, 0, attempts_without_progress)
        WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let mismatches = "\(Status.checksumMismatch.sql), \(Status.sizeMismatch.sql)"
    private static let isOK = "?6 = \(Status.ok.sql)"
    private static let writeAttempt = Query(
        """
        UPDATE tasks SET attempts = ?2, attempts_without_progress = ?3, bytes_received = ?4,
            http_status = iif(?5 = 0, http_status, ?5), status = iif(\(isOK), status, ?6),
            error_domain = iif(\(isOK), error_domain, ?7), error_detail = iif(\(isOK), error_detail, ?8),
            error_message = iif(\(isOK), error_message, ?9), furthest_offset = max(furthest_offset, ?10),
            bytes_sent = max(bytes_sent, ?11), mismatches = mismatches + (?6 IN (\(mismatches))),
            is_under_way = ?12
        WHERE id = ?1 AND ended_ms IS NULL
        """)
    // The SQL values of a task's counters. If the task has a finish intent, the counters of the intent are newer.
    static let attemptsWithIntent = "max(tasks.attempts, ifnull(intents.attempts, 0))"
    static let bytesReceivedWithIntent = "ifnull(nullif(intents.bytes_received, 0), tasks.bytes_received)"
    static let httpStatusWithIntent = "ifnull(nullif(intents.http_status, 0), tasks.http_status)"
    private static let copyCounters = Query(
        """
        UPDATE tasks SET attempts = \(attemptsWithIntent), bytes_received = \(bytesReceivedWithIntent),
            http_status = \(httpStatusWithIntent)
        FROM intents WHERE tasks.id = ?1 AND intents.task_id = ?1 AND ended_ms IS NULL
        """)
    private static let markUnderWay = Query(
        "UPDATE tasks SET is_under_way = 1, attempts = max(attempts, ?2) WHERE id = ?1 AND ended_ms IS NULL")
    private static let statusOfIntent = "(SELECT \(httpStatusWithIntent) FROM intents WHERE intents.task_id = ?1)"
    private static let end = Query(
        """
        UPDATE tasks SET state = ?2, ended_ms = ?3, attempts = ?4, bytes_received = ?5, size = ?6,
            http_status = iif(?7 = 0, ifnull(\(statusOfIntent), http_status), ?7),
            status = ?8, error_domain = ?9, error_detail = ?10, error_message = ?11, \(TaskDelays.clearDelay),
            path = nullif(?12, ifnull(destination, ?13)), bytes_sent = max(bytes_sent, ?14)
        WHERE id = ?1
        """)
    private static let setPath = Query("UPDATE tasks SET path = ?2 WHERE id = ?1")
    private static let setLane = Query("UPDATE tasks SET lane_id = ?2 WHERE id = ?1")
    private static let setPart = Query("UPDATE tasks SET part = ?2 WHERE id = ?1")
    private static let renewPart = Query("UPDATE tasks SET part = random() WHERE id = ?")
    private static let moveTimes = Query(
        """
        UPDATE tasks SET enqueued_ms = enqueued_ms + ?1, suspended_since_ms = suspended_since_ms + ?1,
            own_end_ms = own_end_ms + ?1
        WHERE ended_ms IS NULL
        """)
    private static let removeAcknowledged = Query("DELETE FROM tasks WHERE id IN acknowledged")
}

/// The columns of a live task that are needed to end it.
struct LiveTaskRow {
    let session: SessionID
    let lane: LaneID
    let round: UInt64
    let challenge: ChallengeID?
    /// Whether the task was set aside, and does not count for its round and its group.
    let isAside: Bool
    /// The group for which the task counts.
    let group: GroupID?

    fileprivate init(row: inout Row) {
        session = row.sessionID("session_id")
        lane = row.laneID("lane_id")
        round = row.bits("round")
        challenge = row.optionalNumber("challenge_id").map(ChallengeID.init)
        isAside = row.flag(TaskDelays.isAside)
        let stated = row.optionalGroupID("group_id")
        group = isAside ? nil : stated
    }
}

/// A task for which another task waits.
struct PredecessorRow {
    let id: TaskID
    let state: TaskState
    let kind: TaskKind
    var hasEnded: Bool { state.hasEnded }

    fileprivate init(row: inout Row) {
        id = row.taskID("id")
        state = row.state("state")
        kind = TaskKind(rawValue: row.number("task_kind")) ?? .download
    }
}

/// The columns of a task that show where its file is.
struct ClaimRow {
    let session: SessionID
    let kind: TaskKind
    let state: TaskState
    let path: String?
    let destination: String?

    fileprivate init(row: inout Row) {
        session = row.sessionID("session_id")
        kind = TaskKind(rawValue: row.number("task_kind")) ?? .download
        state = row.state("state")
        path = row.optionalText("path")
        destination = row.optionalText("destination")
    }
}

/// A stored task that has the same idempotency key as a new request.
struct EnqueuedRow {
    let enqueued: Enqueued
    let isAside: Bool
    let constraints: ConstraintsID
    let request: Request
    let hasOptions: Bool

    fileprivate init(row: inout Row) throws(Failure) {
        enqueued = Enqueued(
            task: row.taskID("tasks.id"), disposition: .existing, state: row.state("state"),
            end: row.eventID("ifnull(events.id, 0)"))
        isAside = row.flag(TaskDelays.isAside)
        constraints = row.constraintsID("constraints_id")
        (request, hasOptions) = try row.request()
    }
}

extension Row {
    mutating func state(_ name: String) -> TaskState { TaskState(rawValue: number(name)) ?? .waiting }
}
