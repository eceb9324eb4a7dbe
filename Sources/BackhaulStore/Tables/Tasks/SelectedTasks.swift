internal import BackhaulModel

/// Statements that read or change all selected rows of `tasks` at once. The ids of these rows are in the temporary
/// table `selected`, which `Selection` fills.
struct SelectedTasks {
    let connection: Connection

    func lanes() throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.selectLanes) { row throws(Failure) in row.laneID() })
    }

    /// Counts the selected tasks of each group. `state`: the state with which the caller ends all these tasks. Tasks
    /// that were set aside do not count for their group. If `areAside` is true, counts only these tasks.
    func groups(endingAs state: TaskState, areAside: Bool = false) throws(Failure) -> [GroupEnds] {
        try connection.all(Self.selectGroups, .flag(areAside), read: Self.group)
            .map { GroupEnds($0.group, state, count: $0.count) }.sorted { $0.group < $1.group }
    }

    /// Counts the selected tasks that were set aside.
    func countAside() throws(Failure) -> Int64 {
        try connection.first(Self.countAside) { row throws(Failure) in row.integer() } ?? 0
    }

    /// Counts the selected tasks that are ready (waiting without a delay) and whose place is in `places`. A task's
    /// place is its lane together with its constraints.
    func count(in places: [LaneID: Set<ConstraintsID>]) throws(Failure) -> UInt64 {
        var sum: UInt64 = 0
        try connection.each(Self.countPlaces) { row throws(Failure) in
            let (lane, constraints, count) = Self.place(&row)
            if places[lane]?.contains(constraints) == true { sum += count }
        }
        return sum
    }

    /// Returns the ids of the selected tasks' constraints, without duplicates.
    func constraints() throws(Failure) -> [ConstraintsID] {
        try connection.all(Self.selectConstraints) { row throws(Failure) in row.constraintsID() }
    }

    /// Returns the challenges for which selected tasks wait, or have last waited, without duplicates.
    func challenges() throws(Failure) -> [ChallengeID] {
        try connection.all(Self.selectChallenges) { row throws(Failure) in row.challengeID() }
    }

    func highestPriority() throws(Failure) -> Int32 {
        let found = try connection.first(Self.selectHighestPriority) { row throws(Failure) in row.optionalInteger() }
        return (found ?? nil).map { Int32(clamping: $0) } ?? .min
    }

    func withConstraints() throws(Failure) -> [(task: TaskID, constraints: ConstraintsID)] {
        try connection.all(Self.selectWithConstraints, read: Self.withConstraints)
    }

    func scheduled() throws(Failure) -> [ScheduledRow] {
        try connection.all(Self.selectScheduled, read: ScheduledRow.init(row:))
    }

    // MARK: Changing

    func suspend(now: Int64) throws(Failure) { try connection.run(Self.suspend, .integer(now)) }

    func resume(now: Int64) throws(Failure) { try connection.run(Self.resume, .integer(now)) }

    /// Sets the selected waiting tasks aside until the ends of their resource time-outs.
    func setAside(_ now: DelayMoment) throws(Failure) {
        try connection.run(Self.setAside, .integer(now.boot), .integer(now.calendar))
    }

    /// Sets the round of the selected tasks that were set aside.
    func setRoundOfAside(_ round: UInt64) throws(Failure) { try connection.run(Self.setRound, .bits(round)) }

    func setPriority(_ priority: Int32) throws(Failure) { try connection.run(Self.setPriority, .number(priority)) }

    /// Ends the delays of the selected tasks. Tasks that wait for a credential, for their earliest start or for the
    /// storage of their complete file stay delayed.
    func endDelays() throws(Failure) { try connection.run(Self.endDelays) }

    /// Delays each selected waiting task until its earliest start, if that start is in the future. Returns whether a
    /// task was delayed.
    func delayStarts(_ clock: StartClock) throws(Failure) -> Bool {
        try connection.run(Self.delayStarts, .integer(clock.boot), .integer(clock.wall))
        return connection.changes > 0
    }

    /// Ends the selected tasks as failed, or as cancelled if `failure` is nil.
    func end(_ failure: Failure?, now: Int64) throws(Failure) {
        let state = failure == nil ? TaskState.cancelled : .failed
        try connection.run(
            Self.end, .integer(now), .number(state.rawValue), .number((failure?.status ?? .cancelled).rawValue),
            .number((failure?.domain ?? FailureDomain.none).rawValue), .integer(failure?.detail ?? 0),
            .optional(failure?.message))
    }

    // MARK: -

    private static func group(_ row: inout Row) -> (group: GroupID, count: Int64) {
        (GroupID(row.integer("group_id")), row.integer("count(*)"))
    }

    private static func place(_ row: inout Row) -> (lane: LaneID, constraints: ConstraintsID, count: UInt64) {
        (row.laneID("lane_id"), row.constraintsID("constraints_id"), row.number("count(*)"))
    }

    private static func withConstraints(_ row: inout Row) -> (task: TaskID, constraints: ConstraintsID) {
        (row.taskID("tasks.id"), row.constraintsID("constraints_id"))
    }

    // CROSS JOIN makes SQLite begin with the table `selected`, which has few rows.
    private static let tasks = "FROM selected CROSS JOIN tasks ON tasks.id = selected.id"
    private static let selectLanes = Query("SELECT DISTINCT lane_id \(tasks)")
    private static let selectGroups = Query(
        group, "\(tasks) WHERE group_id IS NOT NULL AND \(TaskDelays.isAside) = ? GROUP BY group_id")
    private static let countAside = Query("SELECT count(*) \(tasks) WHERE \(TaskDelays.isAside)")
    private static let countPlaces = Query(
        place, "\(tasks) WHERE \(TaskTable.isReady) GROUP BY lane_id, constraints_id")
    private static let selectConstraints = Query("SELECT DISTINCT constraints_id \(tasks)")
    private static let selectChallenges = Query(
        "SELECT DISTINCT challenge_id \(tasks) WHERE challenge_id IS NOT NULL")
    private static let selectHighestPriority = Query("SELECT max(priority) \(tasks)")
    private static let selectWithConstraints = Query(withConstraints, "\(tasks)")
    private static let selectScheduled = Query(
        ScheduledRow.init(row:), "\(tasks) LEFT JOIN request_options ON request_options.task_id = tasks.id")

    private static let suspend = Query(
        """
        UPDATE tasks SET state = \(TaskState.suspended.sql), \(TaskDelays.clearDelay), challenge_id = NULL,
            suspended_since_ms = ?
        WHERE id IN selected
        """)
    private static let resume = Query(
        """
        UPDATE tasks SET state = \(TaskState.waiting.sql), \(TaskDelays.clearDelayUnlessComplete),
            suspended_ms = suspended_ms + ifnull(max(0, ?1 - suspended_since_ms), 0),
            own_end_ms = own_end_ms + ifnull(max(0, ?1 - suspended_since_ms), 0), suspended_since_ms = NULL
        WHERE id IN selected
        """)
    private static let setAside = Query(
        """
        UPDATE tasks SET \(TaskDelays.dueAtEnd), due_reason = \(WaitReason.suspended.sql), challenge_id = NULL
        WHERE id IN selected
        """)
    private static let setRound = Query("UPDATE tasks SET round = ? WHERE id IN selected AND \(TaskDelays.isAside)")
    private static let setPriority = Query("UPDATE tasks SET priority = ? WHERE id IN selected")
    private static let endDelays = Query(
        """
        UPDATE tasks SET \(TaskDelays.clearDelay)
        WHERE id IN selected AND NOT \(TaskDelays.staysDelayed) AND NOT \(TaskDelays.isAside)
            AND NOT \(PartTable.hasIntent)
        """)
    private static let delayStarts = Query(
        """
        UPDATE tasks SET due_reason = \(WaitReason.earliestStart.sql), \(TaskDelays.dueAtStart)
        WHERE \(TaskTable.isWaiting) AND id IN \(OptionTable.selectedEarly)
        """)
    private static let end = Query(
        """
        UPDATE tasks SET state = ?2, ended_ms = ?1, \(TaskDelays.clearDelay), challenge_id = NULL,
            status = ?3, error_domain = ?4, error_detail = ?5, error_message = ?6
        WHERE id IN selected
        """)
}

/// The columns of a task that are needed to *reschedule* it: to change its earliest or latest start.
struct ScheduledRow {
    let id: TaskID
    let constraints: ConstraintsID
    let state: TaskState
    let due: Int64?
    let reason: WaitReason
    let enqueued: Int64
    let earliest: Int64?
    let latest: Int64?
    /// When the task began to wait for its earliest start. Nil if the earliest start has not changed since the enqueue,
    /// or if the task has waited since the enqueue.
    let delayed: Int64?

    fileprivate init(row: inout Row) {
        id = row.taskID("tasks.id")
        constraints = row.constraintsID("constraints_id")
        state = row.state("state")
        due = row.optionalInteger("due_boot_ms")
        reason = WaitReason(rawValue: row.number("due_reason")) ?? .none
        enqueued = row.integer("enqueued_ms")
        earliest = row.optionalInteger("earliest_start_ms")
        latest = row.optionalInteger("request_options.latest_start_ms")
        delayed = row.optionalInteger("start_delayed_ms")
    }
}
