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
        var newest = EventID.zero
        var groups: [GroupEnds] = []
        var challenges: Set<ChallengeID> = []
        for end in ends {
            guard let ended = try write(end, now: now) else { continue }
            var change = if let found { found } else { try change(in: ended.row.session) }
            guard change.session == ended.row.session else {
                throw Failure(.internal, "tasks of two sessions cannot end together; please report it")
            }
            newest = ended.event
            change.tasks.append(end.task)
            change.lanes.insert(ended.row.lane)
            if ended.leavesBodies { change.leavesBodies = true }
            if let group = ended.row.group { groups.append(GroupEnds(group, end.outcome.state)) }
            if let challenge = ended.row.challenge { challenges.insert(challenge) }
            found = change
        }
        guard var change = found else { return nil }
        let (session, previous) = (change.session, change.newestEvent)
        let count = Int64(change.tasks.count)
        (change.newestEvent, change.needsHost) = try settle(
            session, ended: count, newest: newest, groups: groups, now: now)
        for challenge in challenges where try closeIfUnused(challenge, of: session) {
            change.closedChallenges.append(challenge)
        }
        if readsEvents {
            change.previousEvent = previous
            change.events = try poll(session, after: previous, maximum: change.tasks.count + groups.count + 1).events
        }
        change.count = UInt64(change.tasks.count)
        return change
    }

    private struct WrittenEnd {
        var row: LiveTaskRow
        var leavesBodies: Bool
        var event: EventID
    }

    /// Everything of one end but what the session counts. Without an answer in the outcome, what was recorded with the
    /// intent stays.
    private func write(_ end: TaskEnd, now: Int64) throws(Failure) -> WrittenEnd? {
        let (task, outcome) = (end.task, end.outcome)
        guard outcome.state.hasEnded else {
            throw Failure(.internal, "a task cannot end as \(outcome.state); please report it")
        }
        guard let row = try tables.tasks.live(task) else { return nil }
        try tables.tasks.end(task, outcome, keptFile: directory.keptFile(of: task), now: now)
        if let attempt = end.attempt { try record(attempt) }
        try tables.requests.write(outcome.answer, outcome.checksum, of: task)
        try forgetProgress(task)
        let leavesBodies = try leaveBodies(of: task, hasSucceeded: outcome.state == .succeeded)
        let event = try tables.events.insertEnded(task, in: row.session, round: row.round, now: now)
        return WrittenEnd(row: row, leavesBodies: leavesBodies, event: event)
    }

    /// Counts `ended` tasks of the session, which have their events up to `newest`, and those of its groups. Groups and
    /// the round of which none is left end with an event. Returns the newest event.
    @discardableResult
    func settle(
        _ session: SessionID, ended: Int64, newest: EventID, groups: [GroupEnds], now: Int64
    ) throws(Failure) -> (newestEvent: EventID, isRoundOver: Bool) {
        var newest = newest
        var events = ended
        for group in groups {
            guard let event = try settle(group, of: session, now: now) else { continue }
            newest = event
            events += 1
        }
        try tables.sessions.count(ended: ended, events: events, newest: newest, in: session)
        guard let live = try tables.sessions.liveTasks(of: session), live.count == 0 else { return (newest, false) }
        newest = try tables.events.insertFinished(session, round: live.round, now: now)
        try tables.sessions.closeRound(of: session, newest: newest)
        return (newest, true)
    }

    /// The `group finished` that the ends bring about when none of the group's tasks is left.
    private func settle(_ ends: GroupEnds, of session: SessionID, now: Int64) throws(Failure) -> EventID? {
        guard try tables.groups.count(ends) == 0 else { return nil }
        guard let finished = try tables.groups.finish(ends.group) else { return nil }
        let round = try tables.sessions.liveTasks(of: session)?.round ?? 0
        return try tables.events.insertFinished(finished, in: session, round: round, now: now)
    }
}
