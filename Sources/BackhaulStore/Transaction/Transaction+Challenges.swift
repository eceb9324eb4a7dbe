public import BackhaulModel

/// Tasks wait for a credential in a row of `challenges`, and so does everyone else who needs the same. Such a task has
/// a due time: the end of its resource time-out.
extension Transaction {
    /// Records the attempt and lets the task wait for the challenge of the space, which is opened with its event unless
    /// it is open. `replacing`: an answered challenge whose answer did not serve: the tasks that it had freed wait
    /// again, too. Nil when the task does not wait for its turn any more (suspended, ended): then nothing is opened.
    public func park(
        _ task: TaskID, _ record: AttemptRecord, for demand: AuthenticationDemand, failures: UInt32 = 0,
        replacing: ChallengeID? = nil, bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> ParkedTask? {
        try recordAttempt(task, record)
        let found = try connection.first(Self.selectWaiting, .id(task)) { row throws(Failure) in
            (session: row.sessionID(), round: row.bits())
        }
        guard let found else { return nil }
        let session = found.session
        let (challenge, isNew) = try open(
            demand, failures: failures, session: session, round: found.round, now: now)
        try connection.run(Self.parkOne, .id(task), .id(challenge), .integer(bootMilliseconds), .integer(now))
        let lanes = try parkFreed(by: replacing, for: challenge, bootMilliseconds: bootMilliseconds, now: now)
        if replacing != nil { try forgetKept(demand.space, of: session) }
        var change = try change(in: session)
        change.needsHost = isNew
        change.tasks = [task]
        change.lanes = lanes
        return ParkedTask(challenge: challenge, isNew: isNew, change: change, nextDue: try nextDue())
    }

    /// Opens a challenge before any request, because an answer or what a request carries is too old, and lets these
    /// tasks wait for it, with all that wait since the old answer. Nil when none of them waits for its turn any more.
    public func ask(
        _ demand: AuthenticationDemand, for tasks: [TaskID], replacing: ChallengeID?, bootMilliseconds: Int64,
        now: Int64
    ) throws(Failure) -> ParkedTask? {
        var waiting: [TaskID] = []
        var place: (session: SessionID, round: UInt64)?
        for task in tasks {
            let found = try connection.first(Self.selectUndelayed, .id(task)) { row throws(Failure) in
                (session: row.sessionID(), round: row.bits())
            }
            guard let found else { continue }
            waiting.append(task)
            place = place ?? found
        }
        guard let place else { return nil }
        let (challenge, isNew) = try open(demand, failures: 0, session: place.session, round: place.round, now: now)
        for task in waiting {
            try connection.run(Self.parkOne, .id(task), .id(challenge), .integer(bootMilliseconds), .integer(now))
        }
        let lanes = try parkFreed(by: replacing, for: challenge, bootMilliseconds: bootMilliseconds, now: now)
        try forgetKept(demand.space, of: place.session)
        var change = try change(in: place.session)
        change.needsHost = isNew
        change.tasks = waiting
        change.lanes = lanes
        return ParkedTask(challenge: challenge, isNew: isNew, change: change, nextDue: try nextDue())
    }

    /// The open challenge of the space, or a new one with its event.
    private func open(
        _ demand: AuthenticationDemand, failures: UInt32, session: SessionID, round: UInt64, now: Int64
    ) throws(Failure) -> (ChallengeID, isNew: Bool) {
        let space = demand.space
        let found = try connection.first(
            Self.selectBySpace, .id(session), .number(space.kind.rawValue), .text(space.origin),
            .flag(space.storedRealm != nil), .text(space.storedRealm ?? "")
        ) { row throws(Failure) in row.challengeID() }
        if let found { return (found, false) }
        try connection.run(
            Self.insert, .id(session), .number(space.kind.rawValue), .text(space.origin),
            .flag(space.storedRealm != nil), .text(space.storedRealm ?? ""), .number(demand.schemes.rawValue),
            .number(failures), .integer(now), space.task.map(Value.id) ?? .null)
        let challenge = ChallengeID(rawValue: UInt64(clamping: connection.lastInsertedRow))
        try connection.run(Self.insertEvent, .id(session), .id(challenge), .bits(round), .integer(now))
        try connection.run(Self.countEvent, .id(session), .integer(connection.lastInsertedRow))
        return (challenge, true)
    }

    private func parkFreed(
        by replacing: ChallengeID?, for challenge: ChallengeID, bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> Set<LaneID> {
        guard let replacing else { return [] }
        let lanes = try lanesWaiting(for: replacing, freed: true)
        try connection.run(
            Self.parkFreed, .id(replacing), .id(challenge), .integer(bootMilliseconds), .integer(now))
        return lanes
    }

    /// Lets tasks that were not tried wait for an open challenge. Nil when it is open no more; else when the next
    /// delayed task is due.
    public func parkUnasked(
        _ tasks: [TaskID], for challenge: ChallengeID, bootMilliseconds: Int64, now: Int64
    ) throws(Failure) -> Int64? {
        guard try self.challenge(challenge) != nil else { return nil }
        for task in tasks {
            try connection.run(Self.parkUnasked, .id(task), .id(challenge), .integer(bootMilliseconds), .integer(now))
        }
        return try nextDue()
    }

    /// Gives those that waited for challenges in another boot their due times by this boot's clock.
    public func rescheduleParked(bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try connection.run(Self.reschedule, .integer(bootMilliseconds), .integer(now))
    }

    /// Gives those of the session new due times, after its resource time-out has changed.
    public func rescheduleParked(of session: SessionID, bootMilliseconds: Int64, now: Int64) throws(Failure) {
        try connection.run(Self.rescheduleSession, .integer(bootMilliseconds), .integer(now), .id(session))
    }

    // MARK: Reading

    /// The session's open challenges, by id.
    public func challenges(_ session: SessionID) throws(Failure) -> [Challenge] {
        try connection.all(Self.selectOfSession, .id(session)) { row throws(Failure) in row.challenge() }
            .sorted { $0.id < $1.id }
    }

    /// Nil when it is not open.
    public func challenge(_ id: ChallengeID) throws(Failure) -> Challenge? {
        try connection.first(Self.selectOne, .id(id)) { row throws(Failure) in row.challenge() }
    }

    /// Of all sessions.
    public func openChallenges() throws(Failure) -> [(session: SessionID, challenge: Challenge)] {
        try connection.all(Self.selectAll) { row throws(Failure) in (row.sessionID(), row.challenge()) }
    }

    /// Throws notFound when the session has no such open challenge.
    public func openChallenge(_ id: ChallengeID, of session: SessionID) throws(Failure) -> Challenge {
        let found = try connection.first(Self.selectOpen, .id(id), .id(session)) { row throws(Failure) in
            row.challenge()
        }
        guard let found else {
            throw Failure(
                .notFound,
                "the session has no open challenge \(id.rawValue): it was answered, or no task waits for it any more")
        }
        return found
    }

    // MARK: Answers

    /// Closes the challenge; its tasks wait for their turn. `now`: to be remembered as the end of their wait.
    public func freeTasks(
        of challenge: Challenge, in session: SessionID, now: Int64? = nil
    ) throws(Failure) -> Change {
        let lanes = try lanesWaiting(for: challenge.id, freed: false)
        if let now { try recordAnswered(challenge, in: session, now: now) }
        try connection.run(Self.free, .id(challenge.id))
        try close(challenge.id, of: session)
        var change = try change(in: session)
        change.lanes = lanes
        return change
    }

    /// Closes the challenge; its tasks fail.
    public func failTasks(of challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) -> Change {
        try clearSelection()
        try connection.run(Self.selectParked, .id(challenge.id))
        let tasks = try selectedTasks()
        let lanes = try lanesOfSelectedTasks()
        let failure = challenge.space.failure
        try connection.run(
            Self.fail, .integer(now), .number(failure.status.rawValue), .number(failure.domain.rawValue),
            .integer(failure.detail), .text(failure.message))
        try leavePartsOfSelectedTasks()
        try connection.run(Self.dropCheckpoints)
        try close(challenge.id, of: session)
        if !tasks.isEmpty {
            let groups = try groupsOfSelectedTasks(endingAs: .failed)
            try connection.run(Self.insertEvents, .integer(now))
            try settle(session, ended: Int64(tasks.count), groups: groups, now: now)
        }
        try clearSelection()
        var change = try change(in: session)
        change.tasks = tasks
        change.lanes = lanes
        change.count = UInt64(tasks.count)
        return change
    }

    /// Nobody is to be asked for what no task needs: such challenges are removed, and with them their events.
    func closeChallengesWithoutTasks(_ session: SessionID) throws(Failure) -> [ChallengeID] {
        let unused = try connection.all(Self.selectUnused, .id(session)) { row throws(Failure) in row.challengeID() }
        for challenge in unused { try close(challenge, of: session) }
        return unused
    }

    /// The same for the one that an ended task has waited for: there may be as many as tasks.
    func closeIfUnused(_ number: Int64?, of session: SessionID) throws(Failure) -> [ChallengeID] {
        guard let number else { return [] }
        let unused = try connection.first(Self.selectIfUnused, .integer(number)) { row throws(Failure) in
            row.challengeID()
        }
        guard let unused else { return [] }
        try close(unused, of: session)
        return [unused]
    }

    private func close(_ challenge: ChallengeID, of session: SessionID) throws(Failure) {
        try connection.run(Self.delete, .id(challenge))
        try connection.run(Self.deleteEvent, .id(challenge))
        let events = connection.changes
        if events > 0 { try connection.run(Self.uncountEvents, .id(session), .number(events)) }
    }

    func lanesWaiting(for challenge: ChallengeID, freed: Bool) throws(Failure) -> Set<LaneID> {
        try Set(connection.all(Self.selectLanes, .id(challenge), .flag(freed)) { row throws(Failure) in row.laneID() })
    }

    // MARK: -

    /// ?3 and ?4: now, on the clock of this boot and on the wall.
    private static let parked = """
        due_boot_ms = ?3 + max(0, \(endOfTime) - ?4),
        due_reason = 8, challenge_id = ?2
        """
    private static let columns = """
        challenges.id, kind, origin, has_realm, realm, challenges.task_id, schemes, failures, opened_ms,
        (SELECT count(*) FROM tasks WHERE challenge_id = challenges.id AND due_reason = 8),
        iif(challenges.task_id IS NULL, NULL, coalesce(
            (SELECT url FROM refreshed_requests WHERE refreshed_requests.task_id = challenges.task_id),
            (SELECT url FROM requests WHERE requests.task_id = challenges.task_id)))
        """
    private static let selectUndelayed = Query(
        "SELECT session_id, round FROM tasks WHERE id = ? AND state = 1 AND due_boot_ms IS NULL")
    private static let selectWaiting = Query("SELECT session_id, round FROM tasks WHERE id = ? AND state = 1")
    private static let selectBySpace = Query(
        """
        SELECT id FROM challenges WHERE session_id = ? AND kind = ? AND origin = ? AND has_realm = ? AND realm = ?
        """)
    private static let insert = Query(
        """
        INSERT INTO challenges (session_id, kind, origin, has_realm, realm, schemes, failures, opened_ms, task_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let insertEvent = Query(
        "INSERT INTO events (session_id, challenge_id, kind, round, time_ms) VALUES (?, ?, 3, ?, ?)")
    private static let countEvent = Query(
        "UPDATE sessions SET events_waiting = events_waiting + 1, newest_event = ?2 WHERE id = ?1")
    private static let parkOne = Query("UPDATE tasks SET \(parked) WHERE id = ?1")
    private static let parkUnasked = Query(
        "UPDATE tasks SET \(parked) WHERE id = ?1 AND state = 1 AND due_boot_ms IS NULL")
    private static let parkFreed = Query(
        "UPDATE tasks SET \(parked) WHERE challenge_id = ?1 AND state = 1 AND due_boot_ms IS NULL")
    private static let end = """
        due_boot_ms = ?1 + max(0, \(endOfTime) - ?2)
        """
    private static let reschedule = Query("UPDATE tasks SET \(end) WHERE due_boot_ms = 0 AND due_reason = 8")
    private static let rescheduleSession = Query(
        """
        UPDATE tasks SET \(end)
        WHERE challenge_id IN (SELECT id FROM challenges WHERE session_id = ?3) AND due_reason = 8
        """)
    private static let selectOfSession = Query(
        "SELECT \(columns) FROM challenges WHERE challenges.session_id = ?")
    private static let selectOne = Query("SELECT \(columns) FROM challenges WHERE challenges.id = ?")
    private static let selectOpen = Query(
        "SELECT \(columns) FROM challenges WHERE challenges.id = ? AND challenges.session_id = ?")
    private static let selectAll = Query(
        """
        SELECT session_id, id, kind, origin, has_realm, realm, task_id, schemes, failures, opened_ms, 0, NULL
        FROM challenges ORDER BY id
        """)
    private static let free = Query(
        "UPDATE tasks SET due_boot_ms = NULL, due_reason = 0 WHERE challenge_id = ? AND due_reason = 8")
    private static let selectParked = Query(
        "INSERT INTO selected SELECT id FROM tasks WHERE challenge_id = ? AND due_reason = 8")
    private static let fail = Query(
        """
        UPDATE tasks SET state = 5, ended_ms = ?1, due_boot_ms = NULL, due_reason = 0, challenge_id = NULL,
            status = ?2, error_domain = ?3, error_detail = ?4, error_message = ?5
        WHERE id IN selected
        """)
    private static let selectUnused = Query(
        """
        SELECT id FROM challenges WHERE session_id = ? AND NOT EXISTS
            (SELECT 1 FROM tasks WHERE challenge_id = challenges.id AND due_reason = 8)
        """)
    private static let selectIfUnused = Query(
        """
        SELECT id FROM challenges WHERE id = ?1 AND NOT EXISTS
            (SELECT 1 FROM tasks WHERE challenge_id = ?1 AND due_reason = 8)
        """)
    private static let delete = Query("DELETE FROM challenges WHERE id = ?")
    private static let deleteEvent = Query("DELETE FROM events WHERE challenge_id = ?")
    private static let uncountEvents = Query("UPDATE sessions SET events_waiting = events_waiting - ?2 WHERE id = ?1")
    private static let selectLanes = Query(
        "SELECT DISTINCT lane_id FROM tasks WHERE challenge_id = ?1 AND state = 1 AND (due_reason <> 8) = ?2")
}
