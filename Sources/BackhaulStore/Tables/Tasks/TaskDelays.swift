internal import BackhaulModel

/// SQL statements for the columns of `tasks` that delay a task: `due_boot_ms` and `due_reason`. While a task is
/// delayed, other tasks of its lane may run. This struct also has the statements for the columns with a task's
/// challenge, constraints and latest start.
struct TaskDelays {
    let connection: Connection

    // MARK: Any delay

    /// Delays a waiting task. The delay replaces an earlier delay of the task.
    func delay(_ task: TaskID, until due: Int64, for reason: WaitReason) throws(Failure) {
        try connection.run(Self.delay, .id(task), .integer(due), .number(reason.rawValue))
    }

    /// Delays a task. Does nothing when the task is not ready.
    func delayReady(_ task: TaskID, until due: Int64, for reason: WaitReason) throws(Failure) {
        try connection.run(Self.delayReady, .id(task), .integer(due), .number(reason.rawValue))
    }

    func move(_ task: TaskID, to due: Int64) throws(Failure) {
        try connection.run(Self.move, .id(task), .integer(due))
    }

    func release(_ task: TaskID) throws(Failure) { try connection.run(Self.release, .id(task)) }

    /// Ends the delays whose due time on the boot clock has come. Returns the released tasks.
    func releaseDue(bootMilliseconds: Int64) throws(Failure) -> [ReleasedRow] {
        try connection.all(Self.releaseDue, .integer(bootMilliseconds), read: ReleasedRow.init(row:))
    }

    /// Returns the tasks that were set aside and whose due time has come, which is the end of their resource time-out.
    /// Sets a later due time, at which the caller finds a task again if it could not end the task.
    func dueAside(bootMilliseconds: Int64) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectDueAside, .integer(bootMilliseconds)) { row throws(Failure) in row.taskID() }
    }

    /// Ends the delays of tasks that wait for a route to their origin. Returns the lanes of the released tasks.
    func releaseUnreachable() throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.releaseUnreachable) { row throws(Failure) in row.laneID() })
    }

    /// Ends the delays of waiting tasks with a finish intent.
    func releaseSealed() throws(Failure) { try connection.run(Self.releaseSealed) }

    /// Ends the delays of tasks whose storage is away. Returns the released tasks.
    func releaseStorage() throws(Failure) -> [ReleasedRow] {
        try connection.all(Self.releaseStorage, read: ReleasedRow.init(row:))
    }

    func hasUnreachable(_ lane: LaneID) throws(Failure) -> Bool {
        try connection.first(Self.hasUnreachable, .id(lane)) { row throws(Failure) in row.flag() } ?? false
    }

    /// Shortens the retry delay of each task of the session to the longest retry delay that the task's request permits.
    /// If the request does not set this value, the session's value applies. The pause of an origin is not shortened. No
    /// delay continues after the end of the task's resource time-out, which is the longest permitted time from the
    /// enqueue to the end of the task.
    func shortenRetries(of session: SessionID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.shortenRetries, .id(session), .integer(now.boot), .integer(now.calendar))
    }

    /// Returns when the next delayed task is due, in milliseconds of the boot clock.
    func nextDue() throws(Failure) -> Int64? {
        try connection.first(Self.selectNextDue) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Returns the tasks that are delayed for this reason, sorted by due time. The result begins after `last`, the last
    /// task of the previous batch.
    func delayed(
        for reason: WaitReason, after last: DelayedTask?, limit: Int64
    ) throws(Failure) -> [DelayedTask] {
        try connection.all(
            Self.selectDelayed, .number(reason.rawValue), .integer(last?.due ?? 0),
            last.map { .id($0.task) } ?? .integer(0), .integer(limit), read: DelayedTask.init(row:))
    }

    /// Returns the number of delayed tasks, by the reason of the delay.
    func counts() throws(Failure) -> [WaitReason: UInt64] {
        Dictionary(try connection.all(Self.countDelayed, read: Self.count), uniquingKeysWith: +)
    }

    /// Ends delays after a reboot, because due times count from the boot. Tasks that wait for a credential or for their
    /// earliest start, and tasks that were set aside, stay delayed, but get the due time 0. By this 0,
    /// `rescheduleParked` and `rescheduleStarts` find these tasks.
    func clearAfterBoot() throws(Failure) {
        try connection.run(Self.clearDelays)
        try connection.run(Self.clearDues)
    }

    // MARK: Challenges

    /// Returns the task's session and round, or nil when the task is not waiting.
    func waitingPlace(of task: TaskID) throws(Failure) -> SessionPlace? {
        try connection.first(Self.selectWaiting, .id(task), read: SessionPlace.init(row:))
    }

    /// Returns the task's session and round, or nil when the task is not ready.
    func readyPlace(of task: TaskID) throws(Failure) -> SessionPlace? {
        try connection.first(Self.selectReady, .id(task), read: SessionPlace.init(row:))
    }

    func park(_ task: TaskID, for challenge: ChallengeID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.park, .id(task), .id(challenge), .integer(now.boot), .integer(now.calendar))
    }

    /// Parks a task: makes it wait for a challenge. Does nothing when the task is not ready.
    func parkReady(_ task: TaskID, for challenge: ChallengeID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.parkReady, .id(task), .id(challenge), .integer(now.boot), .integer(now.calendar))
    }

    /// Parks the ready tasks that the closed challenge `earlier` had released. These tasks then wait for `challenge`.
    func parkReleased(by earlier: ChallengeID, for challenge: ChallengeID, _ now: DelayMoment) throws(Failure) {
        try connection.run(
            Self.parkReleased, .id(earlier), .id(challenge), .integer(now.boot), .integer(now.calendar))
    }

    /// Sets the due times of tasks that were parked or set aside before the last boot.
    func rescheduleParked(_ now: DelayMoment) throws(Failure) {
        try connection.run(Self.rescheduleParked, .integer(now.boot), .integer(now.calendar))
    }

    /// Sets the due times of the session's tasks that are due at the end of their resource time-out.
    func rescheduleParked(of session: SessionID, _ now: DelayMoment) throws(Failure) {
        try connection.run(
            Self.rescheduleParkedOfSession, .integer(now.boot), .integer(now.calendar), .id(session))
    }

    // MARK: Dependencies

    /// Makes a waiting task wait for the end of another task.
    func delayUntilDependencies(of task: TaskID, _ now: DelayMoment) throws(Failure) {
        try connection.run(Self.delayDependent, .integer(now.boot), .integer(now.calendar), .id(task))
    }

    /// Makes each selected waiting task wait again for the end of another task, if it has to.
    func delaySelectedDependents(_ now: DelayMoment) throws(Failure) {
        try connection.run(Self.delaySelectedDependents, .integer(now.boot), .integer(now.calendar))
    }

    /// Ends the wait of a task for other tasks. Returns nil if the task does not wait, for example because it is
    /// suspended, or still waits for another task.
    func releaseDependent(_ task: TaskID) throws(Failure) -> ReleasedRow? {
        try connection.first(Self.releaseDependent, .id(task), read: ReleasedRow.init(row:))
    }

    func release(_ challenge: ChallengeID) throws(Failure) { try connection.run(Self.releaseParked, .id(challenge)) }

    /// Returns the lanes of the tasks that wait for the challenge. If `areReleased` is true, returns instead the lanes
    /// of the waiting tasks that the challenge has released.
    func lanes(of challenge: ChallengeID, areReleased: Bool) throws(Failure) -> Set<LaneID> {
        let found = try connection.all(Self.selectLanes, .id(challenge), .flag(areReleased)) { row throws(Failure) in
            row.laneID()
        }
        return Set(found)
    }

    // MARK: Starts and constraints

    /// Sets the times of a new task. `due` is the earliest start on the boot clock. `end` is the end of the task's own
    /// resource time-out.
    func setTimes(
        of task: TaskID, latest: Int64?, due: Int64?, end: Int64?
    ) throws(Failure) {
        let reason = due == nil ? WaitReason.none : .earliestStart
        try connection.run(
            Self.setTimes, .id(task), .optional(latest), .optional(due), .number(reason.rawValue), .optional(end))
    }

    /// Sets the latest start. After this time, presets such as `discretionary` do not delay the task. `latest` is nil
    /// when the latest start has come, or if the task has none.
    func setLatestStart(_ latest: Int64?, of task: TaskID) throws(Failure) {
        try connection.run(Self.setLatest, .id(task), .optional(latest))
    }

    /// Removes the latest start, because it has come, and sets the task's new constraints.
    func endLatestStart(of task: TaskID, stating constraints: ConstraintsID) throws(Failure) {
        try connection.run(Self.endLatest, .id(task), .id(constraints))
    }

    func setConstraints(_ constraints: ConstraintsID, of task: TaskID) throws(Failure) {
        try connection.run(Self.setConstraints, .id(task), .id(constraints))
    }

    /// Returns the tasks whose latest start has come.
    func pastLatestStart(now: Int64, limit: Int64) throws(Failure) -> [PastLatestStartRow] {
        try connection.all(
            Self.selectPastLatestStart, .integer(now), .integer(limit), read: PastLatestStartRow.init(row:))
    }

    /// Returns the first of the tasks' latest starts, in Unix milliseconds; nil if no task has a latest start.
    func nextLatestStart() throws(Failure) -> Int64? {
        try connection.first(Self.selectNextLatest) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Sets the due times of tasks that wait for their earliest start. If `all` is false, changes only tasks that
    /// already waited before the last boot.
    func rescheduleStarts(_ now: ClockReading, all: Bool) throws(Failure) {
        try connection.run(
            all ? Self.rescheduleStarts : Self.rescheduleOtherStarts, .integer(now.boot), .integer(now.wall))
    }

    func delayStart(of task: TaskID, until due: Int64) throws(Failure) {
        try connection.run(Self.delayStart, .id(task), .integer(due))
    }

    /// Delays a rescheduled task until its earliest start. In this function, a task is rescheduled if it has a
    /// `start_delayed_ms` (see `StartOperations`). Returns false, and does nothing, if the task is not ready or was not
    /// rescheduled.
    func delayRescheduled(_ task: TaskID, until due: Int64) throws(Failure) -> Bool {
        try connection.run(Self.delayRescheduled, .id(task), .integer(due))
        return connection.changes == 1
    }

    // MARK: Parts of statements

    static let clearDelay = "due_boot_ms = NULL, due_reason = \(WaitReason.none.sql)"
    /// Like `clearDelay`, but a task with a complete file never waits for a slot: it is due now.
    static let clearDelayUnlessComplete = """
        due_boot_ms = iif(\(PartTable.hasIntent), 1, NULL),
        due_reason = iif(\(PartTable.hasIntent), \(WaitReason.storage.sql), \(WaitReason.none.sql))
        """
    /// The SQL condition for a waiting task: it waits for a credential.
    static let isParked = "due_reason = \(WaitReason.credential.sql)"
    /// The SQL condition for a waiting task: it was set aside, so it waits for a resume. Meanwhile, it does not count
    /// for its round and its group. Its due time is the end of its resource time-out.
    static let isAside = "(due_reason = \(WaitReason.suspended.sql))"
    /// The SQL condition for a waiting task: it waits for the end of another task.
    static let isDependent = "due_reason = \(WaitReason.dependency.sql)"
    /// The SQL condition for a waiting task: it waits for a command of the host or for the end of another task. Its due
    /// time is the end of its resource time-out.
    static let isDueAtEnd = "(\(isParked) OR \(isAside) OR \(isDependent))"
    private static let waitsForEarliestStart = "due_reason = \(WaitReason.earliestStart.sql)"
    private static let waitsForRetry = "due_reason IN (\(WaitReason.retry.sql), \(WaitReason.origin.sql))"
    private static let isUnreachable = "due_boot_ms > 0 AND due_reason = \(WaitReason.connectivity.sql)"
    /// The SQL condition that only a credential, the earliest start or the end of another task ends the task's delay.
    static let staysDelayed = """
        due_reason IN (\(WaitReason.credential.sql), \(WaitReason.earliestStart.sql), \(WaitReason.dependency.sql))
        """
    /// The longest delay: a thousand years, in milliseconds. A start that is further in the future counts as a start in
    /// a thousand years.
    static let longest: Int64 = 1_000 * 31_557_600_000
    /// The SQL assignment that makes the earliest start the due time of the task. ?1 is the present time on the boot
    /// clock, and ?2 is the present time on the wall clock.
    static let dueAtStart = "due_boot_ms = ?1 + max(0, min(\(longest), \(OptionTable.earliestStart) - ?2))"
    /// The SQL value: the time at which the task's resource time-out ends. It is a time of the age calendar
    /// (`StartClock.calendar`), the clock that measures the age of tasks. For a suspended task, the value is too early,
    /// because the time since the suspension is not added yet.
    private static let timeoutEnd = """
        (enqueued_ms + suspended_ms + ifnull(\(OptionTable.resourceTimeout), \(SessionTable.resourceTimeoutOfTask)))
        """
    /// The SQL assignments that park a task for challenge ?2. ?3 is the present time on the boot clock, and ?4 is the
    /// present time on the age calendar.
    private static let parks = """
        due_boot_ms = ?3 + max(0, min(\(longest), \(timeoutEnd) - ?4)), due_reason = \(WaitReason.credential.sql),
        challenge_id = ?2
        """
    /// The SQL assignment that makes the end of the resource time-out the due time of the task. ?1 is the present time
    /// on the boot clock, and ?2 is the present time on the age calendar.
    static let dueAtEnd = "due_boot_ms = ?1 + max(0, min(\(longest), \(timeoutEnd) - ?2))"

    // MARK: Statements

    private static let delay = Query(
        """
        UPDATE tasks SET due_boot_ms = ?2, due_reason = ?3
        WHERE id = ?1 AND \(TaskTable.isWaiting) AND NOT \(isAside)
        """)
    private static let delayReady = Query(
        "UPDATE tasks SET due_boot_ms = ?2, due_reason = ?3 WHERE id = ?1 AND \(TaskTable.isReady)")
    private static let move = Query("UPDATE tasks SET due_boot_ms = ?2 WHERE id = ?1")
    private static let release = Query("UPDATE tasks SET \(clearDelay) WHERE id = ?1")
    private static let releaseDue = Query(
        "UPDATE tasks SET \(clearDelay) WHERE due_boot_ms <= ? AND NOT \(isAside) RETURNING \(ReleasedRow.columns)")
    private static let selectDueAside = Query(
        "UPDATE tasks SET due_boot_ms = ?1 + 60000 WHERE due_boot_ms <= ?1 AND \(isAside) RETURNING id")
    private static let releaseUnreachable = Query(
        "UPDATE tasks SET \(clearDelay) WHERE \(isUnreachable) RETURNING lane_id")
    private static let releaseSealed = Query(
        """
        UPDATE tasks SET \(clearDelay) WHERE id IN (SELECT task_id FROM intents)
            AND \(TaskTable.isWaiting) AND due_boot_ms IS NOT NULL AND NOT \(isAside)
        """)
    private static let releaseStorage = Query(
        """
        UPDATE tasks SET \(clearDelay) WHERE due_boot_ms > 0 AND due_reason = \(WaitReason.storage.sql)
        RETURNING \(ReleasedRow.columns)
        """)
    private static let hasUnreachable = Query(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE lane_id = ? AND \(TaskTable.isWaiting) AND \(isUnreachable))")
    // The sign in `+session_id` makes SQLite use the index of delayed tasks. That index has fewer rows than the index
    // of the session's tasks, because most tasks are ready.
    private static let shortenRetries = Query(
        """
        UPDATE tasks SET due_boot_ms = min(due_boot_ms, ?2 + max(0, min(\(timeoutEnd) - ?3, iif(
            due_reason = \(WaitReason.origin.sql), due_boot_ms, ifnull(
                \(OptionTable.longestRetryDelay), \(SessionTable.longestRetryDelay))))))
        WHERE due_boot_ms > 0 AND +session_id = ?1 AND \(waitsForRetry)
        """)
    private static let selectNextDue = Query("SELECT min(due_boot_ms) FROM tasks WHERE due_boot_ms IS NOT NULL")
    private static func count(_ row: inout Row) -> (WaitReason, UInt64) {
        (WaitReason(rawValue: row.number("due_reason")) ?? .retry, row.number("count(*)"))
    }

    private static let countDelayed = Query(
        count, "FROM tasks WHERE due_boot_ms IS NOT NULL AND \(TaskTable.isWaiting) GROUP BY due_reason")
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
        "UPDATE tasks SET \(clearDelay) WHERE due_boot_ms IS NOT NULL AND NOT (\(staysDelayed) OR \(isAside))")
    private static let clearDues = Query(
        "UPDATE tasks SET due_boot_ms = 0 WHERE due_boot_ms IS NOT NULL AND (\(staysDelayed) OR \(isAside))")

    private static let selectWaiting = Query(
        SessionPlace.init(row:), "FROM tasks WHERE id = ? AND \(TaskTable.isWaiting) AND NOT \(isAside)")
    private static let selectReady = Query(
        SessionPlace.init(row:), "FROM tasks WHERE id = ? AND \(TaskTable.isReady)")
    private static let park = Query("UPDATE tasks SET \(parks) WHERE id = ?1")
    private static let parkReady = Query("UPDATE tasks SET \(parks) WHERE id = ?1 AND \(TaskTable.isReady)")
    // A task with a finish intent is ending, so it needs no credential.
    private static let parkReleased = Query(
        """
        UPDATE tasks SET \(parks)
        WHERE challenge_id = ?1 AND \(TaskTable.isReady) AND NOT \(PartTable.hasIntent)
        """)
    private static let rescheduleParked = Query(
        "UPDATE tasks SET \(dueAtEnd) WHERE due_boot_ms = 0 AND \(isDueAtEnd)")
    // The sign in `+session_id` makes SQLite use the index of delayed tasks.
    private static let rescheduleParkedOfSession = Query(
        "UPDATE tasks SET \(dueAtEnd) WHERE due_boot_ms >= 0 AND +session_id = ?3 AND \(isDueAtEnd)")
    private static let delaysDependent = "\(dueAtEnd), due_reason = \(WaitReason.dependency.sql)"
    private static let delayDependent = Query(
        "UPDATE tasks SET \(delaysDependent) WHERE id = ?3 AND \(TaskTable.isWaiting)")
    private static let delaySelectedDependents = Query(
        """
        UPDATE tasks SET \(delaysDependent)
        WHERE id IN selected AND \(TaskTable.isWaiting) AND \(DependencyTable.lasts)
        """)
    private static let releaseDependent = Query(
        """
        UPDATE tasks SET \(clearDelay) WHERE id = ? AND ended_ms IS NULL AND \(isDependent)
            AND NOT \(DependencyTable.lasts) RETURNING \(ReleasedRow.columns)
        """)
    private static let releaseParked = Query("UPDATE tasks SET \(clearDelay) WHERE challenge_id = ? AND \(isParked)")
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
    private static let selectPastLatestStart = Query(
        PastLatestStartRow.init(row:), "FROM tasks INDEXED BY tasks_by_latest_start WHERE latest_start_ms <= ? LIMIT ?")
    private static let selectNextLatest = Query(
        "SELECT min(latest_start_ms) FROM tasks WHERE latest_start_ms IS NOT NULL")
    private static let rescheduleStarts = Query(
        "UPDATE tasks SET \(dueAtStart) WHERE due_boot_ms >= 0 AND \(waitsForEarliestStart)")
    private static let rescheduleOtherStarts = Query(
        "UPDATE tasks SET \(dueAtStart) WHERE due_boot_ms = 0 AND \(waitsForEarliestStart)")
    private static let startsAt = "due_boot_ms = ?2, due_reason = \(WaitReason.earliestStart.sql)"
    private static let delayStart = Query("UPDATE tasks SET \(startsAt) WHERE id = ?1")
    private static let delayRescheduled = Query(
        """
        UPDATE tasks SET \(startsAt)
        WHERE id = ?1 AND \(TaskTable.isReady) AND \(OptionTable.isRescheduled)
        """)
}

/// A task whose delay has ended.
struct ReleasedRow {
    let id: TaskID
    let lane: LaneID
    let priority: Int32
    let hasIntent: Bool

    fileprivate init(row: inout Row) {
        id = row.taskID("id")
        lane = row.laneID("lane_id")
        priority = Int32(clamping: row.integer("priority"))
        hasIntent = row.flag(PartTable.hasIntent)
    }

    fileprivate static let columns = Row.columns(ReleasedRow.init(row:)).joined(separator: ", ")
}

/// One moment on two clocks, in milliseconds: on the boot clock and on the age calendar (`StartClock.calendar`).
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
struct PastLatestStartRow {
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
