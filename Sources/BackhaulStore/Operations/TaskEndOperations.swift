internal import BackhaulModel

/// Writes the ends of tasks, with what follows for the tasks that wait for them.
struct TaskEndOperations {
    let tables: Tables
    private var attempts: AttemptOperations { AttemptOperations(tables: tables) }
    private var challenges: ChallengeOperations { ChallengeOperations(tables: tables) }
    private var dependencies: DependencyOperations { DependencyOperations(tables: tables) }
    private var leftovers: LeftoverOperations { LeftoverOperations(tables: tables) }
    private var rounds: RoundOperations { RoundOperations(tables: tables) }

    /// Ends tasks of one session: writes their outcomes and events. If all tasks of the session have ended, closes the
    /// round with a `session finished` event. Tasks that have ended or do not exist are skipped; returns nil when all
    /// tasks are skipped. `ofDependents`: whether the tasks waited for tasks that have ended.
    func record(_ ends: [TaskEnd], ofDependents: Bool = false, now: Int64) throws(Failure) -> Change? {
        var found: Change?
        var newest = EventID.zero
        var groups: [GroupEnds] = []
        var waitedFor: Set<ChallengeID> = []
        var aside: Int64 = 0
        // The end of a task may end other tasks, which wait for it.
        var (pending, position) = (ends, 0)
        while position < pending.count {
            let end = pending[position]
            position += 1
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
            if ofDependents || position > ends.count { change.endedDependents.append(end.outcome.state) }
            let consequences = try dependencies.ended(end.task, in: end.outcome.state, now: now)
            pending += consequences.ends
            change.released.formUnion(consequences.lanes)
            change.priority = max(change.priority, consequences.priority)
            found = change
        }
        guard var change = found else { return nil }
        let session = change.session
        change.previousEvent = change.newestEvent
        let count = Int64(change.tasks.count)
        if aside > 0 { try tables.sessions.count(aside: -aside, in: session) }
        (change.newestEvent, change.needsHost) = try rounds.settle(
            session, ended: count, newest: newest, groups: groups, now: now)
        change.closedChallenges = try challenges.closeUnused(among: waitedFor, of: session)
        change.count = UInt64(change.tasks.count)
        return change
    }

    /// Ends the tasks that waited for tasks which a command has ended, and adds this to the command's change.
    func record(
        _ consequences: DependencyOperations.Consequences, into change: inout Change, now: Int64
    ) throws(Failure) {
        change.released.formUnion(consequences.lanes)
        change.priority = max(change.priority, consequences.priority)
        guard !consequences.ends.isEmpty,
            let ended = try record(consequences.ends, ofDependents: true, now: now)
        else { return }
        change.released.formUnion(ended.released)
        change.priority = max(change.priority, ended.priority)
        change.endedDependents += ended.endedDependents
        if ended.hasLeftoverBodies { change.hasLeftoverBodies = true }
        change.closedChallenges += ended.closedChallenges
    }

    /// Closes the challenge, and ends its tasks as failed.
    func failTasks(of challenge: Challenge, in session: SessionID, now: Int64) throws(Failure) -> Change {
        var change = try tables.sessions.change(in: session)
        change.tasks = try tables.selection.selectTasks(waitingFor: challenge.id)
        change.count = UInt64(change.tasks.count)
        change.lanes = try tables.selectedTasks.lanes()
        if !change.tasks.isEmpty { try endSelected(challenge.space.failure, &change, now: now) }
        try challenges.close(challenge.id, of: session)
        try tables.selection.clear()
        let after = try tables.sessions.change(in: session)
        (change.newestEvent, change.needsHost) = (after.newestEvent, after.needsHost)
        return change
    }

    /// Ends the selected tasks, which are the tasks of the change: as failed, or as cancelled if `failure` is nil.
    func endSelected(_ failure: Failure?, _ change: inout Change, now: Int64) throws(Failure) {
        let (session, count) = (change.session, Int64(change.tasks.count))
        let state = failure == nil ? TaskState.cancelled : .failed
        let groups = try tables.selectedTasks.groups(endingAs: state)
        try tables.sessions.count(aside: -(try tables.selectedTasks.countAside()), in: session)
        try tables.selectedTasks.end(failure, now: now)
        try leftovers.addFilesOfSelected()
        try tables.parts.removeCheckpointsOfSelected()
        change.abandonsUploads = try tables.uploads.abandonSelected(now: now)
        let newest = try tables.events.insertEndedOfSelected(now: now)
        let consequences = try dependencies.selectedEnded(in: state, now: now)
        try rounds.settle(session, ended: count, newest: newest, groups: groups, now: now)
        try record(consequences, into: &change, now: now)
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
        try tables.dependencies.endAll(of: task)
        let hasLeftoverBodies = try tables.bodies.addLeftovers(of: task, hasSucceeded: outcome.state == .succeeded)
        let event = try tables.events.insertEnded(
            task, as: outcome.state, in: row.session, round: row.round, now: now)
        return RecordedEnd(
            row: row, hasLeftoverBodies: hasLeftoverBodies, abandonsUpload: abandonsUpload, event: event)
    }
}
