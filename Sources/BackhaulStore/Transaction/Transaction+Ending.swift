public import BackhaulModel

/// Ends of tasks and rounds. An end and its event are one transaction.
extension Transaction {
    static let cancelledMessage = "the task was cancelled"

    /// Ends the task. Nil when it has ended already or is gone. `attempt`: the last, unless it was recorded with the
    /// intent.
    public func end(
        _ task: TaskID, _ outcome: Outcome, now: Int64, readsEvents: Bool = false, attempt: Attempt? = nil
    ) throws(Failure) -> Change? {
        try end([TaskEnd(task, outcome, attempt: attempt)], now: now, readsEvents: readsEvents)
    }

    /// Ends tasks of one session: writes their outcomes and events, and when one was the round's last, closes the round
    /// with a `session finished`. Those that have ended already or are gone are passed over; nil when all are.
    /// `readsEvents`: the change brings the events.
    public func end(_ ends: [TaskEnd], now: Int64, readsEvents: Bool) throws(Failure) -> Change? {
        var found: Change?
        var groups: [GroupEnds] = []
        var challenges: Set<Int64> = []
        for end in ends {
            guard let ended = try write(end, now: now) else { continue }
            var change = if let found { found } else { try change(in: ended.session) }
            guard change.session == ended.session else {
                throw Failure(.internal, "tasks of two sessions cannot end together; please report it")
            }
            change.tasks.append(end.task)
            change.lanes.insert(ended.lane)
            if ended.leavesBodies { change.leavesBodies = true }
            if let group = ended.group { groups.append(GroupEnds(group, end.outcome.state)) }
            if let challenge = ended.challenge { challenges.insert(challenge) }
            found = change
        }
        guard var change = found else { return nil }
        let (session, previous) = (change.session, change.newestEvent)
        if let settled = try settle(session, ended: Int64(change.tasks.count), groups: groups, now: now) {
            change.newestEvent = settled.newestEvent
            change.needsHost = settled.isRoundOver
        }
        for challenge in challenges { change.closedChallenges += try closeIfUnused(challenge, of: session) }
        if readsEvents {
            change.previousEvent = previous
            change.events = try poll(session, after: previous, maximum: change.tasks.count + groups.count + 1).events
        }
        change.count = UInt64(change.tasks.count)
        return change
    }

    private struct EndedRow {
        var session: SessionID
        var lane: LaneID
        var round: UInt64
        var challenge: Int64?
        var group: GroupID?
        var leavesBodies = false
    }

    /// Everything of one end but what the session counts. Without an answer in the outcome, what was recorded with the
    /// intent stays.
    private func write(_ end: TaskEnd, now: Int64) throws(Failure) -> EndedRow? {
        let (task, outcome) = (end.task, end.outcome)
        guard outcome.state.hasEnded else {
            throw Failure(.internal, "a task cannot end as \(outcome.state); please report it")
        }
        let row = try connection.first(Self.selectLive, .id(task)) { row throws(Failure) in
            EndedRow(
                session: row.sessionID(), lane: row.laneID(), round: row.bits(), challenge: row.optionalInteger(),
                group: row.optionalGroupID())
        }
        guard var row else { return nil }
        try connection.run(
            Self.endTask, .id(task), .number(outcome.state.rawValue), .integer(now), .number(outcome.attempts),
            .bits(outcome.bytesReceived), .bits(outcome.size), .number(outcome.answer.httpStatus),
            .number(outcome.failure?.status.rawValue ?? 0), .number(outcome.failure?.domain.rawValue ?? 0),
            .integer(outcome.failure?.detail ?? 0), .optional(outcome.failure?.message), .optional(outcome.path),
            .text(keptFile(task)), .bits(outcome.bytesSent))
        if let attempt = end.attempt { try record(attempt) }
        try writeAnswer(task, outcome.answer, outcome.checksum)
        try connection.run(Self.deleteCheckpoint, .id(task))
        try connection.run(Self.deleteIntent, .id(task))
        row.leavesBodies = try leaveBodies(of: task, hasSucceeded: outcome.state == .succeeded)
        try connection.run(Self.insertEvent, .id(row.session), .id(task), .bits(row.round), .integer(now))
        return row
    }

    /// The counters of the session and its groups after `ended` of its tasks got their events; the ends of groups, and
    /// of its round, of which none is left. Nil when nothing has ended.
    @discardableResult
    func settle(
        _ session: SessionID, ended: Int64, groups: [GroupEnds], now: Int64
    ) throws(Failure) -> (newestEvent: EventID, isRoundOver: Bool)? {
        guard ended > 0 else { return nil }
        var newest = connection.lastInsertedRow
        var events = ended
        for group in groups {
            guard let event = try settle(group, of: session, now: now) else { continue }
            newest = event
            events += 1
        }
        try connection.run(Self.countEnds, .id(session), .integer(ended), .integer(events), .integer(newest))
        let round = try connection.first(Self.selectRound, .id(session)) { row throws(Failure) in
            (live: row.integer(), number: row.bits())
        }
        guard let round, round.live == 0 else { return (EventID(rawValue: UInt64(clamping: newest)), false) }
        try connection.run(Self.insertFinished, .id(session), .bits(round.number), .integer(now))
        newest = connection.lastInsertedRow
        try connection.run(Self.closeRound, .id(session), .integer(newest))
        return (EventID(rawValue: UInt64(clamping: newest)), true)
    }

    /// A change of nothing yet, with the session's names and newest event.
    func change(in session: SessionID) throws(Failure) -> Change {
        let change = try connection.first(Self.selectNames, .id(session)) { row throws(Failure) in
            var change = Change(
                session: session, application: row.text(), identifier: row.text(), newestEvent: row.eventID())
            change.needsHost = !row.flag()
            return change
        }
        guard let change else { throw noSession() }
        return change
    }

    func writeAnswer(_ task: TaskID, _ answer: AnswerSummary, _ checksum: Checksum? = nil) throws(Failure) {
        guard
            answer.finalURL != nil || answer.mediaType != nil || !answer.headers.isEmpty || answer.errorBody != nil
                || answer.responseBody != nil || checksum != nil
        else { return }
        try connection.run(
            Self.insertAnswer, .id(task), .optional(answer.finalURL), .optional(answer.mediaType),
            .optional(HeaderBlob.pack(answer.headers)), .optional(answer.errorBody), .optional(answer.responseBody),
            .optional(checksum?.text))
    }

    // Not by RETURNING, for which SQLite opens a table in memory each time.
    private static let selectLive = Query(
        "SELECT session_id, lane_id, round, challenge_id, group_id FROM tasks WHERE id = ? AND ended_ms IS NULL")
    // `path` is stored only when it is neither the destination nor the kept file: both are known without it.
    private static let endTask = Query(
        """
        UPDATE tasks SET state = ?2, ended_ms = ?3, attempts = ?4, bytes_received = ?5, size = ?6,
            http_status = iif(?7 = 0, http_status, ?7),
            status = ?8, error_domain = ?9, error_detail = ?10, error_message = ?11, due_boot_ms = NULL, due_reason = 0,
            path = nullif(?12, ifnull(destination, ?13)), bytes_sent = max(bytes_sent, ?14)
        WHERE id = ?1
        """)
    private static let insertAnswer = Query(
        """
        INSERT OR REPLACE INTO answers (task_id, final_url, media_type, headers, error_body, response_body, checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """)
    private static let deleteCheckpoint = Query("DELETE FROM checkpoints WHERE task_id = ?")
    private static let deleteIntent = Query("DELETE FROM intents WHERE task_id = ?")
    private static let insertEvent = Query(
        "INSERT INTO events (session_id, task_id, kind, round, time_ms) VALUES (?, ?, 1, ?, ?)")
    private static let countEnds = Query(
        """
        UPDATE sessions SET live_tasks = live_tasks - ?2, events_waiting = events_waiting + ?3, newest_event = ?4
        WHERE id = ?1
        """)
    private static let selectRound = Query("SELECT live_tasks, round FROM sessions WHERE id = ?")
    private static let insertFinished = Query(
        "INSERT INTO events (session_id, task_id, kind, round, time_ms) VALUES (?, NULL, 2, ?, ?)")
    private static let closeRound = Query(
        "UPDATE sessions SET round_open = 0, events_waiting = events_waiting + 1, newest_event = ?2 WHERE id = ?1")
    private static let selectNames = Query(
        "SELECT application, identifier, newest_event, round_open FROM sessions WHERE id = ?")
}
