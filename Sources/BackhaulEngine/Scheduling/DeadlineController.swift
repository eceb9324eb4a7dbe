internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// The deadlines of waiting tasks: the ends of their resource time-outs, and their latest starts. After its latest
/// start, a task does not wait any more for the constraints of its preset (a named set of demands on the system).
///
/// Each engine has one object of this type. Running tasks check their own time-outs.
final class DeadlineController {
    private static let checkIntervalMilliseconds: Int64 = 5_000
    private static let retryMilliseconds: Int64 = 1_000
    /// The largest number of tasks that end in one check. It exceeds the number of tasks that can run
    /// (`Limits.runningTasks`), because these may not be able to end.
    private static let overdueLimit = 2_048

    private let runtime: any Runtime
    private let sessions: SessionTable
    private let scheduler: TaskScheduler
    private let calendar: CalendarWatch
    private var lastCheck: Int64 = 0
    /// For each session in which tasks have waited in the store (for a condition, a paused origin or a slot): the next
    /// end of a resource time-out. It is a time of the *age calendar* (`CalendarWatch`). By this clock, the age of a
    /// task stays the same when the machine's clock is set.
    private var nextEnds: [SessionID: Int64] = [:]
    /// The lanes of the last call of `tasksArePaused`.
    private var pausedLanes: Set<LaneID> = []
    /// At the end of this iteration of the loop, the engine reads when the next resource time-out in each of these
    /// sessions ends.
    private var sessionsWithUnknownEnd: Set<SessionID> = []
    /// The sessions whose overdue tasks were all ended, except those that still run, because they wait for their disk.
    private var checkedSessions: Set<SessionID> = []
    /// The next latest start, in Unix milliseconds.
    private var latestStart: Int64?

    init(_ runtime: any Runtime, _ sessions: SessionTable, _ scheduler: TaskScheduler, _ calendar: CalendarWatch) {
        self.runtime = runtime
        self.sessions = sessions
        self.scheduler = scheduler
        self.calendar = calendar
    }

    // MARK: Resource time-outs

    /// Ends overdue ready tasks. While tasks run, this function is called each second, and checks every five seconds.
    func checkReadyTasks() -> [EngineEffect] {
        runtime.now - lastCheck >= Self.checkIntervalMilliseconds ? endOverdueReadyTasks() : []
    }

    /// Ends ready tasks whose resource time-out is over. Ready tasks are the waiting tasks that are in memory. They are
    /// the next tasks to run for their server, and mostly the oldest tasks.
    func endOverdueReadyTasks() -> [EngineEffect] {
        lastCheck = runtime.now
        let overdue = scheduler.ready.values.filter(isOverdue).sorted { $0.id < $1.id }
        return [.endOverdue(Array(overdue.prefix(Self.overdueLimit)))]
    }

    func isOverdue(_ task: StoredTask) -> Bool {
        sessions[task.session].map { calendar.remainingMilliseconds(of: task, $0) <= 0 } ?? false
    }

    /// Reads when the next resource time-out in the session ends, because tasks of the session wait in the store.
    func tasksHeld(of session: SessionID) {
        if sessionsWithUnknownEnd.isEmpty {
            runtime.afterThisIteration { [unowned self] in
                let sessions = sessionsWithUnknownEnd
                sessionsWithUnknownEnd = []
                for session in sessions.sorted() { readNextEnd(of: session) }
                return []
            }
        }
        sessionsWithUnknownEnd.insert(session)
    }

    /// Takes the lanes of all paused origins. Reads the next ends of the sessions with new lanes.
    func tasksArePaused(in lanes: [Lane]) {
        for lane in lanes where !pausedLanes.contains(lane.id) { tasksHeld(of: lane.session) }
        pausedLanes = Set(lanes.map(\.id))
    }

    private func readNextEnd(of session: SessionID) {
        runtime.storeWithRetry(
            { (transaction) throws(Failure) in
                try transaction.tasks.nextTimeoutEnd(of: session)
            },
            then: { [unowned self] end in
                let isChecked = checkedSessions.remove(session) != nil
                let earliest = isChecked ? calendar.milliseconds + Self.retryMilliseconds : .min
                nextEnds[session] = end.map { max($0, earliest) }
                return [.scheduleCheck]
            })
    }

    func forget(_ session: SessionID) { nextEnds[session] = nil }

    /// Ends waiting tasks whose resource time-out is over.
    private func endOverdueHeldTasks() {
        let now = calendar.milliseconds
        for (session, end) in nextEnds.sorted(by: { $0.key < $1.key }) where end <= now {
            nextEnds[session] = nil
            runtime.storeWithRetry(
                { (transaction) throws(Failure) in
                    try transaction.tasks.overdue(of: session, limit: Self.overdueLimit, now: now)
                },
                then: { [unowned self] overdue in
                    if overdue.count < Self.overdueLimit { checkedSessions.insert(session) }
                    return [.endOverdue(overdue), .tasksHeld(of: session)]
                })
        }
    }

    /// Moves the times in `nextEnds` by `step`. When the machine's clock is set, the age calendar moves by this step,
    /// and so do the stored times of all tasks.
    func calendarStepped(by step: Int64) -> [EngineEffect] {
        nextEnds = nextEnds.mapValues { end in
            let (moved, overflow) = end.addingReportingOverflow(step)
            return overflow ? end : moved
        }
        return [.scheduleCheck]
    }

    // MARK: Latest starts

    /// Sets the next latest start if `time` is earlier than the known latest start. `time`: Unix milliseconds; nil if
    /// no task has a latest start.
    func latestStart(at time: Int64?) -> [EngineEffect] {
        guard let time, time < latestStart ?? .max else { return [] }
        latestStart = time
        return [.scheduleCheck]
    }

    private func moveTasksPastLatestStart() {
        let now = runtime.clocks.wallMilliseconds
        guard let next = latestStart, next <= now else { return }
        latestStart = nil
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.starts.applyLatestStarts(now: now)
            },
            then: { [unowned self] result in
                // If the store cannot commit now, the work is tried again after `retryMilliseconds`.
                guard case .success(let moved) = result else { return latestStart(at: now + Self.retryMilliseconds) }
                return [.restated(moved), .tasksWait(in: moved.lanes, reload: true)] + latestStart(at: moved.next)
            })
    }

    // MARK: Checks

    /// Checks the deadlines. The caller checks the calendar first. If the machine's clock was set, the times in the
    /// store have to move before they are compared with the new time.
    func check() {
        moveTasksPastLatestStart()
        endOverdueHeldTasks()
    }

    /// The milliseconds until the next deadline; nil if there is none.
    var untilNext: Int64? {
        let ends = nextEnds.values.map { $0 - calendar.milliseconds }
        let start = latestStart.map { $0 - runtime.clocks.wallMilliseconds }
        return (ends + [start].compactMap(\.self)).min()
    }
}
