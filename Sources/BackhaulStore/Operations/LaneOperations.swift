public import BackhaulModel

/// Lanes, and their tasks in the order of their turn.
public struct LaneOperations {
    let tables: Tables
    private var options: OptionOperations { OptionOperations(tables: tables) }

    /// Lanes with tasks that may run now.
    public func ready() throws(Failure) -> [Lane] { try tables.lanes.ready() }

    /// Nil when it has no task any more.
    public func find(_ id: LaneID) throws(Failure) -> Lane? { try tables.lanes.lane(id) }

    /// Whether there is a task that starts without a command, now or after a delay. One that waits for a credential
    /// does not: should its time be over, the next engine finds out.
    public func anyStarts() throws(Failure) -> Bool { try tables.sessions.anyStarts() }

    /// Those of the lane that may run now, in the order of their turn: higher priority first, then older. Tasks in
    /// `known` are passed over and do not count towards `limit`; those with constraints that are `held` are left out.
    public func waitingTasks(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID> = [], notOf held: Set<ConstraintsID> = []
    ) throws(Failure) -> [StoredTask] {
        guard limit > 0 else { return [] }
        // From the index alone first: those that are passed over cost little.
        return try options.tasks(try turns(of: lane, limit: limit, afterKnown: known, notOf: held))
    }

    /// The first of those that have stated this, passing over `known`; nil: none waits for its turn.
    public func firstWaitingTask(
        of lane: LaneID, stating constraints: ConstraintsID, notIn known: Set<TaskID> = []
    ) throws(Failure) -> StoredTask? {
        var found: TaskID?
        try tables.turns.each(of: lane, stating: constraints) { turn in
            if !known.contains(turn.id) { found = turn.id }
            return found == nil
        }
        guard let found else { return nil }
        return try options.task(found)
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
}
