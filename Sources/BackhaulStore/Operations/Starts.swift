public import BackhaulModel

/// Earliest and latest starts. Both are times of the calendar on the wall, whatever becomes of it; a task that waits
/// for its earliest start is a delayed one, whose due time follows the calendar.
extension Transaction {
    /// Tasks whose latest start has come state from now on that it has, whether they wait or run. Some thousands at a
    /// time: then `next` has come, too.
    public func movePastLatestStart(now: Int64) throws(Failure) -> RestatedTasks {
        var moved = RestatedTasks()
        var after: [ConstraintsOfSession: ConstraintsID] = [:]
        for task in try tables.delays.late(now: now, limit: Self.batch) {
            let key = ConstraintsOfSession(session: task.session, constraints: task.constraints)
            if after[key] == nil {
                var constraints = try self.constraints(task.constraints)
                constraints.isPastLatestStart = true
                after[key] = try restate(constraints, in: task.session, &moved)
            }
            guard let constraints = after[key] else { continue }
            try tables.delays.endLatestStart(of: task.id, stating: constraints)
            guard task.isLive else { continue }
            moved.lanes.insert(task.lane)
            moved.tasks[task.id] = constraints
        }
        moved.next = try nextLatestStart()
        return moved
    }

    /// What the tasks of the selection have stated is replaced; whether their latest start is past stays.
    func restateSelectedTasks(_ stated: Constraints, of session: SessionID) throws(Failure) -> RestatedTasks {
        var restated = RestatedTasks()
        var after: [ConstraintsID: ConstraintsID] = [:]
        for before in try tables.selectedTasks.constraints() {
            let isPast = try constraints(before).isPastLatestStart
            let constraints = TaskConstraints(stated, isPastLatestStart: isPast)
            after[before] = try restate(constraints, in: session, &restated)
        }
        for (task, before) in try tables.selectedTasks.withConstraints() {
            guard let constraints = after[before] else { continue }
            restated.tasks[task] = constraints
            try tables.delays.setConstraints(constraints, of: task)
        }
        return restated
    }

    func restate(
        _ constraints: TaskConstraints, in session: SessionID, _ restated: inout RestatedTasks
    ) throws(Failure) -> ConstraintsID {
        let id = try constraintsID(for: constraints, in: session)
        if id != .session {
            restated.constraints[id] = StoredConstraints(id: id, session: session, constraints: constraints)
        }
        return id
    }

    /// In Unix milliseconds.
    public func nextLatestStart() throws(Failure) -> Int64? { try tables.delays.nextLatestStart() }

    /// Gives tasks that wait for their earliest start their due times by this boot's clock: all, because the calendar
    /// has jumped, or those that have none since another boot.
    func rescheduleStarts(_ now: ClockReading, all: Bool) throws(Failure) {
        try tables.delays.rescheduleStarts(now, all: all)
    }

    /// Tasks of the selection that wait for their turn, and whose earliest start lies ahead, wait for it.
    func delayStartsOfSelectedTasks(_ clock: StartClock) throws(Failure) -> Bool {
        guard try tables.selectedTasks.delayStarts(clock) else { return false }
        try tables.options.setDelayedOfSelected(since: clock.calendar, wall: clock.wall)
        return true
    }

    /// The boot clock's time of a moment that lies ahead.
    static func due(at start: Int64, bootMilliseconds: Int64, now: Int64) -> Int64 {
        bootMilliseconds + max(0, min(start.subtractingReportingOverflow(now).partialValue, TaskDelays.longest))
    }

    private struct ConstraintsOfSession: Hashable {
        var session: SessionID
        var constraints: ConstraintsID
    }
}
