public import BackhaulModel

/// Ends of tasks. An end and its event are one transaction.
public struct EndingOperations {
    let tables: Tables
    let directory: StoreDirectory
    private var attempts: AttemptOperations { AttemptOperations(tables: tables) }
    private var bodies: BodyOperations { BodyOperations(tables: tables) }
    private var challenges: ChallengeOperations { ChallengeOperations(tables: tables) }
    private var events: EventOperations { EventOperations(tables: tables, directory: directory) }
    private var rounds: RoundOperations { RoundOperations(tables: tables) }

    /// Ends the task. Nil when it has ended already or is gone. `attempt`: the last, unless it was recorded with the
    /// intent.
    public func record(
        _ task: TaskID, _ outcome: Outcome, now: Int64, readsEvents: Bool = false, attempt: Attempt? = nil
    ) throws(Failure) -> Change? {
        try record([TaskEnd(task, outcome, attempt: attempt)], now: now, readsEvents: readsEvents)
    }

    /// Ends tasks of one session: writes their outcomes and events, and when one was the round's last, closes the round
    /// with a `session finished`. Those that have ended already or are gone are passed over; nil when all are.
    /// `readsEvents`: the change brings the events.
    public func record(_ ends: [TaskEnd], now: Int64, readsEvents: Bool) throws(Failure) -> Change? {
        var found: Change?
        var newest = EventID.zero
        var groups: [GroupEnds] = []
        var waitedFor: Set<ChallengeID> = []
        for end in ends {
            guard let ended = try write(end, now: now) else { continue }
            var change = if let found { found } else { try tables.sessions.change(in: ended.row.session) }
            guard change.session == ended.row.session else {
                throw Failure(.internal, "tasks of two sessions cannot end together; please report it")
            }
            newest = ended.event
            change.tasks.append(end.task)
            change.lanes.insert(ended.row.lane)
            if ended.leavesBodies { change.leavesBodies = true }
            if let group = ended.row.group { groups.append(GroupEnds(group, end.outcome.state)) }
            if let challenge = ended.row.challenge { waitedFor.insert(challenge) }
            found = change
        }
        guard var change = found else { return nil }
        let (session, previous) = (change.session, change.newestEvent)
        let count = Int64(change.tasks.count)
        (change.newestEvent, change.needsHost) = try rounds.settle(
            session, ended: count, newest: newest, groups: groups, now: now)
        for challenge in waitedFor where try challenges.closeIfUnused(challenge, of: session) {
            change.closedChallenges.append(challenge)
        }
        if readsEvents {
            change.previousEvent = previous
            let maximum = change.tasks.count + groups.count + 1
            change.events = try events.poll(session, after: previous, maximum: maximum).events
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
    @inline(never)
    private func write(_ end: TaskEnd, now: Int64) throws(Failure) -> WrittenEnd? {
        let (task, outcome) = (end.task, end.outcome)
        guard outcome.state.hasEnded else {
            throw Failure(.internal, "a task cannot end as \(outcome.state); please report it")
        }
        guard let row = try tables.tasks.live(task) else { return nil }
        try tables.tasks.end(task, outcome, keptFile: directory.keptFile(of: task), now: now)
        if let attempt = end.attempt { try attempts.write(attempt) }
        try tables.requests.write(outcome.answer, outcome.checksum, of: task)
        try attempts.forgetProgress(task)
        let leavesBodies = try bodies.addLeftovers(of: task, hasSucceeded: outcome.state == .succeeded)
        let event = try tables.events.insertEnded(task, in: row.session, round: row.round, now: now)
        return WrittenEnd(row: row, leavesBodies: leavesBodies, event: event)
    }
}
