public import BackhaulModel

/// Ends tasks. The end of a task, and the event that reports the end to the program, are written in one transaction.
public struct EndingOperations {
    let tables: Tables
    private var attempts: AttemptOperations { AttemptOperations(tables: tables) }
    private var challenges: ChallengeOperations { ChallengeOperations(tables: tables) }
    private var events: EventOperations { EventOperations(tables: tables) }
    private var rounds: RoundOperations { RoundOperations(tables: tables) }

    /// Ends one task. Returns nil when the task has ended already or does not exist. `attempt` is the task's last
    /// attempt. It is nil if that attempt was recorded already, in the same transaction as the finish intent.
    public func record(
        _ task: TaskID, _ outcome: Outcome, now: Int64, readsEvents: Bool = false, attempt: Attempt? = nil
    ) throws(Failure) -> Change? {
        try record([TaskEnd(task, outcome, attempt: attempt)], now: now, readsEvents: readsEvents)
    }

    /// Ends tasks of one session: writes their outcomes and events. If all tasks of the session have ended, closes the
    /// round with a `session finished` event. Tasks that have ended or do not exist are skipped; returns nil when all
    /// tasks are skipped. If `readsEvents` is true, the result contains the new events.
    public func record(_ ends: [TaskEnd], now: Int64, readsEvents: Bool) throws(Failure) -> Change? {
        var found: Change?
        var newest = EventID.zero
        var groups: [GroupEnds] = []
        var waitedFor: Set<ChallengeID> = []
        var aside: Int64 = 0
        for end in ends {
            guard let ended = try write(end, now: now) else { continue }
            var change = if let found { found } else { try tables.sessions.change(in: ended.row.session) }
            guard change.session == ended.row.session else {
                throw Failure(.internal, "tasks of two sessions cannot end together; please report it")
            }
            newest = ended.event
            change.tasks.append(end.task)
            change.lanes.insert(ended.row.lane)
            if ended.hasLeftoverBodies { change.hasLeftoverBodies = true }
            if ended.abandonsUpload { change.abandonsUploads = true }
            if ended.row.isAside { aside += 1 }
            if let group = ended.row.group { groups.append(GroupEnds(group, end.outcome.state)) }
            if let challenge = ended.row.challenge { waitedFor.insert(challenge) }
            found = change
        }
        guard var change = found else { return nil }
        let (session, previous) = (change.session, change.newestEvent)
        let count = Int64(change.tasks.count)
        if aside > 0 { try tables.sessions.count(aside: -aside, in: session) }
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

    private struct RecordedEnd {
        var row: LiveTaskRow
        var hasLeftoverBodies: Bool
        var abandonsUpload: Bool
        var event: EventID
    }

    /// Writes the end of one task, but does not change the session's counters. If the outcome has no response, the
    /// response that was recorded with the finish intent stays.
    private func write(_ end: TaskEnd, now: Int64) throws(Failure) -> RecordedEnd? {
        let (task, outcome) = (end.task, end.outcome)
        guard outcome.state.hasEnded else {
            throw Failure(.internal, "a task cannot end as \(outcome.state); please report it")
        }
        guard let row = try tables.tasks.live(task) else { return nil }
        try tables.tasks.end(task, outcome, keptFile: tables.directory.keptFile(of: task), now: now)
        if let attempt = end.attempt { try attempts.write(attempt) }
        try tables.requests.write(outcome.response, outcome.checksum, of: task)
        try tables.parts.removeCheckpoint(of: task)
        try tables.parts.removeIntent(of: task)
        let abandonsUpload = outcome.state == .succeeded ? false : try tables.uploads.abandon(of: task, now: now)
        try tables.uploads.remove(of: task)
        let hasLeftoverBodies = try tables.bodies.addLeftovers(of: task, hasSucceeded: outcome.state == .succeeded)
        let event = try tables.events.insertEnded(
            task, as: outcome.state, in: row.session, round: row.round, now: now)
        return RecordedEnd(
            row: row, hasLeftoverBodies: hasLeftoverBodies, abandonsUpload: abandonsUpload, event: event)
    }
}
