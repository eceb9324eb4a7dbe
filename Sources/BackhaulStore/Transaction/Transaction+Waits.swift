public import BackhaulModel

/// Times in which tasks were held back, as rows: one for all tasks that wait for the same, however many.
extension Transaction {
    /// `now`: Unix milliseconds. Of each session the newest `sharedWaitLimit` are kept, and as many again of single
    /// tasks.
    @discardableResult
    public func beginWait(
        _ scope: WaitScope, _ reason: WaitReason, _ sentence: String, now: Int64
    ) throws(Failure) -> WaitID {
        let wait = Wait(reason, sentence, beganMilliseconds: now, endedMilliseconds: nil)
        let id = try record(wait, of: scope)
        // In batches: each costs a walk over those that stay.
        if id.rawValue.isMultiple(of: 16) { try trimWaits(of: scope.session) }
        return id
    }

    /// Does nothing for one that has ended or was removed.
    public func endWait(_ id: WaitID, now: Int64) throws(Failure) {
        try connection.run(Self.end, .number(id.rawValue), .integer(now))
    }

    /// Those that last: of this engine, or of one that is gone.
    public func openWaits() throws(Failure) -> [OpenWait] {
        try connection.all(Self.selectOpen) { row throws(Failure) in
            OpenWait(
                id: WaitID(rawValue: row.number()),
                scope: WaitScope(
                    row.sessionID(), constraints: row.optionalNumber().map(ConstraintsID.init),
                    lane: row.optionalNumber().map(LaneID.init), task: row.optionalNumber().map(TaskID.init)),
                reason: WaitReason(rawValue: row.number()) ?? .turn, sentence: row.text(),
                beganMilliseconds: row.integer())
        }
    }

    /// Suspended tasks of the selection are about to be resumed. Of thousands at once none gets a row: they would leave
    /// no room for other waits.
    func recordSuspensionsOfSelectedTasks(_ session: SessionID, count: Int, now: Int64) throws(Failure) {
        guard count <= Self.suspensionLimit else { return }
        try connection.run(Self.recordSuspensions, .integer(now), .text(WaitReason.suspended.text ?? ""))
        if connection.changes > 0 { try trimWaits(of: session) }
    }

    /// Tasks that wait for the challenge are about to go on. Of thousands at once none gets a row.
    func recordAnswered(_ challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) {
        guard challenge.waitingTasks <= Self.suspensionLimit else { return }
        try connection.run(
            Self.recordAnswered, .id(challenge.id), .integer(challenge.timeMilliseconds), .integer(now),
            .text(challenge.space.sentence))
        if connection.changes > 0 { try trimWaits(of: session) }
    }

    /// Waits of single tasks that are over. Of thousands at once none gets a row.
    func record(_ waits: [(task: TaskID, wait: Wait)], in session: SessionID) throws(Failure) {
        guard !waits.isEmpty, waits.count <= Self.suspensionLimit else { return }
        for (task, wait) in waits { _ = try record(wait, of: WaitScope(session, task: task)) }
        try trimWaits(of: session)
    }

    private func record(_ wait: Wait, of scope: WaitScope) throws(Failure) -> WaitID {
        try connection.run(
            Self.insert, .id(scope.session), scope.constraints.map { .id($0) } ?? .null,
            scope.lane.map { .id($0) } ?? .null, scope.task.map { .id($0) } ?? .null, .number(wait.reason.rawValue),
            .text(wait.sentence), .integer(wait.beganMilliseconds), .optional(wait.endedMilliseconds))
        return WaitID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    private func trimWaits(of session: SessionID) throws(Failure) {
        try connection.run(Self.trimShared, .id(session), .integer(Self.sharedWaitLimit))
        try connection.run(Self.trimSingle, .id(session), .integer(Self.singleWaitLimit))
    }

    static let sharedWaitLimit: Int64 = 1_000
    private static let singleWaitLimit: Int64 = 10_000
    private static let suspensionLimit = 1_000
    private static let insert = Query(
        """
        INSERT INTO waits (session_id, constraints_id, lane_id, task_id, reason, sentence, began_ms, ended_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let end = Query("UPDATE waits SET ended_ms = max(began_ms, ?2) WHERE id = ?1 AND ended_ms IS NULL")
    private static let selectOpen = Query(
        """
        SELECT id, session_id, constraints_id, lane_id, task_id, reason, sentence, began_ms
        FROM waits INDEXED BY waits_that_last WHERE ended_ms IS NULL ORDER BY id
        """)
    private static let trimShared = Query(
        """
        DELETE FROM waits WHERE session_id = ?1 AND task_id IS NULL AND ended_ms IS NOT NULL AND id <=
            (SELECT id FROM waits WHERE session_id = ?1 AND task_id IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)
        """)
    private static let trimSingle = Query(
        """
        DELETE FROM waits WHERE session_id = ?1 AND task_id IS NOT NULL AND ended_ms IS NOT NULL AND id <=
            (SELECT id FROM waits WHERE session_id = ?1 AND task_id IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?2)
        """)
    private static let recordAnswered = Query(
        """
        INSERT INTO waits (session_id, task_id, reason, sentence, began_ms, ended_ms)
        SELECT session_id, id, \(WaitReason.credential.rawValue), ?4, min(?3, max(?2, enqueued_ms)), ?3
        FROM tasks WHERE challenge_id = ?1 AND due_reason = 8
        """)
    private static let recordSuspensions = Query(
        """
        INSERT INTO waits (session_id, task_id, reason, sentence, began_ms, ended_ms)
        SELECT session_id, tasks.id, \(WaitReason.suspended.rawValue), ?2, suspended_since_ms, ?1
        FROM selected CROSS JOIN tasks ON tasks.id = selected.id
        WHERE state = 3 AND suspended_since_ms < ?1
        """)
}
