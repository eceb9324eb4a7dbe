public import BackhaulModel

/// Live tasks as the engine runs them.
extension Transaction {
    /// Those of the lane that may run now, in the order of their turn: higher priority first, then older. Tasks in
    /// `known` are passed over and do not count towards `limit`; those with constraints that are `held` are left out.
    public func waitingTasks(
        lane: LaneID, limit: Int, afterKnown known: Set<TaskID> = [], notOf held: Set<ConstraintsID> = []
    ) throws(Failure) -> [StoredTask] {
        guard limit > 0 else { return [] }
        // From the index alone first: those that are passed over cost little.
        return try storedTasks(try turns(of: lane, limit: limit, afterKnown: known, notOf: held))
    }

    /// The first of those that have stated this, passing over `known`; nil: none waits for its turn.
    public func firstWaitingTask(
        lane: LaneID, stating constraints: ConstraintsID, notIn known: Set<TaskID> = []
    ) throws(Failure) -> StoredTask? {
        var found: TaskID?
        try tables.turns.each(of: lane, stating: constraints) { turn in
            if !known.contains(turn.id) { found = turn.id }
            return found == nil
        }
        guard let found else { return nil }
        return try storedTask(found)
    }

    /// Tasks with the same constraints stand one after another in the index; those that few tasks state are merged with
    /// those that state none.
    private func turns(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID>, notOf held: Set<ConstraintsID>
    ) throws(Failure) -> [TaskID] {
        var turns: [TaskTurns.Turn] = []
        var constraints: ConstraintsID? = .session
        while let current = constraints {
            if !held.contains(current) {
                // A later task than the last of as many as are wanted is not wanted, and nor is any after it.
                let last = turns.count == limit ? turns.last : nil
                var more: [TaskTurns.Turn] = []
                try tables.turns.each(of: lane, stating: current) { turn in
                    if let last, last < turn { return false }
                    if !known.contains(turn.id) { more.append(turn) }
                    return more.count < limit
                }
                turns = turns.isEmpty ? more : Array((turns + more).sorted().prefix(limit))
            }
            constraints = try tables.turns.nextConstraints(after: current, in: lane)
        }
        return turns.map(\.id)
    }

    /// What tasks of the lane that wait for their turn have stated.
    public func waitingConstraints(of lane: LaneID) throws(Failure) -> Set<ConstraintsID> {
        var found: Set<ConstraintsID> = []
        var last: ConstraintsID?
        // One step to where others begin in the index, however many tasks state the same.
        while let next = try tables.turns.nextConstraints(after: last, in: lane) {
            found.insert(next)
            last = next
        }
        return found
    }

    /// How many tasks wait for their turn, for listings: it walks over all of them.
    public func waitingCounts() throws(Failure) -> [WaitingCount] { try tables.turns.counts() }

    /// Tasks whose file was about to get its final name when an engine stopped.
    public func tasksWithIntent() throws(Failure) -> [StoredTask] {
        var tasks: [StoredTask] = []
        for row in try tables.listing.storedWithIntent() { tasks.append(try withOptions(row)) }
        return tasks
    }

    /// Nil when there is none.
    public func task(_ id: TaskID) throws(Failure) -> TaskRecord? {
        guard let row = try tables.listing.record(id, directory) else { return nil }
        return TaskRecord(
            task: try withOptions(row.stored), state: row.state, outcome: row.state.hasEnded ? row.outcome : nil)
    }

    private func storedTasks(_ ids: [TaskID]) throws(Failure) -> [StoredTask] {
        var tasks: [StoredTask] = []
        tasks.reserveCapacity(ids.count)
        for id in ids {
            if let task = try storedTask(id) { tasks.append(task) }
        }
        return tasks
    }

    private func storedTask(_ id: TaskID) throws(Failure) -> StoredTask? {
        guard let row = try tables.listing.stored(id) else { return nil }
        return try withOptions(row)
    }

    private func withOptions(_ row: StoredTaskRow) throws(Failure) -> StoredTask {
        guard row.hasOptions, let options = try options(of: row.task.id, stating: row.task.constraints) else {
            return row.task
        }
        var task = row.task
        task.request.options = options
        task.refreshed = try refreshed(task)
        if let refreshed = task.refreshed { task.request = refreshed.applied(to: task.request) }
        return task
    }

    // MARK: Resource time-outs

    // They may be asked for again and again while tasks are held, so both kinds stand in an index in the order of their
    // ends.

    /// Waiting tasks of the session whose time is over, running and delayed ones among them. `now`: by the calendar of
    /// the rows' ages.
    public func overdue(of session: SessionID, limit: Int, now: Int64) throws(Failure) -> [StoredTask] {
        var ids = try tables.turns.overdue(of: session, now: now, limit: limit)
        // Overflow: no time-out can have passed.
        let (age, isForEver) = now.subtractingReportingOverflow(try timeout(of: session))
        if !isForEver {
            ids += try tables.turns.enqueued(of: session, before: age, limit: max(0, limit - ids.count))
        }
        return try storedTasks(ids)
    }

    /// When the time of the next waiting task of the session is over, by the calendar of the rows' ages.
    public func nextEndOfTime(_ session: SessionID) throws(Failure) -> Int64? {
        let own = try tables.turns.nextOwnEnd(of: session)
        guard let oldest = try tables.turns.oldest(of: session) else { return own }
        let (end, isForEver) = oldest.addingReportingOverflow(try timeout(of: session))
        return isForEver ? own : min(own ?? end, end)
    }

    private func timeout(of session: SessionID) throws(Failure) -> Int64 {
        try tables.sessions.resourceTimeout(of: session) ?? .max
    }
}
