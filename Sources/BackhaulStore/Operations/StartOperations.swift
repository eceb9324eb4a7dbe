public import BackhaulModel

/// Operations on the earliest and latest starts of tasks. A task does not start before its earliest start. After its
/// latest start, a preset such as `discretionary`, which demands external power among other things, does not delay the
/// task any more. Both starts are times of the wall clock, and do not change when the wall clock is set. A task that
/// waits for its earliest start is a delayed task. The *due time* of this task is the time that the boot clock shows at
/// the earliest start. So if the wall clock is set, the due time changes.
public struct StartOperations {
    let tables: Tables
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }
    private var options: OptionOperations { OptionOperations(tables: tables) }
    private var waits: WaitOperations { WaitOperations(tables: tables) }

    /// Sets `isPastLatestStart` in the constraints of each task whose latest start has come. With this mark, presets do
    /// not delay the task any more. One call changes up to `DelayOperations.batch` tasks. If more tasks are left,
    /// `next` of the result is a past or present time.
    public func applyLatestStarts(now: Int64) throws(Failure) -> RestatedTasks {
        var restated = RestatedTasks()
        var after: [ConstraintsOfSession: ConstraintsID] = [:]
        for task in try tables.delays.pastLatestStart(now: now, limit: DelayOperations.batch) {
            let key = ConstraintsOfSession(session: task.session, constraints: task.constraints)
            if after[key] == nil {
                var constraints = try self.constraints.value(of: task.constraints)
                constraints.isPastLatestStart = true
                after[key] = try self.constraints.restate(constraints, in: task.session, &restated)
            }
            guard let constraints = after[key] else { continue }
            try tables.delays.endLatestStart(of: task.id, stating: constraints)
            guard task.isLive else { continue }
            restated.lanes.insert(task.lane)
            restated.tasks[task.id] = constraints
        }
        restated.next = try tables.delays.nextLatestStart()
        return restated
    }

    /// Returns the next latest start of a task, in Unix milliseconds.
    public func nextLatestStart() throws(Failure) -> Int64? { try tables.delays.nextLatestStart() }

    /// Delays each ready task of the selection if the task's earliest start is in the future. Returns whether there are
    /// such tasks.
    func delaySelected(_ clock: StartClock) throws(Failure) -> Bool {
        guard try tables.selectedTasks.delayStarts(clock) else { return false }
        try tables.options.setDelayedOfSelected(since: clock.calendar, wall: clock.wall)
        return true
    }

    /// Writes the request's earliest start, latest start and own resource time-out, if the request has any of these.
    /// The three values have a separate statement, because few requests have these values.
    func writeTimes(of request: Request, to task: TaskID, _ terms: inout EnqueueTerms) throws(Failure) {
        let options = request.options
        let wall = terms.clock.wall
        let latest = options.latestStartMilliseconds.flatMap { $0 > wall ? $0 : nil }
        let earliest = options.earliestStartMilliseconds.flatMap { $0 > wall ? $0 : nil }
        let timeout = options.policy.resourceTimeoutMilliseconds
        guard latest != nil || earliest != nil || timeout != nil else { return }
        // A suspended task starts to wait for its earliest start when it is resumed.
        let due =
            request.startsSuspended
            ? nil : earliest.map { Self.due(at: $0, bootMilliseconds: terms.clock.boot, now: wall) }
        terms.hasLatestStart = terms.hasLatestStart || latest != nil
        terms.hasDelayed = terms.hasDelayed || due != nil
        try tables.delays.setTimes(
            of: task, latest: latest, due: due,
            end: timeout.map { terms.now.saturatingAdd(Int64(clamping: $0)) })
    }

    // MARK: Rescheduling

    // The column `start_delayed_ms` is set for tasks whose earliest start was changed after the enqueue. There is one
    // exception: if the task has waited since the enqueue, and now waits for another earliest start, the column stays
    // NULL. The column has the time at which the task began to wait for its earliest start. If the task has not begun
    // to wait, the column has the earliest start itself. If the change removed the earliest start or ended the wait,
    // the column has the time of the change.

    /// Changes the earliest and latest starts of the selected tasks. Afterwards the selection has only the changed
    /// tasks. If one of the tasks could never start, throws and writes nothing.
    func rescheduleSelected(
        _ rescheduling: Rescheduling, of session: SessionID, running: Set<TaskID>, _ clock: StartClock
    ) throws(Failure) -> RescheduledTasks {
        var changes: [(task: RescheduledTask, decision: RescheduleDecision)] = []
        for row in try tables.selectedTasks.scheduled() {
            let task = RescheduledTask(row, isRunning: running.contains(row.id), clock)
            if let decision = try RescheduleDecision.decide(task.task, rescheduling, now: clock.wall) {
                changes.append((task, decision))
            }
        }
        try tables.selection.select(changes.lazy.map(\.task.row.id))
        var rescheduled = RescheduledTasks()
        guard !changes.isEmpty else { return rescheduled }
        try options.makeOfSelected()
        var ended: [(task: TaskID, wait: WaitRecord)] = []
        for (task, decision) in changes {
            try write(decision, to: task, of: session, clock, &rescheduled)
            if let wait = task.endedWait(with: decision, clock) { ended.append((task.row.id, wait)) }
        }
        try waits.record(ended, in: session)
        if rescheduling.latest != .unchanged { rescheduled.restated.next = try tables.delays.nextLatestStart() }
        return rescheduled
    }

    private func write(
        _ decision: RescheduleDecision, to task: RescheduledTask, of session: SessionID, _ clock: StartClock,
        _ rescheduled: inout RescheduledTasks
    ) throws(Failure) {
        let id = task.row.id
        try tables.options.setStarts(
            of: id, earliest: decision.earliest, latest: decision.latest, delayed: task.delayed(after: decision, clock))
        switch decision.delay {
        case .unchanged: break
        case .ended: try tables.delays.release(id)
        case .until(let start):
            let due = Self.due(at: start, bootMilliseconds: clock.boot, now: clock.wall)
            try tables.delays.delayStart(of: id, until: due)
            rescheduled.hasDelayed = true
        }
        guard decision.latest != task.row.latest else { return }
        let isPast = decision.latest.map { $0 <= clock.wall } ?? false
        try tables.delays.setLatestStart(isPast ? nil : decision.latest, of: id)
        var constraints = try self.constraints.value(of: task.row.constraints)
        guard constraints.isPastLatestStart != isPast else { return }
        constraints.isPastLatestStart = isPast
        let stated = try self.constraints.restate(constraints, in: session, &rescheduled.restated)
        try tables.delays.setConstraints(stated, of: id)
        rescheduled.restated.tasks[id] = stated
    }

    /// Returns the tasks that may start now. Delays the other tasks: their earliest start was changed after the
    /// enqueue, and is in the future.
    public func startable(_ tasks: [StoredTask], _ clock: StartClock) throws(Failure) -> [StoredTask] {
        var startable: [StoredTask] = []
        for task in tasks {
            if let start = task.request.options.earliestStartMilliseconds, start > clock.wall {
                let due = Self.due(at: start, bootMilliseconds: clock.boot, now: clock.wall)
                if try tables.delays.delayRescheduled(task.id, until: due) {
                    try tables.options.setDelayed(task.id, since: clock.calendar)
                    continue
                }
            }
            startable.append(task)
        }
        return startable
    }

    /// Returns the time on the boot clock at which the wall clock will show `start`.
    static func due(at start: Int64, bootMilliseconds: Int64, now: Int64) -> Int64 {
        bootMilliseconds + max(0, min(start.subtractingReportingOverflow(now).partialValue, TaskDelays.longest))
    }

    private struct ConstraintsOfSession: Hashable {
        var session: SessionID
        var constraints: ConstraintsID
    }
}

struct RescheduledTasks {
    var restated = RestatedTasks()
    var hasDelayed = false
}

private struct RescheduledTask {
    let row: ScheduledRow
    let task: ScheduledTask

    init(_ row: ScheduledRow, isRunning: Bool, _ clock: StartClock) {
        let standing: ScheduledTask.Standing =
            switch row.due {
            case _ where row.state != .waiting || isRunning: .other
            case nil: .ready
            case _ where row.reason == .earliestStart: .early
            case let due? where [.retry, .origin].contains(row.reason): .retry(clock.wall &+ max(0, due &- clock.boot))
            default: .other
            }
        self.row = row
        task = ScheduledTask(id: row.id, earliest: row.earliest, latest: row.latest, standing: standing)
    }

    func delayed(after decision: RescheduleDecision, _ clock: StartClock) -> Int64? {
        guard decision.earliest != task.earliest else { return row.delayed }
        switch decision.delay {
        case .until: return task.standing == .early ? row.delayed : clock.calendar
        case .ended: return clock.calendar
        // If the delay does not change, the task has not begun to wait for its earliest start.
        case .unchanged: return decision.earliest ?? clock.calendar
        }
    }

    /// Returns the wait for the former earliest start if this wait has ended. If the task now waits for another
    /// earliest start, the wait continues, and the result is nil. `decision` has the new starts.
    func endedWait(with decision: RescheduleDecision, _ clock: StartClock) -> WaitRecord? {
        guard decision.earliest != task.earliest, let start = task.earliest else { return nil }
        let end: Int64
        switch (task.standing, decision.delay) {
        case (.early, .until): return nil
        case (.early, _): end = clock.calendar
        default: end = start
        }
        let (reason, began) = (WaitReason.earliestStart, row.delayed ?? row.enqueued)
        guard began < end, end <= clock.calendar else { return nil }
        return WaitRecord(reason, reason.text ?? "", beganMilliseconds: began, endedMilliseconds: end)
    }
}
