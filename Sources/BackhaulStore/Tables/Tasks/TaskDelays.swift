internal import BackhaulModel

/// The columns of `tasks` that say until when a task waits although others of its lane may run: `due_boot_ms` and
/// `due_reason`, with the challenge, the constraints and the starts that it waits for.
struct TaskDelays {
    let connection: Connection

    // MARK: Any delay

    /// Of a waiting task, instead of any other.
    func delay(_ task: TaskID, until due: Int64, for reason: WaitReason) throws(Failure) {
        try connection.run(Self.delay, .id(task), .integer(due), .number(reason.rawValue))
    }

    /// Does nothing when the task is not ready.
    func delayReady(_ task: TaskID, until due: Int64, for reason: WaitReason) throws(Failure) {
        try connection.run(Self.delayReady, .id(task), .integer(due), .number(reason.rawValue))
    }

    func move(_ task: TaskID, to due: Int64) throws(Failure) {
        try connection.run(Self.move, .id(task), .integer(due))
    }

    func release(_ task: TaskID) throws(Failure) { try connection.run(Self.release, .id(task)) }

    /// Those that are due by the boot clock. Returns their lanes.
    func releaseDue(bootMilliseconds: Int64) throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.releaseDue, .integer(bootMilliseconds)) { row throws(Failure) in row.laneID() })
    }

    /// Those that wait for a route to their origin. Returns their lanes.
    func releaseUnconnected() throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.releaseUnconnected) { row throws(Failure) in row.laneID() })
    }

    func hasUnconnected(_ lane: LaneID) throws(Failure) -> Bool {
        try connection.first(Self.hasUnconnected, .id(lane)) { row throws(Failure) in row.flag() } ?? false
    }

    /// Those of the session that wait for their next attempt wait no longer than its configuration says.
    func shortenRetries(of session: SessionID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.shortenRetries, .id(session), .integer(now.boot), .integer(now.calendar))
    }

    /// When the next delayed task is due, by the boot clock.
    func nextDue() throws(Failure) -> Int64? {
        try connection.first(Self.selectNextDue) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Those that wait for this reason, by their due times, after the last of the batch before.
    func delayed(
        for reason: WaitReason, after last: DelayedTask?, limit: Int64
    ) throws(Failure) -> [DelayedTask] {
        try connection.all(
            Self.selectDelayed, .number(reason.rawValue), .integer(last?.due ?? 0),
            last.map { .id($0.task) } ?? .integer(0), .integer(limit), read: DelayedTask.init(row:))
    }

    /// Delays count by the clock that starts with a boot. Tasks that wait for a credential or their earliest start go
    /// on waiting; `rescheduleParked` and `rescheduleStarts` know them by a due time of 0.
    func clearAfterBoot() throws(Failure) {
        try connection.run(Self.clearDelays)
        try connection.run(Self.clearDues)
    }

    // MARK: Challenges

    /// Nil when the task is not waiting.
    func waitingPlace(of task: TaskID) throws(Failure) -> SessionPlace? {
        try connection.first(Self.selectWaiting, .id(task), read: SessionPlace.init(row:))
    }

    /// Nil when the task is not ready.
    func readyPlace(of task: TaskID) throws(Failure) -> SessionPlace? {
        try connection.first(Self.selectReady, .id(task), read: SessionPlace.init(row:))
    }

    func park(_ task: TaskID, for challenge: ChallengeID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.park, .id(task), .id(challenge), .integer(now.boot), .integer(now.calendar))
    }

    /// Does nothing when the task is not ready.
    func parkReady(_ task: TaskID, for challenge: ChallengeID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.parkReady, .id(task), .id(challenge), .integer(now.boot), .integer(now.calendar))
    }

    /// The ready ones that an earlier challenge had freed.
    func parkFreed(by earlier: ChallengeID, for challenge: ChallengeID, _ now: DelayMoment) throws(Failure) {
        try connection.run(
            Self.parkFreed, .id(earlier), .id(challenge), .integer(now.boot), .integer(now.calendar))
    }

    /// Those that waited for a challenge in another boot get their due times.
    func rescheduleParked(_ now: DelayMoment) throws(Failure) {
        try connection.run(Self.rescheduleParked, .integer(now.boot), .integer(now.calendar))
    }

    func rescheduleParked(of session: SessionID, _ now: DelayMoment) throws(Failure) {
        try connection.run(
            Self.rescheduleParkedOfSession, .integer(now.boot), .integer(now.calendar), .id(session))
    }

    func release(_ challenge: ChallengeID) throws(Failure) { try connection.run(Self.releaseParked, .id(challenge)) }

    /// The lanes of waiting tasks that wait for the challenge, or were freed by it.
    func lanes(of challenge: ChallengeID, areFreed: Bool) throws(Failure) -> Set<LaneID> {
        let found = try connection.all(Self.selectLanes, .id(challenge), .flag(areFreed)) { row throws(Failure) in
            row.laneID()
        }
        return Set(found)
    }

    // MARK: Starts and constraints

    /// As a request states them. `due`: by the boot clock, of its earliest start; `end`: of its own resource time-out.
    func setTimes(
        of task: TaskID, latest: Int64?, due: Int64?, end: Int64?
    ) throws(Failure) {
        let reason = due == nil ? WaitReason.none : .earliestStart
        try connection.run(
            Self.setTimes, .id(task), .optional(latest), .optional(due), .number(reason.rawValue), .optional(end))
    }

    /// Nil: it has come, or there is none.
    func setLatestStart(_ latest: Int64?, of task: TaskID) throws(Failure) {
        try connection.run(Self.setLatest, .id(task), .optional(latest))
    }

    /// It has come, and the task states these constraints from now on.
    func endLatestStart(of task: TaskID, stating constraints: ConstraintsID) throws(Failure) {
        try connection.run(Self.endLatest, .id(task), .id(constraints))
    }

    func setConstraints(_ constraints: ConstraintsID, of task: TaskID) throws(Failure) {
        try connection.run(Self.setConstraints, .id(task), .id(constraints))
    }

    /// Those whose latest start has come.
    func late(now: Int64, limit: Int64) throws(Failure) -> [LateRow] {
        try connection.all(Self.selectLate, .integer(now), .integer(limit), read: LateRow.init(row:))
    }

    /// In Unix milliseconds.
    func nextLatestStart() throws(Failure) -> Int64? {
        try connection.first(Self.selectNextLatest) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Those that wait for their earliest start get their due times: all, or those that waited in another boot.
    func rescheduleStarts(_ now: ClockReading, all: Bool) throws(Failure) {
        try connection.run(
            all ? Self.rescheduleStarts : Self.rescheduleOtherStarts, .integer(now.boot), .integer(now.wall))
    }

    func delayStart(of task: TaskID, until due: Int64) throws(Failure) {
        try connection.run(Self.delayStart, .id(task), .integer(due))
    }

    /// False when the task is not ready, or its starts are those of its enqueue.
    func delayRescheduled(_ task: TaskID, until due: Int64) throws(Failure) -> Bool {
        try connection.run(Self.delayRescheduled, .id(task), .integer(due))
        return connection.changes == 1
    }

    // MARK: Parts of statements

    static let noDelay = "due_boot_ms = NULL, due_reason = \(WaitReason.none.sql)"
    /// Waits for a credential, if it is waiting.
    static let isParked = "due_reason = \(WaitReason.credential.sql)"
    private static let isEarly = "due_reason = \(WaitReason.earliestStart.sql)"
    private static let isUnconnected = "due_boot_ms > 0 AND due_reason = \(WaitReason.connectivity.sql)"
    /// Only what it waits for ends it.
    static let staysDelayed = "due_reason IN (\(WaitReason.credential.sql), \(WaitReason.earliestStart.sql))"
    /// A start that never comes is in a thousand years.
    static let longest: Int64 = 1_000 * 31_557_600_000
    /// ?1 and ?2: now, on the clock of this boot and on the wall.
    static let dueAtStart = "due_boot_ms = ?1 + max(0, min(\(longest), \(OptionTable.earliestStart) - ?2))"
    /// When the resource time-out of a task that is not suspended is over, by the calendar of its ages.
    private static let endOfTime = """
        (enqueued_ms + suspended_ms + ifnull(\(OptionTable.resourceTimeout), \(SessionTable.resourceTimeoutOfTask)))
        """
    /// ?3 and ?4: now, on the clock of this boot and by the calendar of the rows' ages.
    private static let parks = """
        due_boot_ms = ?3 + max(0, \(endOfTime) - ?4), due_reason = \(WaitReason.credential.sql), challenge_id = ?2
        """
    private static let dueAtEnd = "due_boot_ms = ?1 + max(0, \(endOfTime) - ?2)"

    // MARK: Statements

    private static let delay = Query(
        "UPDATE tasks SET due_boot_ms = ?2, due_reason = ?3 WHERE id = ?1 AND \(TaskTable.isWaiting)")
    private static let delayReady = Query(
        "UPDATE tasks SET due_boot_ms = ?2, due_reason = ?3 WHERE id = ?1 AND \(TaskTable.isReady)")
    private static let move = Query("UPDATE tasks SET due_boot_ms = ?2 WHERE id = ?1")
    private static let release = Query("UPDATE tasks SET \(noDelay) WHERE id = ?1")
    private static let releaseDue = Query("UPDATE tasks SET \(noDelay) WHERE due_boot_ms <= ? RETURNING lane_id")
    private static let releaseUnconnected = Query(
        "UPDATE tasks SET \(noDelay) WHERE \(isUnconnected) RETURNING lane_id")
    private static let hasUnconnected = Query(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE lane_id = ? AND \(TaskTable.isWaiting) AND \(isUnconnected))")
    // The index of delayed tasks is the shortest way: most tasks of a session wait for their turn.
    private static let shortenRetries = Query(
        """
        UPDATE tasks SET due_boot_ms = min(due_boot_ms, ?2 + max(0, min(\(endOfTime) - ?3, ifnull(
            \(OptionTable.longestRetryDelay), \(SessionTable.longestRetryDelay)))))
        WHERE due_boot_ms > 0 AND +session_id = ?1 AND due_reason = \(WaitReason.retry.sql)
        """)
    private static let selectNextDue = Query("SELECT min(due_boot_ms) FROM tasks WHERE due_boot_ms IS NOT NULL")
    private static let selectDelayed = Query(
        DelayedTask.init(row:),
        """
        FROM tasks INDEXED BY tasks_by_due CROSS JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN checkpoints ON checkpoints.task_id = tasks.id
            LEFT JOIN request_options ON has_options AND request_options.task_id = tasks.id
        WHERE due_boot_ms >= ?2 AND (due_boot_ms > ?2 OR tasks.id > ?3) AND due_reason = ?1
        ORDER BY due_boot_ms, tasks.id LIMIT ?4
        """)
    private static let clearDelays = Query(
        "UPDATE tasks SET \(noDelay) WHERE due_boot_ms IS NOT NULL AND NOT \(staysDelayed)")
    private static let clearDues = Query(
        "UPDATE tasks SET due_boot_ms = 0 WHERE due_boot_ms IS NOT NULL AND \(staysDelayed)")

    private static let selectWaiting = Query(
        SessionPlace.init(row:), "FROM tasks WHERE id = ? AND \(TaskTable.isWaiting)")
    private static let selectReady = Query(
        SessionPlace.init(row:), "FROM tasks WHERE id = ? AND \(TaskTable.isReady)")
    private static let park = Query("UPDATE tasks SET \(parks) WHERE id = ?1")
    private static let parkReady = Query("UPDATE tasks SET \(parks) WHERE id = ?1 AND \(TaskTable.isReady)")
    private static let parkFreed = Query(
        "UPDATE tasks SET \(parks) WHERE challenge_id = ?1 AND \(TaskTable.isReady)")
    private static let rescheduleParked = Query("UPDATE tasks SET \(dueAtEnd) WHERE due_boot_ms = 0 AND \(isParked)")
    private static let rescheduleParkedOfSession = Query(
        """
        UPDATE tasks SET \(dueAtEnd)
        WHERE challenge_id IN (SELECT id FROM challenges WHERE session_id = ?3) AND \(isParked)
        """)
    private static let releaseParked = Query("UPDATE tasks SET \(noDelay) WHERE challenge_id = ? AND \(isParked)")
    private static let selectLanes = Query(
        """
        SELECT DISTINCT lane_id FROM tasks
        WHERE challenge_id = ?1 AND \(TaskTable.isWaiting) AND (NOT \(isParked)) = ?2
        """)

    private static let setTimes = Query(
        "UPDATE tasks SET latest_start_ms = ?2, due_boot_ms = ?3, due_reason = ?4, own_end_ms = ?5 WHERE id = ?1")
    private static let setLatest = Query("UPDATE tasks SET latest_start_ms = ?2 WHERE id = ?1")
    private static let endLatest = Query(
        "UPDATE tasks SET constraints_id = ?2, latest_start_ms = NULL WHERE id = ?1")
    private static let setConstraints = Query("UPDATE tasks SET constraints_id = ?2 WHERE id = ?1")
    private static let selectLate = Query(
        LateRow.init(row:), "FROM tasks INDEXED BY tasks_by_latest_start WHERE latest_start_ms <= ? LIMIT ?")
    private static let selectNextLatest = Query(
        "SELECT min(latest_start_ms) FROM tasks WHERE latest_start_ms IS NOT NULL")
    private static let rescheduleStarts = Query(
        "UPDATE tasks SET \(dueAtStart) WHERE due_boot_ms >= 0 AND \(isEarly)")
    private static let rescheduleOtherStarts = Query(
        "UPDATE tasks SET \(dueAtStart) WHERE due_boot_ms = 0 AND \(isEarly)")
    private static let startsAt = "due_boot_ms = ?2, due_reason = \(WaitReason.earliestStart.sql)"
    private static let delayStart = Query("UPDATE tasks SET \(startsAt) WHERE id = ?1")
    private static let delayRescheduled = Query(
        """
        UPDATE tasks SET \(startsAt)
        WHERE id = ?1 AND \(TaskTable.isReady) AND \(OptionTable.isRescheduled)
        """)
}

/// One moment on two clocks, in milliseconds: of this boot, and by the calendar of the rows' ages.
struct DelayMoment {
    let boot: Int64
    let calendar: Int64
}

/// The session and the round of a task.
struct SessionPlace {
    let session: SessionID
    let round: UInt64

    fileprivate init(row: inout Row) {
        session = row.sessionID("session_id")
        round = row.bits("round")
    }
}

/// A task whose latest start has come.
struct LateRow {
    let id: TaskID
    let session: SessionID
    let lane: LaneID
    let constraints: ConstraintsID
    let isLive: Bool

    fileprivate init(row: inout Row) {
        id = row.taskID("id")
        session = row.sessionID("session_id")
        lane = row.laneID("lane_id")
        constraints = row.constraintsID("constraints_id")
        isLive = row.flag("ended_ms IS NULL")
    }
}

extension DelayedTask {
    fileprivate init(row: inout Row) {
        let (task, session) = (row.taskID("tasks.id"), row.sessionID("session_id"))
        let (lane, due) = (row.laneID("lane_id"), row.integer("due_boot_ms"))
        let received = row.optionalBits("coalesce(expected_bytes_received, expected_size)")
        let sent = row.optionalBits("coalesce(expected_bytes_sent, body_size)")
        let stated = DeferralDecision.stated(
            received: received, sent: sent, offset: row.bits("coalesce(synced_offset, 0)"))
        self.init(task: task, session: session, lane: lane, due: due, statedBytes: stated)
    }
}
