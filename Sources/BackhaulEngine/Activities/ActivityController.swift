internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Starts activities. An activity is work that repeats in windows of time. It starts one time in each window, as soon
/// as the power, network and other conditions meet its constraints. At the end of the window, the activity starts in
/// any case.
///
/// Each engine has one object of this type. Each check reads from the store which activities are due. The controller
/// owns the timer of the next check, and the results of the last check.
final class ActivityController {
    /// The delay after a failed start. A start fails, for example, if another task has the destination or if the store
    /// is full.
    private static let pauseMilliseconds: Int64 = 60_000

    private let runtime: any Runtime
    private let calendar: CalendarWatch
    private let log: @Sendable (LogEntry) -> Void
    private let holds: (EffectiveConstraints, SessionID) -> [Hold]?
    private let isEnding: () -> Bool
    private var timer: (any RuntimeTimer)?
    /// Whether a check is under way: the read of the store, and the starts that follow it.
    private var state = CheckState.idle
    /// The unfinished tasks of activities. An activity starts again only after its last task has ended.
    private var livingTasks: Set<TaskID> = []
    /// Activities whose window is open and which wait for better conditions.
    private var held: [OpenActivity] = []
    /// For each activity whose start failed: the time of the next attempt, in milliseconds since boot (`runtime.now`).
    /// While an activity has an entry, its further failures are not logged.
    private var retryTimes: [ActivityID: Int64] = [:]

    /// - holds: returns why tasks with these constraints may not run now (the holds); nil if the conditions were not
    /// read yet.
    /// - isEnding: returns true when no activity may start any more.
    init(
        _ runtime: any Runtime, _ calendar: CalendarWatch, log: @escaping @Sendable (LogEntry) -> Void,
        holds: @escaping (EffectiveConstraints, SessionID) -> [Hold]?, isEnding: @escaping () -> Bool
    ) {
        self.runtime = runtime
        self.calendar = calendar
        self.log = log
        self.holds = holds
        self.isEnding = isEnding
        timer = runtime.timer { [unowned self] in
            check()
            return []
        }
    }

    func close() { timer?.stop() }

    // MARK: Reasons for a check

    /// Checks which activities are due. This function is called, for example, when a window opens, when the clock was
    /// set, or when a command has changed an activity.
    func check() {
        guard !isEnding(), state.begin() else { return }
        let now = runtime.clocks.wallMilliseconds
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.activities.open(now: now)
            },
            then: { [unowned self] result in
                switch result {
                case .success(let (open, next)): return found(open, next: next)
                // If the store cannot be read, the next check follows after a pause.
                case .failure: return endCheck(untilNext: Self.pauseMilliseconds)
                }
            })
    }

    /// Checks which activities are due, after a command has set an activity. The command may have removed the cause of
    /// a failed start, so failed starts are repeated without a delay.
    func activityChanged() {
        retryTimes = retryTimes.mapValues { _ in .min }
        check()
    }

    func conditionsChanged() {
        let now = runtime.clocks.wallMilliseconds
        if held.contains(where: { mayStart($0, now: now) }) { check() }
    }

    func tasksEnded(_ tasks: [TaskID]) {
        guard !livingTasks.isEmpty, tasks.contains(where: livingTasks.contains) else { return }
        check()
    }

    // MARK: Checks

    private func found(_ open: [OpenActivity], next: Int64?) -> [EngineEffect] {
        let now = runtime.clocks.wallMilliseconds
        livingTasks = Set(open.compactMap(\.livingTask))
        let ids = Set(open.map(\.id))
        retryTimes = retryTimes.filter { ids.contains($0.key) }
        let effects = [EngineEffect.activitiesNeed(needs(of: open))]
        held = []
        var due: [OpenActivity] = []
        var nextCheck = next
        for activity in open where activity.livingTask == nil {
            if !mayStart(activity, now: now) {
                held.append(activity)
                nextCheck = [nextCheck, activity.window(now: now).nextCheck(now: now)].compactMap(\.self).min()
            } else if let time = retryTimes[activity.id], time > runtime.now {
                nextCheck = min(nextCheck ?? .max, now + time - runtime.now)
            } else {
                due.append(activity)
            }
        }
        guard let first = due.first else { return effects + endCheck(untilNext: nextCheck.map { $0 - now }) }
        start(first, then: due.dropFirst())
        return effects
    }

    /// Returns whether the activity may start now. The constraints of most activities are checked only before the
    /// start. The task does not get these constraints, because they could delay it beyond the end of the window. But a
    /// `background` activity with a request always starts when its window opens. Its task gets the constraints, waits
    /// until they are met, and shows the reason.
    private func mayStart(_ activity: OpenActivity, now: Int64) -> Bool {
        let window = activity.window(now: now)
        guard now < window.end, let constraints = constraints(of: activity) else { return now >= window.begin }
        guard let holds = holds(constraints, activity.session) else { return false }
        return window.shouldStart(now: now, holds: holds)
    }

    /// The constraints that the conditions must meet before the start; nil if there are none.
    private func constraints(of activity: OpenActivity) -> EffectiveConstraints? {
        let constraints = activity.qualityOfService.constraints
        guard constraints != .none, !activity.hasRequest || activity.qualityOfService != .background else { return nil }
        return EffectiveConstraints(session: constraints)
    }

    /// The conditions on which activities with an open window depend.
    private func needs(of open: [OpenActivity]) -> ConditionSet {
        open.reduce(into: ConditionSet()) { needs, activity in
            guard activity.livingTask == nil, let constraints = constraints(of: activity) else { return }
            needs.formUnion(constraints.neededAtStart(isLocal: false))
        }
    }

    /// Ends a check. `untilNext`: the milliseconds until the next check, or nil if none is needed.
    private func endCheck(untilNext: Int64?) -> [EngineEffect] {
        if state.end() {
            check()
            return []
        }
        guard let untilNext else {
            timer?.stop()
            return [.mayBeIdle]
        }
        timer?.start(milliseconds: min(max(0, untilNext), CalendarWatch.longestCheckInterval))
        return []
    }

    // MARK: Starts

    /// Starts the activities one after the other, because two tasks of activities may have the same destination.
    private func start(_ activity: OpenActivity, then others: ArraySlice<OpenActivity>) {
        let (now, clocks) = (calendar.milliseconds, runtime.clocks)
        let clock = clocks.reading
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.activities.start(activity, now: transaction.calendar(now, clocks), clock: clock)
            },
            then: { [unowned self] result in
                var effects: [EngineEffect] = []
                switch result {
                case .success(let start):
                    retryTimes[activity.id] = nil
                    if let start { effects = started(start) }
                case .failure(let failure): note(failure, of: activity)
                }
                guard let next = others.first else {
                    state.checkAgain()
                    return effects + endCheck(untilNext: nil)
                }
                self.start(next, then: others.dropFirst())
                return effects
            })
    }

    private func started(_ start: ActivityStart) -> [EngineEffect] {
        CrashPoint.afterActivity.reach()
        guard let enqueued = start.enqueued else { return [.announce(start.change), .workDone] }
        return [
            .announce(start.change), .tasksWait(in: enqueued.lanes, reload: true), .due(at: enqueued.nextDue),
            .tasksHeld(of: start.change.session), .latestStart(at: enqueued.nextLatestStart), .workDone,
        ]
    }

    private func note(_ failure: Failure, of activity: OpenActivity) {
        let time = runtime.now + Self.pauseMilliseconds
        guard retryTimes.updateValue(time, forKey: activity.id) == nil else { return }
        log(
            LogEntry(
                .warning, "the activity \(activity.identifier) cannot start: \(failure.message); it is retried"))
    }
}
