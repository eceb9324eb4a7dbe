public import BackhaulModel

/// Starts that are said anew. `start_delayed_ms` is there for tasks of which they were: since when the task has waited
/// for its earliest start, which may be that start itself where it did not have to.
extension Transaction {
    /// Leaves in the selection what is changed by it. Nothing is written when a task of it could never start.
    func rescheduleSelectedTasks(
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
        try makeOptionsOfSelectedTasks()
        var waits: [(task: TaskID, wait: Wait)] = []
        for (task, decision) in changes {
            try write(decision, to: task, of: session, clock, &rescheduled)
            if let wait = task.waitThatEnds(with: decision, clock) { waits.append((task.row.id, wait)) }
        }
        try record(waits, in: session)
        if rescheduling.latest != .unchanged { rescheduled.restated.next = try nextLatestStart() }
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
        var constraints = try constraints(task.row.constraints)
        guard constraints.isPastLatestStart != isPast else { return }
        constraints.isPastLatestStart = isPast
        let stated = try restate(constraints, in: session, &rescheduled.restated)
        try tables.delays.setConstraints(stated, of: id)
        rescheduled.restated.tasks[id] = stated
    }

    /// Those of these that may start. Others were told to start later since they were enqueued, and wait for that.
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
            case let due? where row.reason == .retry: .retry(clock.wall &+ max(0, due &- clock.boot))
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
        // It has not begun to wait.
        case .unchanged: return decision.earliest ?? clock.calendar
        }
    }

    /// For the start that it had before. One that is only moved goes on.
    func waitThatEnds(with decision: RescheduleDecision, _ clock: StartClock) -> Wait? {
        guard decision.earliest != task.earliest, let start = task.earliest else { return nil }
        let end: Int64
        switch (task.standing, decision.delay) {
        case (.early, .until): return nil
        case (.early, _): end = clock.calendar
        default: end = start
        }
        let (reason, began) = (WaitReason.earliestStart, row.delayed ?? row.enqueued)
        guard began < end, end <= clock.calendar else { return nil }
        return Wait(reason, reason.text ?? "", beganMilliseconds: began, endedMilliseconds: end)
    }
}
