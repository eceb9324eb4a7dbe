public import BackhaulModel

/// Starts that are said anew. `start_delayed_ms` is there for tasks of which they were: since when the task has waited
/// for its earliest start, which may be that start itself where it did not have to.
extension Transaction {
    /// Leaves in the selection what is changed by it. Nothing is written when a task of it could never start.
    func rescheduleSelectedTasks(
        _ rescheduling: Rescheduling, of session: SessionID, running: Set<TaskID>, _ clock: StartClock
    ) throws(Failure) -> RescheduledTasks {
        let tasks = try connection.all(Self.selectScheduled) { row throws(Failure) in
            row.scheduledTask(running: running, clock)
        }
        var changes: [(task: ScheduledRow, decision: RescheduleDecision)] = []
        for row in tasks {
            if let decision = try RescheduleDecision.decide(row.task, rescheduling, now: clock.wall) {
                changes.append((row, decision))
            }
        }
        try select(changes.lazy.map(\.task.task.id.rawValue))
        var rescheduled = RescheduledTasks()
        guard !changes.isEmpty else { return rescheduled }
        try makeOptionsOfSelectedTasks()
        var waits: [(task: TaskID, wait: Wait)] = []
        for (row, decision) in changes {
            try write(decision, to: row, of: session, clock, &rescheduled)
            if let wait = row.waitThatEnds(with: decision, clock) { waits.append((row.task.id, wait)) }
        }
        try record(waits, in: session)
        if rescheduling.latest != .unchanged { rescheduled.restated.next = try nextLatestStart() }
        return rescheduled
    }

    private func write(
        _ decision: RescheduleDecision, to row: ScheduledRow, of session: SessionID, _ clock: StartClock,
        _ rescheduled: inout RescheduledTasks
    ) throws(Failure) {
        let id = row.task.id
        try connection.run(
            Self.writeStarts, .id(id), .optional(decision.earliest), .optional(decision.latest),
            .optional(row.delayed(after: decision, clock)))
        switch decision.delay {
        case .unchanged: break
        case .ended: try connection.run(Self.endDelay, .id(id))
        case .until(let start):
            let due = Self.due(at: start, bootMilliseconds: clock.boot, now: clock.wall)
            try connection.run(Self.delay, .id(id), .integer(due))
            rescheduled.hasDelayed = true
        }
        guard decision.latest != row.task.latest else { return }
        let isPast = decision.latest.map { $0 <= clock.wall } ?? false
        try connection.run(Self.writeLatest, .id(id), .optional(isPast ? nil : decision.latest))
        var constraints = try constraints(row.constraints)
        guard constraints.isPastLatestStart != isPast else { return }
        constraints.isPastLatestStart = isPast
        let stated = try restate(constraints, in: session, &rescheduled.restated)
        try connection.run(Self.restate, .id(id), .id(stated))
        rescheduled.restated.tasks[id] = stated
    }

    /// Those of these that may start. Others were told to start later since they were enqueued, and wait for that.
    public func startable(_ tasks: [StoredTask], _ clock: StartClock) throws(Failure) -> [StoredTask] {
        var startable: [StoredTask] = []
        for task in tasks {
            if let start = task.request.options.earliestStartMilliseconds, start > clock.wall {
                let due = Self.due(at: start, bootMilliseconds: clock.boot, now: clock.wall)
                try connection.run(Self.delayRescheduled, .id(task.id), .integer(due))
                if connection.changes == 1 {
                    try connection.run(Self.beginDelay, .id(task.id), .integer(clock.calendar))
                    continue
                }
            }
            startable.append(task)
        }
        return startable
    }

    private static let selectScheduled = Query(
        """
        SELECT tasks.id, constraints_id, state, due_boot_ms, due_reason, enqueued_ms, earliest_start_ms,
            request_options.latest_start_ms, start_delayed_ms
        FROM selected CROSS JOIN tasks ON tasks.id = selected.id
            LEFT JOIN request_options ON request_options.task_id = tasks.id
        """)
    private static let writeStarts = Query(
        """
        UPDATE request_options SET earliest_start_ms = ?2, latest_start_ms = ?3, start_delayed_ms = ?4
        WHERE task_id = ?1
        """)
    private static let writeLatest = Query("UPDATE tasks SET latest_start_ms = ?2 WHERE id = ?1")
    private static let restate = Query("UPDATE tasks SET constraints_id = ?2 WHERE id = ?1")
    private static let endDelay = Query("UPDATE tasks SET due_boot_ms = NULL, due_reason = 0 WHERE id = ?1")
    private static let delay = Query("UPDATE tasks SET due_boot_ms = ?2, due_reason = 18 WHERE id = ?1")
    private static let delayRescheduled = Query(
        """
        UPDATE tasks SET due_boot_ms = ?2, due_reason = 18 WHERE id = ?1 AND state = 1 AND due_boot_ms IS NULL
            AND EXISTS (SELECT 1 FROM request_options WHERE task_id = ?1 AND start_delayed_ms IS NOT NULL)
        """)
    private static let beginDelay = Query("UPDATE request_options SET start_delayed_ms = ?2 WHERE task_id = ?1")
}

struct RescheduledTasks {
    var restated = RestatedTasks()
    var hasDelayed = false
}

private struct ScheduledRow {
    var task: ScheduledTask
    var constraints: ConstraintsID
    /// Since when it has waited for its earliest start; nil: since its enqueue.
    var delayed: Int64?
    var enqueued: Int64

    func delayed(after decision: RescheduleDecision, _ clock: StartClock) -> Int64? {
        guard decision.earliest != task.earliest else { return delayed }
        switch decision.delay {
        case .until: return task.standing == .early ? delayed : clock.calendar
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
        let (reason, began) = (WaitReason.earliestStart, delayed ?? enqueued)
        guard began < end, end <= clock.calendar else { return nil }
        return Wait(reason, reason.text ?? "", beganMilliseconds: began, endedMilliseconds: end)
    }
}

extension Row {
    fileprivate mutating func scheduledTask(running: Set<TaskID>, _ clock: StartClock) -> ScheduledRow {
        let (id, constraints, state) = (taskID(), constraintsID(), state())
        let due = optionalInteger()
        let reason = WaitReason(rawValue: number()) ?? .none
        let standing: ScheduledTask.Standing =
            switch due {
            case _ where state != .waiting || running.contains(id): .other
            case nil: .ready
            case _ where reason == .earliestStart: .early
            case let due? where reason == .retry: .retry(clock.wall &+ max(0, due &- clock.boot))
            default: .other
            }
        let enqueued = integer()
        let task = ScheduledTask(
            id: id, earliest: optionalInteger(), latest: optionalInteger(), standing: standing)
        return ScheduledRow(task: task, constraints: constraints, delayed: optionalInteger(), enqueued: enqueued)
    }
}
