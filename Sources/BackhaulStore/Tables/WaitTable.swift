internal import BackhaulModel

/// The table `waits` has the wait records: the reason, the start and the end of each time in which tasks wait. A record
/// belongs to a single task, or is shared by tasks that wait for the same reason.
struct WaitTable {
    let connection: Connection

    func insert(_ wait: WaitRecord, of scope: WaitScope) throws(Failure) -> WaitID {
        try connection.run(
            Self.insert, .id(scope.session), scope.constraints.map { .id($0) } ?? .null,
            scope.lane.map { .id($0) } ?? .null, scope.task.map { .id($0) } ?? .null, .number(wait.reason.rawValue),
            .text(wait.sentence), .integer(wait.beganMilliseconds), .optional(wait.endedMilliseconds))
        return WaitID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    /// Sets the end of a record. Does nothing if the record already has an end.
    func end(_ id: WaitID, now: Int64) throws(Failure) {
        try connection.run(Self.end, .number(id.rawValue), .integer(now))
    }

    /// Inserts one record for each selected task that is suspended. Returns whether there are such tasks.
    func insertSuspensionsOfSelected(now: Int64) throws(Failure) -> Bool {
        try connection.run(Self.insertSuspensions, .integer(now), .text(WaitReason.suspended.text ?? ""))
        return connection.changes > 0
    }

    /// Copies the shared records of their constraints for the selected tasks. Returns whether there are such records.
    func insertSharedOfSelected(now: Int64) throws(Failure) -> Bool {
        try connection.run(Self.insertShared, .integer(now))
        return connection.changes > 0
    }

    /// Inserts one record for each task that waits for the challenge. Returns whether there are such tasks.
    func insertCredentialWaits(for challenge: Challenge, now: Int64) throws(Failure) -> Bool {
        try connection.run(
            Self.insertCredentialWaits, .id(challenge.id), .integer(challenge.timeMilliseconds), .integer(now),
            .text(challenge.space.sentence))
        return connection.changes > 0
    }

    /// Returns the records without an end, sorted by id.
    func open() throws(Failure) -> [OpenWait] { try connection.all(Self.selectOpen, read: OpenWait.init(row:)) }

    func all(of task: TaskID) throws(Failure) -> [WaitRecord] {
        try connection.all(Self.selectSingle, .id(task), read: WaitRecord.init(row:))
    }

    /// Calls the body for the shared records that apply to this lane. The body also gets the constraints (demands of
    /// tasks on the system) to which the record applies; nil if the record applies to all constraints.
    func shared(
        of session: SessionID, _ lane: LaneID, body: (ConstraintsID?, WaitRecord) -> Void
    ) throws(Failure) {
        try connection.each(Self.selectShared, .id(session), .id(lane)) { row throws(Failure) in
            let (constraints, wait) = Self.shared(&row)
            body(constraints, wait)
        }
    }

    /// For each session with tasks that are delayed for this reason, returns when the first of these tasks began to
    /// wait. The times are Unix milliseconds.
    func delaysBegan(for reason: WaitReason) throws(Failure) -> [SessionID: Int64] {
        let found = try connection.all(Self.selectBegan, .number(reason.rawValue), read: Self.began)
        return Dictionary(found.map { ($0.session, $0.began) }, uniquingKeysWith: min)
    }

    /// Adds `step` milliseconds to the times in the records of each session that has live tasks. The step is a change
    /// of the calendar clock. The records are changed because the times of live tasks are moved by the same step.
    func moveTimes(by step: Int64) throws(Failure) { try connection.run(Self.moveTimes, .integer(step)) }

    /// Removes old records of the session. Keeps the newest `shared` shared records, the newest `single` records of
    /// single tasks, and all records without an end.
    func trim(_ session: SessionID, shared: Int64, single: Int64) throws(Failure) {
        try connection.run(Self.trimShared, .id(session), .integer(shared))
        try connection.run(Self.trimSingle, .id(session), .integer(single))
    }

    private static func shared(_ row: inout Row) -> (ConstraintsID?, WaitRecord) {
        (row.optionalNumber("constraints_id").map(ConstraintsID.init), WaitRecord(row: &row))
    }

    private static func began(_ row: inout Row) -> (session: SessionID, began: Int64) {
        (row.sessionID("waits.session_id"), row.integer("began_ms"))
    }

    // The index of a session's waits has the value of `task_id IS NULL`, so a statement compares this value.
    private static let isShared = "(waits.task_id IS NULL) = 1"
    private static let isSingle = "(waits.task_id IS NULL) = 0"

    private static let insert = Query(
        """
        INSERT INTO waits (session_id, constraints_id, lane_id, task_id, reason, sentence, began_ms, ended_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let end = Query("UPDATE waits SET ended_ms = max(began_ms, ?2) WHERE id = ?1 AND ended_ms IS NULL")
    private static let insertSuspensions = Query(
        """
        INSERT INTO waits (session_id, task_id, reason, sentence, began_ms, ended_ms)
        SELECT session_id, tasks.id, \(WaitReason.suspended.sql), ?2, suspended_since_ms, ?1
        FROM selected CROSS JOIN tasks ON tasks.id = selected.id
        WHERE state = \(TaskState.suspended.sql) AND suspended_since_ms < ?1
        """)
    private static let insertShared = Query(
        """
        INSERT INTO waits (session_id, task_id, reason, sentence, began_ms, ended_ms)
        SELECT waits.session_id, tasks.id, reason, sentence, max(began_ms, enqueued_ms),
            min(ifnull(waits.ended_ms, ?1), ?1)
        FROM selected CROSS JOIN tasks ON tasks.id = selected.id CROSS JOIN waits ON waits.session_id = tasks.session_id
            AND \(isShared) AND waits.constraints_id = tasks.constraints_id
            AND (waits.lane_id IS NULL OR waits.lane_id = tasks.lane_id)
        WHERE began_ms < ?1 AND ifnull(waits.ended_ms, ?1) > enqueued_ms
        """)
    private static let insertCredentialWaits = Query(
        """
        INSERT INTO waits (session_id, task_id, reason, sentence, began_ms, ended_ms)
        SELECT session_id, id, \(WaitReason.credential.sql), ?4, min(?3, max(?2, enqueued_ms)), ?3
        FROM tasks WHERE challenge_id = ?1 AND due_reason = \(WaitReason.credential.sql)
        """)
    private static let selectOpen = Query(
        OpenWait.init(row:), "FROM waits INDEXED BY waits_that_last WHERE ended_ms IS NULL ORDER BY id")
    private static let selectSingle = Query(WaitRecord.init(row:), "FROM waits WHERE task_id = ? ORDER BY id")
    private static let selectShared = Query(
        shared,
        """
        FROM waits WHERE session_id = ?1 AND \(isShared) AND (lane_id IS NULL OR lane_id = ?2) ORDER BY id
        """)
    private static let selectBegan = Query(
        began,
        """
        FROM waits INDEXED BY waits_that_last CROSS JOIN tasks ON tasks.id = task_id
        WHERE waits.ended_ms IS NULL AND reason = ?1 AND due_boot_ms >= 0 AND due_reason = ?1
        """)
    private static let moveTimes = Query(
        """
        UPDATE waits SET began_ms = began_ms + ?1, ended_ms = ended_ms + ?1
        WHERE session_id IN (SELECT id FROM sessions WHERE live_tasks > 0)
        """)
    private static let trimShared = Query(
        """
        DELETE FROM waits WHERE session_id = ?1 AND \(isShared) AND ended_ms IS NOT NULL AND id <=
            (SELECT id FROM waits WHERE session_id = ?1 AND \(isShared) ORDER BY id DESC LIMIT 1 OFFSET ?2)
        """)
    private static let trimSingle = Query(
        """
        DELETE FROM waits WHERE session_id = ?1 AND \(isSingle) AND ended_ms IS NOT NULL AND id <=
            (SELECT id FROM waits WHERE session_id = ?1 AND \(isSingle) ORDER BY id DESC LIMIT 1 OFFSET ?2)
        """)
}

extension WaitRecord {
    fileprivate init(row: inout Row) {
        self.init(
            WaitReason(rawValue: row.number("reason")) ?? .slot, row.text("sentence"),
            beganMilliseconds: row.integer("began_ms"), endedMilliseconds: row.optionalInteger("ended_ms"))
    }
}

extension OpenWait {
    fileprivate init(row: inout Row) {
        self.init(
            id: WaitID(rawValue: row.number("id")),
            scope: WaitScope(
                row.sessionID("session_id"), constraints: row.optionalNumber("constraints_id").map(ConstraintsID.init),
                lane: row.optionalNumber("lane_id").map(LaneID.init),
                task: row.optionalNumber("task_id").map(TaskID.init)),
            reason: WaitReason(rawValue: row.number("reason")) ?? .slot, sentence: row.text("sentence"),
            beganMilliseconds: row.integer("began_ms"))
    }
}
