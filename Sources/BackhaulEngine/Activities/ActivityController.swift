internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Starts activities: within their window when the conditions meet their constraints, and at its end in any case.
///
/// Each store has one. Each check reads from the store which activities are due. The controller owns the timer of the
/// next check, and the results of the last one.
final class ActivityController {
    /// The delay after a failed start. A start fails when another task has its destination, or the store is full.
    private static let pauseMilliseconds: Int64 = 60_000

    private let runtime: any Runtime
    private let calendar: CalendarWatch
    private let log: @Sendable (LogEntry) -> Void
    private let holds: (EffectiveConstraints, SessionID) -> [Hold]?
    private let isEnding: () -> Bool
    private let unixMilliseconds: () -> Int64
    private var timer: (any RuntimeTimer)?
    /// Whether a check is under way: the read of the store, and the starts that follow it.
    private var state = LookState.idle
    /// The last tasks of activities that have not ended. The next start of an activity waits for the end of its task.
    private var livingTasks: Set<TaskID> = []
    /// Activities whose window is open and which wait for better conditions.
    private var held: [OpenActivity] = []
    /// Activities whose start failed and was logged, with the loop's time of the next attempt.
    private var retryTimes: [ActivityID: Int64] = [:]
    /// The conditions that open windows depend on.
    private(set) var needs: ConditionNeeds = []

    /// - holds: the holds that these constraints have now; nil: the conditions were not read yet.
    /// - isEnding: true when nothing may be started any more.
    /// - unixMilliseconds: the wall clock. The windows are times of it.
    init(
        _ runtime: any Runtime, _ calendar: CalendarWatch, log: @escaping @Sendable (LogEntry) -> Void,
        holds: @escaping (EffectiveConstraints, SessionID) -> [Hold]?, isEnding: @escaping () -> Bool,
        unixMilliseconds: @escaping () -> Int64 = { Clock.wallMilliseconds }
    ) {
        self.runtime = runtime
        self.calendar = calendar
        self.log = log
        self.holds = holds
        self.isEnding = isEnding
        self.unixMilliseconds = unixMilliseconds
        timer = runtime.timer { [unowned self] in
            look()
            return []
        }
    }

    func close() { timer?.stop() }

    // MARK: Reasons for a check

    /// Checks which activities are due: when a window opens, the calendar changed, or a command changed an activity.
    func look() {
        guard !isEnding(), state.begin() else { return }
        let now = unixMilliseconds()
        runtime.store({ (transaction) throws(Failure) in
            try transaction.activities.open(now: now)
        }, then: { [unowned self] result in
            switch result {
            case .success(let (open, next)): return found(open, next: next)
            // The store cannot be read for now.
            case .failure: return endLook(untilNext: Self.pauseMilliseconds)
            }
        })
    }

    /// An activity was set. The cause of a failed start may be gone, so failed starts are repeated without a delay.
    func activityChanged() {
        retryTimes = retryTimes.mapValues { _ in .min }
        look()
    }

    func conditionsChanged() {
        let now = unixMilliseconds()
        if held.contains(where: { mayStart($0, now: now) }) { look() }
    }

    func tasksEnded(_ tasks: [TaskID]) {
        guard !livingTasks.isEmpty, tasks.contains(where: livingTasks.contains) else { return }
        look()
    }

    // MARK: Checks

    private func found(_ open: [OpenActivity], next: Int64?) -> [EngineEffect] {
        let now = unixMilliseconds()
        livingTasks = Set(open.compactMap(\.livingTask))
        let ids = Set(open.map(\.id))
        retryTimes = retryTimes.filter { ids.contains($0.key) }
        let effects = updateNeeds(of: open)
        held = []
        var due: [OpenActivity] = []
        var nextLook = next
        for activity in open where activity.livingTask == nil {
            if !mayStart(activity, now: now) {
                held.append(activity)
                nextLook = [nextLook, activity.window(now: now).nextLook(now: now)].compactMap(\.self).min()
            } else if let time = retryTimes[activity.id], time > runtime.now {
                nextLook = min(nextLook ?? .max, now + time - runtime.now)
            } else {
                due.append(activity)
            }
        }
        guard let first = due.first else { return effects + endLook(untilNext: nextLook.map { $0 - now }) }
        start(first, then: due.dropFirst())
        return effects
    }

    /// Whether the activity may start now. The task of a background activity waits itself, and shows its reason. The
    /// constraints of the other qualities are checked only before the start: no hold may delay the task beyond the
    /// window.
    private func mayStart(_ activity: OpenActivity, now: Int64) -> Bool {
        let window = activity.window(now: now)
        guard now < window.end, let constraints = constraints(of: activity) else { return now >= window.begin }
        guard let holds = holds(constraints, activity.session) else { return false }
        return window.shouldStart(now: now, holds: holds)
    }

    /// The constraints that have to be met before the start; nil: there are none.
    private func constraints(of activity: OpenActivity) -> EffectiveConstraints? {
        let constraints = activity.qualityOfService.constraints
        guard constraints != .none, !activity.hasRequest || activity.qualityOfService != .background else { return nil }
        return EffectiveConstraints(session: constraints)
    }

    private func updateNeeds(of open: [OpenActivity]) -> [EngineEffect] {
        let found = open.reduce(into: ConditionNeeds()) { needs, activity in
            guard activity.livingTask == nil, let constraints = constraints(of: activity) else { return }
            needs.formUnion(constraints.neededAtStart(isLocal: false))
        }
        guard found != needs else { return [] }
        needs = found
        return [.prune]
    }

    /// `untilNext`: milliseconds until the next check; nil: none is needed.
    private func endLook(untilNext: Int64?) -> [EngineEffect] {
        if state.end() {
            look()
            return []
        }
        guard let untilNext else {
            timer?.stop()
            return [.mayBeIdle]
        }
        timer?.start(milliseconds: min(max(0, untilNext), CalendarWatch.longestLook))
        return []
    }

    // MARK: Starts

    /// Starts the activities one after the other, because one may take the destination that the next one wants.
    private func start(_ activity: OpenActivity, then others: ArraySlice<OpenActivity>) {
        let (now, clock) = (calendar.milliseconds, CalendarWatch.readClock())
        runtime.store({ (transaction) throws(Failure) in
            try transaction.activities.start(activity, now: now, clock: clock)
        }, then: { [unowned self] result in
            var effects: [EngineEffect] = []
            switch result {
            case .success(let start):
                retryTimes[activity.id] = nil
                if let start { effects = started(start) }
            case .failure(let failure): note(failure, of: activity)
            }
            guard let next = others.first else {
                state.lookAgain()
                return effects + endLook(untilNext: nil)
            }
            self.start(next, then: others.dropFirst())
            return effects
        })
    }

    private func started(_ start: ActivityStart) -> [EngineEffect] {
        CrashPoint.afterActivity.reach()
        guard let enqueued = start.enqueued else { return [.announce(start.change), .worked] }
        return [
            .tasksWait(in: enqueued.lanes, reload: false), .due(at: enqueued.nextDue),
            .latestStart(at: enqueued.nextLatestStart), .worked,
        ]
    }

    private func note(_ failure: Failure, of activity: OpenActivity) {
        let time = runtime.now + Self.pauseMilliseconds
        guard retryTimes.updateValue(time, forKey: activity.id) == nil else { return }
        log(
            LogEntry(
                .warning, "the activity \(activity.identifier) cannot start: \(failure.message); it is tried again"))
    }
}
