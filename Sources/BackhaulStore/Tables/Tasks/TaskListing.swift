internal import BackhaulModel

/// Reads rows of `tasks` joined with the other tables of a task, for listings and for the engine. The options of a task
/// are the rarely used fields of its request.
struct TaskListing {
    let connection: Connection

    // MARK: For the engine

    /// Returns the task without its options.
    func stored(_ id: TaskID) throws(Failure) -> StoredTaskRow? {
        try connection.first(Self.selectStored, .id(id), read: Self.stored)
    }

    /// Returns the waiting tasks with a finish intent (tasks whose files get their final names), without their options.
    func storedWithIntent() throws(Failure) -> [StoredTaskRow] {
        try connection.all(Self.selectWithIntent, read: Self.stored)
    }

    /// Returns a task in any state, without its options.
    func record(
        _ id: TaskID, _ files: StoreDirectory
    ) throws(Failure) -> (stored: StoredTaskRow, state: TaskState, outcome: Outcome)? {
        try connection.first(Self.selectRecord, .id(id)) { row throws(Failure) in try Self.record(&row, files) }
    }

    // MARK: For listings

    func info(_ id: TaskID, of session: SessionID) throws(Failure) -> TaskInfoRow? {
        try connection.first(Self.selectInfo, .id(id), .id(session), read: TaskInfoRow.init(row:))
    }

    /// Calls the body for tasks in these states with ids greater than `after`, sorted by id, until the body returns
    /// false. If `group` is not nil, only tasks of this group are read.
    func each(
        of session: SessionID, _ group: GroupID?, in states: TaskStates, after: TaskID, limit: Int,
        body: (TaskID) throws(Failure) -> Bool
    ) throws(Failure) {
        try connection.eachWhile(
            group == nil ? Self.selectIDs : Self.selectIDsOfGroup, group.map { .id($0) } ?? .id(session),
            .id(after), .flag(states.contains(TaskStates(.waiting))),
            .flag(states.contains(TaskStates(.running))), .flag(states.contains(TaskStates(.suspended))),
            .flag(states.contains(TaskStates(.succeeded))), .flag(states.contains(TaskStates(.failed))),
            .flag(states.contains(TaskStates(.cancelled))), .number(limit)
        ) { row throws(Failure) in try body(row.taskID()) }
    }

    func timeline(of task: TaskID, in session: SessionID) throws(Failure) -> TaskTimeline? {
        try connection.first(Self.selectTimeline, .id(task), .id(session), read: TaskTimeline.init(row:))
    }

    // MARK: -

    private static func record(
        _ row: inout Row, _ files: StoreDirectory?
    ) throws(Failure) -> (stored: StoredTaskRow, state: TaskState, outcome: Outcome) {
        let stored = try stored(&row)
        let (task, state) = (stored.task, row.state("state"))
        let outcome = try row.outcome(
            of: task.id, state: state, destination: task.request.destination?.path, attempts: task.attempts,
            bytesReceived: task.bytesReceived, files)
        return (stored, state, outcome)
    }

    private static let tables = """
        tasks JOIN requests ON requests.task_id = tasks.id
        LEFT JOIN checkpoints ON checkpoints.task_id = tasks.id LEFT JOIN intents ON intents.task_id = tasks.id
        """
    private static let live = "\(tables) JOIN lanes ON lanes.id = lane_id"
    private static let selectStored = Query(stored, "FROM \(live) WHERE tasks.id = ?")
    private static let selectWithIntent = Query(
        stored,
        """
        FROM intents AS pending CROSS JOIN \(live)
        WHERE tasks.id = pending.task_id AND \(TaskTable.isWaiting) AND NOT \(TaskDelays.isAside)
        """)
    // LEFT JOIN lanes: an ended task may have no lane.
    private static let selectRecord = Query(
        { (row) throws(Failure) in try record(&row, nil) },
        """
        FROM \(tables) LEFT JOIN lanes ON lanes.id = lane_id LEFT JOIN responses ON responses.task_id = tasks.id
        WHERE tasks.id = ?
        """)

    /// The SELECT of the tasks in one state. Live tasks are found by their state, and ended tasks by their event. Each
    /// SELECT reads one range of an index, and `selectIDs` merges these ranges. So SQLite sorts no rows, and reads only
    /// rows of the wanted states.
    private static func range(_ state: TaskState, _ condition: String) -> String {
        state.hasEnded
            ? """
            SELECT task_id FROM events
            WHERE session_id = ?1 AND task_state = \(state.sql) AND task_id > ?2 AND \(condition)
            """
            : """
            SELECT id FROM tasks
            WHERE session_id = ?1 AND ended_ms IS NULL AND state = \(state.sql) AND id > ?2 AND \(condition)
            """
    }
    private static let selectIDs = Query(
        """
        \(range(.waiting, "(?3 OR ?4) AND iif(?3 = ?4, 1, iif(id IN running, ?4, ?3))"))
        UNION ALL \(range(.suspended, "?5")) UNION ALL \(range(.succeeded, "?6"))
        UNION ALL \(range(.failed, "?7")) UNION ALL \(range(.cancelled, "?8"))
        ORDER BY id LIMIT ?9
        """)
    private static let selectIDsOfGroup = Query(
        """
        SELECT id FROM tasks INDEXED BY tasks_by_group WHERE group_id = ?1 AND id > ?2 AND CASE state
            WHEN \(TaskState.waiting.sql) THEN iif(?3 = ?4, ?3, iif(id IN running, ?4, ?3))
            WHEN \(TaskState.suspended.sql) THEN ?5 WHEN \(TaskState.succeeded.sql) THEN ?6
            WHEN \(TaskState.failed.sql) THEN ?7 ELSE ?8 END
        ORDER BY id LIMIT ?9
        """)
    private static let selectInfo = Query(
        TaskInfoRow.init(row:),
        """
        FROM tasks JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN checkpoints ON checkpoints.task_id = tasks.id LEFT JOIN intents ON intents.task_id = tasks.id
            LEFT JOIN challenges ON challenges.id = challenge_id AND \(TaskDelays.isParked)
            LEFT JOIN groups ON groups.id = group_id
            LEFT JOIN request_options ON has_options AND request_options.task_id = tasks.id
        WHERE tasks.id = ? AND tasks.session_id = ?
        """)
    private static let selectTimeline = Query(
        TaskTimeline.init(row:),
        """
        FROM tasks LEFT JOIN request_options ON request_options.task_id = tasks.id
        WHERE tasks.id = ? AND session_id = ?
        """)
}

/// A task without its options. It is a tuple, because a struct of this size needs kilobytes of code for its copies.
typealias StoredTaskRow = (task: StoredTask, hasOptions: Bool)

extension TaskListing {
    fileprivate static func stored(_ row: inout Row) throws(Failure) -> StoredTaskRow {
        let id = row.taskID("tasks.id")
        let session = row.sessionID("tasks.session_id")
        let lane = row.laneID("lane_id")
        let round = row.bits("round")
        let attempts: UInt32 = row.number(TaskTable.attemptsWithIntent)
        let withoutProgress: UInt32 = row.number("attempts_without_progress")
        let received = row.bits(TaskTable.bytesReceivedWithIntent)
        let enqueued = row.integer("enqueued_ms")
        let priority: Int32 = row.number("tasks.priority")
        var (request, hasOptions) = try row.request()
        request.priority = priority
        var task = StoredTask(
            id: id, session: session, lane: lane, round: round, request: request, origin: Origin(row: &row),
            checkpoint: row.checkpoint(), intent: row.finishIntent(), attempts: attempts,
            attemptsWithoutProgress: withoutProgress, bytesReceived: received, enqueuedMilliseconds: enqueued,
            furthestOffset: row.bits("furthest_offset"), suspendedMilliseconds: row.integer("suspended_ms"),
            challenge: row.optionalNumber("challenge_id").map(ChallengeID.init))
        task.bytesSent = row.bits("bytes_sent")
        task.hadMismatch = row.flag("mismatches")
        task.isUnderWay = row.flag("is_under_way")
        task.constraints = row.constraintsID("constraints_id")
        task.part = row.bits("tasks.part")
        return (task, hasOptions)
    }
}

/// A task for listings. The store does not know which tasks run.
struct TaskInfoRow {
    /// The task's values. The state of a running task is `waiting`; the reason and the next attempt are not set.
    var info: TaskInfo
    let waitFacts: ListedTaskFacts
    let due: Int64?
    let dueReason: WaitReason
    let isFinishing: Bool
    /// The protection space (usually a server and its realm) of the challenge for which the task waits.
    let space: ProtectionSpace?
    /// The path of the task's file; nil if the file is at the destination, or is a download that stays in the store (a
    /// kept file).
    let path: String?

    fileprivate init(row: inout Row) {
        waitFacts = ListedTaskFacts(
            lane: row.laneID("lane_id"), constraints: row.constraintsID("constraints_id"),
            expectedSize: row.optionalBits("expected_size"))
        let (id, round, state) = (row.taskID("tasks.id"), row.bits("round"), row.state("state"))
        due = row.optionalInteger("due_boot_ms")
        dueReason = WaitReason(rawValue: row.number("due_reason")) ?? .retry
        isFinishing = row.flag("intents.task_id IS NOT NULL")
        let url = row.text("url")
        let destination = row.optionalText("destination")
        let key = row.optionalText("idempotency_key")
        let userData = row.optionalBlob("user_data")
        let priority: Int32 = row.number("tasks.priority")
        let failure = row.failure()
        let httpStatus: Int32 = row.number(TaskTable.httpStatusWithIntent)
        let attempts: UInt32 = row.number(TaskTable.attemptsWithIntent)
        let syncedOffset = row.bits("synced_offset")
        let sizeOfWhole = row.optionalBits("checkpoints.size")
        let sizeOfEnded = row.bits("tasks.size")
        info = TaskInfo(
            id: id, round: round, state: state, reason: .none, reasonText: nil, nextAttemptMilliseconds: 0, url: url,
            destinationPath: destination, idempotencyKey: key, userData: userData, priority: priority,
            failure: failure, httpStatus: httpStatus, attempts: attempts,
            offset: state == .succeeded ? sizeOfEnded : syncedOffset,
            size: state == .succeeded ? sizeOfEnded : sizeOfWhole, bytesPerSecond: 0,
            enqueuedMilliseconds: row.integer("enqueued_ms"))
        info.kind = TaskKind(rawValue: row.number("task_kind")) ?? .download
        info.group = row.optionalText("groups.name")
        info.endedMilliseconds = row.integer("ended_ms")
        path = row.optionalText("path")
        info.bodySize = row.bits(AttemptTable.bodySize)
        if state == .succeeded { info.bodySent = info.bodySize }
        space = row.protectionSpace()
        info.earliestStartMilliseconds = row.optionalInteger("earliest_start_ms")
        info.latestStartMilliseconds = row.optionalInteger("request_options.latest_start_ms")
        info.expectedBytesReceived = row.optionalBits("expected_bytes_received")
        info.expectedBytesSent = row.optionalBits("expected_bytes_sent")
        info.rateLimit = row.optionalBits("bytes_per_second")
    }
}

extension TaskTimeline {
    fileprivate init(row: inout Row) {
        self.init(
            enqueued: row.integer("enqueued_ms"), ended: row.optionalInteger("ended_ms"),
            constraints: row.constraintsID("constraints_id"), lane: row.laneID("lane_id"),
            earliestStart: row.optionalInteger("earliest_start_ms"),
            latestStart: row.optionalInteger("request_options.latest_start_ms"),
            suspendedSince: row.optionalInteger("suspended_since_ms"),
            dueReason: row.optionalNumber("iif(due_boot_ms IS NULL, NULL, due_reason)").flatMap(WaitReason.init),
            challengeOpened: row.optionalInteger(ChallengeTable.openedOfTask),
            startDelayed: row.optionalInteger("start_delayed_ms"))
    }
}

extension Row {
    /// Reads the outcome of an ended task from the task's row and from the row of the response. To list the columns of
    /// a statement, `Query` calls this function without a real row. In this call, `files` is nil.
    mutating func outcome(
        of task: TaskID, state: TaskState, destination: String?, attempts: UInt32, bytesReceived: UInt64,
        _ files: StoreDirectory?
    ) throws(Failure) -> Outcome {
        var outcome = Outcome(state: state, failure: failure())
        outcome.size = bits("tasks.size")
        let claimed = optionalText("path")
        outcome.response.httpStatus = number("tasks.http_status")
        outcome.response.finalURL = optionalText(RequestTable.finalURL)
        outcome.response.mediaType = optionalText("media_type")
        let headers = optionalBlob("responses.headers")
        outcome.response.errorBody = optionalBlob("error_body")
        outcome.response.responseBody = optionalBlob("response_body")
        outcome.bytesSent = bits("bytes_sent")
        let makesFile = TaskKind(rawValue: number("task_kind")) != .upload
        outcome.checksum = optionalText("checksum").flatMap(Checksum.init)
        let consumed = optionalText(Self.consumedFile)
        outcome.response.headers = try HeaderBlob.unpack(headers)
        if state != .succeeded {
            // If the task has not succeeded, this file belongs to the host again.
            outcome.path = claimed ?? consumed.flatMap { files?.bodyFile(named: $0) }
        } else if makesFile {
            // The path of a kept file is not stored, because the store may have been moved.
            outcome.path = claimed ?? destination ?? files?.keptFile(of: task)
        }
        outcome.attempts = attempts
        outcome.bytesReceived = bytesReceived
        return outcome
    }

    private static let consumedFile = """
        CASE WHEN state IN (\(TaskState.failed.sql), \(TaskState.cancelled.sql)) THEN \(BodyTable.storedOfTask) END
        """
}
