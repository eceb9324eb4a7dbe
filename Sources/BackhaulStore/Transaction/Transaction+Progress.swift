public import BackhaulModel

/// What the engine writes about a live task. Each of these does nothing when the task has ended or is gone meanwhile.
extension Transaction {
    public func recordCheckpoint(
        _ task: TaskID, _ checkpoint: Checkpoint, _ soFar: ReceivedSoFar? = nil
    ) throws(Failure) {
        if let soFar {
            try connection.run(
                Self.writeSoFar, .id(task), .number(soFar.attempts), .bits(soFar.bytesReceived),
                .number(soFar.furthestOffset), .flag(soFar.madeProgress))
            if let attempt = soFar.attempt, connection.changes == 1 { try record(attempt) }
        }
        try connection.run(
            Self.writeCheckpoint, .id(task), .optional(checkpoint.validator.entityTag),
            .optional(checkpoint.validator.lastModified), .text(checkpoint.finalURL), .bits(checkpoint.size),
            .bits(checkpoint.syncedOffset), .text(checkpoint.bootID), .optional(checkpoint.facts.digest?.text),
            .optional(checkpoint.facts.contentEncoding), .optional(checkpoint.facts.name),
            .bits(checkpoint.part?.device), .bits(checkpoint.part?.inode), .bits(checkpoint.part?.length),
            .bits(checkpoint.part?.checksum.map(UInt64.init)), .bits(checkpoint.syncedChecksum.map(UInt64.init)))
    }

    /// Nothing of the task's file is there any more: neither checkpoint nor intent.
    public func forgetProgress(_ task: TaskID) throws(Failure) {
        try connection.run(Self.clearCheckpoint, .id(task))
        try connection.run(Self.clearIntent, .id(task))
    }

    /// A request that is not to be repeated is about to be sent.
    public func recordUnderWay(_ task: TaskID, attempts: UInt32) throws(Failure) {
        try connection.run(Self.writeUnderWay, .id(task), .number(attempts))
    }

    /// Without a failure, the one of an earlier attempt stays.
    public func recordAttempt(_ task: TaskID, _ record: AttemptRecord) throws(Failure) {
        try connection.run(
            Self.writeAttempt, .id(task), .number(record.attempts), .number(record.attemptsWithoutProgress),
            .bits(record.bytesReceived), .number(record.httpStatus), .number(record.failure?.status.rawValue ?? 0),
            .number(record.failure?.domain.rawValue ?? 0), .integer(record.failure?.detail ?? 0),
            .optional(record.failure?.message), .number(record.furthestOffset), .bits(record.bytesSent),
            .flag(record.isUnderWay))
        guard connection.changes == 1 else { return }
        if let attempt = record.attempt { try self.record(attempt) }
        if let due = record.nextAttempt {
            try connection.run(Self.writeDelay, .id(task), .integer(due), .number(record.reason.rawValue))
        }
        if let checkpoint = record.checkpoint {
            try recordCheckpoint(task, checkpoint)
        } else {
            try connection.run(Self.clearCheckpoint, .id(task))
        }
    }

    /// Tasks whose time has come by the boot clock wait for their turn again. Returns their lanes.
    public func releaseDue(bootMilliseconds: Int64) throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.releaseDue, .integer(bootMilliseconds)) { row throws(Failure) in row.laneID() })
    }

    /// Tasks that wait for a way to their server wait for their turn. Returns their lanes.
    public func releaseUnconnected() throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.releaseUnconnected) { row throws(Failure) in row.laneID() })
    }

    /// Those of these lanes of which a task waits for a way to its server.
    public func unconnected(among lanes: Set<LaneID>) throws(Failure) -> Set<LaneID> {
        var found: Set<LaneID> = []
        for lane in lanes {
            let isOne = try connection.first(Self.selectUnconnected, .id(lane)) { row throws(Failure) in row.flag() }
            if isOne == true { found.insert(lane) }
        }
        return found
    }

    /// Tasks of the session that wait for their next try wait no longer than its configuration now says.
    public func rescheduleRetries(of session: SessionID, bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try connection.run(Self.rescheduleRetries, .id(session), .integer(bootMilliseconds), .integer(now))
    }

    /// When the next of them comes, in milliseconds of the boot clock.
    public func nextDue() throws(Failure) -> Int64? {
        try connection.first(Self.selectNextDue) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// False when the task has ended meanwhile: its file must not get its final name. What is known of the answer is
    /// recorded with it, because whoever ends the task after a crash has not seen the answer.
    public func recordIntent(
        _ task: TaskID, _ intent: FinishIntent, answer: AnswerSummary = AnswerSummary(), checksum: Checksum? = nil,
        attempts: UInt32 = 0, bytesReceived: UInt64 = 0, attempt: Attempt? = nil
    ) throws(Failure) -> Bool {
        try connection.run(
            Self.writeReceived, .id(task), .number(attempts), .bits(bytesReceived), .number(answer.httpStatus))
        guard connection.changes == 1 else { return false }
        try connection.run(
            Self.writeIntent, .id(task), .bits(intent.device), .bits(intent.inode), .bits(intent.size),
            .optional(intent.name))
        if let attempt { try record(attempt) }
        try writeAnswer(task, answer, checksum)
        return true
    }

    public func clearIntent(_ task: TaskID) throws(Failure) { try connection.run(Self.clearIntent, .id(task)) }

    private static let writeCheckpoint = Query(
        """
        INSERT OR REPLACE INTO checkpoints (task_id, entity_tag, last_modified, final_url, size, synced_offset, boot_id,
            digest, content_encoding, file_name, part_device, part_inode, part_length,
            part_checksum, synced_checksum)
        SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
        FROM tasks WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let writeSoFar = Query(
        """
        UPDATE tasks SET attempts = ?2, bytes_received = ?3, furthest_offset = max(furthest_offset, ?4),
            attempts_without_progress = iif(?5, 0, attempts_without_progress)
        WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let clearCheckpoint = Query("DELETE FROM checkpoints WHERE task_id = ?")
    private static let writeAttempt = Query(
        """
        UPDATE tasks SET attempts = ?2, attempts_without_progress = ?3, bytes_received = ?4,
            http_status = iif(?5 = 0, http_status, ?5), status = iif(?6 = 0, status, ?6),
            error_domain = iif(?6 = 0, error_domain, ?7), error_detail = iif(?6 = 0, error_detail, ?8),
            error_message = iif(?6 = 0, error_message, ?9), furthest_offset = max(furthest_offset, ?10),
            bytes_sent = max(bytes_sent, ?11), mismatches = mismatches + (?6 IN (56, 57)),
            is_under_way = ?12
        WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let writeUnderWay = Query(
        "UPDATE tasks SET is_under_way = 1, attempts = max(attempts, ?2) WHERE id = ?1 AND ended_ms IS NULL")
    private static let writeDelay = Query(
        "UPDATE tasks SET due_boot_ms = ?2, due_reason = ?3 WHERE id = ?1 AND state = 1")
    private static let releaseDue = Query(
        "UPDATE tasks SET due_boot_ms = NULL, due_reason = 0 WHERE due_boot_ms <= ? RETURNING lane_id")
    private static let releaseUnconnected = Query(
        """
        UPDATE tasks SET due_boot_ms = NULL, due_reason = 0 WHERE due_boot_ms > 0 AND due_reason = 9 RETURNING lane_id
        """)
    private static let selectUnconnected = Query(
        """
        SELECT EXISTS (SELECT 1 FROM tasks WHERE lane_id = ? AND state = 1 AND due_boot_ms > 0 AND due_reason = 9)
        """)
    // The index of delayed tasks is the shortest way: most tasks of a session wait for their turn.
    private static let rescheduleRetries = Query(
        """
        UPDATE tasks SET due_boot_ms = min(due_boot_ms, ?2 + max(0, min(\(endOfTime) - ?3, ifnull(
            (SELECT longest_retry_delay_ms FROM request_options WHERE request_options.task_id = tasks.id),
            (SELECT longest_retry_delay_ms FROM sessions WHERE sessions.id = ?1)))))
        WHERE due_boot_ms > 0 AND +session_id = ?1 AND due_reason = 3
        """)
    private static let selectNextDue = Query("SELECT min(due_boot_ms) FROM tasks WHERE due_boot_ms IS NOT NULL")
    private static let writeIntent = Query(
        "INSERT OR REPLACE INTO intents (task_id, device, inode, size, file_name) VALUES (?, ?, ?, ?, ?)")
    private static let writeReceived = Query(
        """
        UPDATE tasks SET attempts = max(attempts, ?2), bytes_received = max(bytes_received, ?3),
            http_status = iif(?4 = 0, http_status, ?4)
        WHERE id = ?1 AND ended_ms IS NULL
        """)
    private static let clearIntent = Query("DELETE FROM intents WHERE task_id = ?")
}
