public import BackhaulModel

/// Operations on lanes and their ready tasks. Lists of ready tasks are in the order in which the tasks get slots.
/// *Constraints* are a task's demands on the system, such as external power.
public struct LaneOperations {
    let tables: Tables
    private var options: OptionOperations { OptionOperations(tables: tables) }

    /// Returns the lanes that have ready tasks.
    public func ready() throws(Failure) -> [Lane] { try tables.lanes.ready() }

    /// Returns the lane, or nil when it has no task any more.
    public func find(_ id: LaneID) throws(Failure) -> Lane? { try tables.lanes.lane(id) }

    /// Returns whether any task can start without a command, now or after a delay. An idle engine does not exit while
    /// such tasks exist. A task that waits for a credential or for another task does not count. If its time-out passes
    /// while no engine runs, the next engine ends the task.
    public func anyStarts() throws(Failure) -> Bool { try tables.sessions.anyStarts() }

    /// Returns up to `limit` ready tasks of the lane, in the order in which they get slots: by priority, then by age.
    /// Tasks in `known` and tasks with constraints in `held` are left out.
    public func waitingTasks(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID> = [], notOf held: Set<ConstraintsID> = []
    ) throws(Failure) -> [StoredTask] {
        guard limit > 0 else { return [] }
        // The ids are read from the index alone, so skipped tasks take little time.
        return try options.tasks(try readyTasks(of: lane, limit: limit, afterKnown: known, notOf: held))
    }

    /// Returns the lane's first ready task that has these constraints and is not in `known`. Returns nil if there is
    /// none.
    public func firstWaitingTask(
        of lane: LaneID, stating constraints: ConstraintsID, notIn known: Set<TaskID> = []
    ) throws(Failure) -> StoredTask? {
        var found: TaskID?
        try tables.readyTasks.each(of: lane, stating: constraints) { position in
            if !known.contains(position.id) { found = position.id }
            return found == nil
        }
        guard let found else { return nil }
        return try options.task(found)
    }

    /// Returns the ids of the tasks for `waitingTasks`. The index is sorted by constraints first. So this function
    /// reads the index one time for each id of constraints, and merges the results.
    private func readyTasks(
        of lane: LaneID, limit: Int, afterKnown known: Set<TaskID>, notOf held: Set<ConstraintsID>
    ) throws(Failure) -> [TaskID] {
        var readyTasks: [ReadyTasks.Position] = []
        var constraints: ConstraintsID? = .session
        while let current = constraints {
            if !held.contains(current) {
                // If the list is full, a task that would come after the last task of the list is not needed.
                let last = readyTasks.count == limit ? readyTasks.last : nil
                var more: [ReadyTasks.Position] = []
                try tables.readyTasks.each(of: lane, stating: current) { position in
                    if let last, last < position { return false }
                    if !known.contains(position.id) { more.append(position) }
                    return more.count < limit
                }
                readyTasks = readyTasks.isEmpty ? more : Array((readyTasks + more).sorted().prefix(limit))
            }
            constraints = try tables.readyTasks.nextConstraints(after: current, in: lane)
        }
        return readyTasks.map(\.id)
    }

    /// Returns the ids of all constraints that ready tasks of the lane have.
    public func waitingConstraints(of lane: LaneID) throws(Failure) -> Set<ConstraintsID> {
        var found: Set<ConstraintsID> = []
        var last: ConstraintsID?
        // Each step jumps to the next constraints id in the index, so it takes the same time for any number of tasks.
        while let next = try tables.readyTasks.nextConstraints(after: last, in: lane) {
            found.insert(next)
            last = next
        }
        return found
    }

    /// For each lane and each id of constraints, counts the ready tasks. Listings show these numbers. If there are many
    /// tasks, this call is slow, because it reads all of them.
    public func waitingCounts() throws(Failure) -> [WaitingCount] { try tables.readyTasks.counts() }
}
