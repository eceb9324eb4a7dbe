public import BackhaulModel

/// Lanes, and their ready tasks in the order in which they get slots.
public struct LaneOperations {
    let tables: Tables
    private var options: OptionOperations { OptionOperations(tables: tables) }

    /// Returns the lanes that have ready tasks.
    public func ready() throws(Failure) -> [Lane] { try tables.lanes.ready() }

    /// Returns the lane; nil when it has no task any more.
    public func find(_ id: LaneID) throws(Failure) -> Lane? { try tables.lanes.lane(id) }

    /// Whether any task can start without a command, now or after a delay. A task that waits for a credential does not
    /// count; if its time-out passes, the next engine ends it.
    public func anyStarts() throws(Failure) -> Bool { try tables.sessions.anyStarts() }

    /// Returns ready tasks of the lane, in the order in which they get slots: higher priority first, then older. Tasks
    /// in `known` are skipped and do not count towards `limit`. Tasks with constraints in `held` are left out.
    public func waitingTasks(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID> = [], notOf held: Set<ConstraintsID> = []
    ) throws(Failure) -> [StoredTask] {
        guard limit > 0 else { return [] }
        // The index alone gives the ids, so skipped tasks cost little.
        return try options.tasks(try readyTasks(of: lane, limit: limit, afterKnown: known, notOf: held))
    }

    /// Returns the first ready task with these constraints that is not in `known`; nil if there is none.
    public func firstWaitingTask(
        of lane: LaneID, stating constraints: ConstraintsID, notIn known: Set<TaskID> = []
    ) throws(Failure) -> StoredTask? {
        var found: TaskID?
        try tables.readyTasks.each(of: lane, stating: constraints) { turn in
            if !known.contains(turn.id) { found = turn.id }
            return found == nil
        }
        guard let found else { return nil }
        return try options.task(found)
    }

    /// Returns the ids of the tasks for `waitingTasks`. The index has tasks with equal constraints next to each other,
    /// so the results of each constraints id are merged.
    private func readyTasks(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID>, notOf held: Set<ConstraintsID>
    ) throws(Failure) -> [TaskID] {
        var readyTasks: [ReadyTasks.Position] = []
        var constraints: ConstraintsID? = .session
        while let current = constraints {
            if !held.contains(current) {
                // If the list is full, tasks that come after its last task are not needed.
                let last = readyTasks.count == limit ? readyTasks.last : nil
                var more: [ReadyTasks.Position] = []
                try tables.readyTasks.each(of: lane, stating: current) { turn in
                    if let last, last < turn { return false }
                    if !known.contains(turn.id) { more.append(turn) }
                    return more.count < limit
                }
                readyTasks = readyTasks.isEmpty ? more : Array((readyTasks + more).sorted().prefix(limit))
            }
            constraints = try tables.readyTasks.nextConstraints(after: current, in: lane)
        }
        return readyTasks.map(\.id)
    }

    /// Returns the constraints of the lane's ready tasks.
    public func waitingConstraints(of lane: LaneID) throws(Failure) -> Set<ConstraintsID> {
        var found: Set<ConstraintsID> = []
        var last: ConstraintsID?
        // Each step jumps to the next constraints id in the index, regardless of the number of tasks.
        while let next = try tables.readyTasks.nextConstraints(after: last, in: lane) {
            found.insert(next)
            last = next
        }
        return found
    }

    /// The numbers of ready tasks, for listings: it reads all of them.
    public func waitingCounts() throws(Failure) -> [WaitingCount] { try tables.readyTasks.counts() }
}
