internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// What the engine knows of activities between two looks.
struct Activities {
    var timer: LoopTimer?
    /// A look or a start is under way; `looksAgain`: another is wanted after it.
    var isLooking = false
    var looksAgain = false
    /// Their last tasks, whose ends are waited for.
    var livingTasks: Set<TaskID> = []
    /// Those whose window is open and that wait for better conditions within it.
    var held: [OpenActivity] = []
    /// Whose start has failed, and was told of: when by the boot clock each is tried again.
    var failed: [ActivityID: Int64] = [:]
    /// Conditions that those with an open window depend on.
    var needs: ConditionNeeds = []

    /// Whatever was in the way may be gone.
    mutating func forgetPauses() { failed = failed.mapValues { _ in .min } }
}

/// Activities start within their window when the conditions are as they ask, and at its end in any case. Which are due
/// is asked of the store each time; only the time of the next look is kept.
extension EngineCore {
    /// After a start that has failed, because its file is another task's or the store is full.
    private static let pauseMilliseconds: Int64 = 60_000

    /// After anything that may let one start: its time, a change of the calendar, the end of its last task, a command.
    func lookAtActivities() {
        guard !hasFailed, !isLeaving else { return }
        guard !activities.isLooking else {
            activities.looksAgain = true
            return
        }
        activities.isLooking = true
        let now = Clock.wallMilliseconds
        store({ (transaction) throws(Failure) in try transaction.openActivities(now: now) }, then: { core, result in
            switch result {
            case .success(let (open, next)): core.found(open, next: next)
            // The store cannot be read for now.
            case .failure: core.looked(again: Self.pauseMilliseconds)
            }
        })
    }

    private func found(_ open: [OpenActivity], next: Int64?) {
        let now = Clock.wallMilliseconds
        activities.livingTasks = Set(open.compactMap(\.livingTask))
        let ids = Set(open.map(\.id))
        activities.failed = activities.failed.filter { ids.contains($0.key) }
        needConditions(of: open)
        var held: [OpenActivity] = []
        var due: [OpenActivity] = []
        var look = next
        for activity in open where activity.livingTask == nil {
            let window = activity.window(now: now)
            if !mayStart(activity, now: now) {
                held.append(activity)
                look = [look, window.nextLook(now: now)].compactMap(\.self).min()
            } else if let again = activities.failed[activity.id], again > loop.now {
                look = min(look ?? .max, now + again - loop.now)
            } else {
                due.append(activity)
            }
        }
        activities.held = held
        guard let first = due.first else { return looked(again: look.map { $0 - now }) }
        start(first, then: Array(due.dropFirst()))
    }

    /// The task of a background activity waits by itself, and says why. What the other qualities ask for has to be
    /// before a start, and is not asked of the task: nothing must hold it beyond the window.
    private func mayStart(_ activity: OpenActivity, now: Int64) -> Bool {
        let window = activity.window(now: now)
        guard now < window.end, let constraints = waitsFor(activity) else { return now >= window.begin }
        // Nil: what it depends on was not read yet.
        let (holds, effects) = conditions.holds(for: constraints, of: activity.session)
        apply(effects)
        guard let holds else { return false }
        return window.shouldStart(now: now, holds: holds)
    }

    /// What it waits for before its start; nil: for nothing.
    private func waitsFor(_ activity: OpenActivity) -> EffectiveConstraints? {
        let constraints = activity.qualityOfService.constraints
        guard constraints != .none, !activity.hasRequest || activity.qualityOfService != .background else { return nil }
        return EffectiveConstraints(session: constraints)
    }

    /// What open windows depend on is read, and nothing for them when there is none.
    private func needConditions(of open: [OpenActivity]) {
        let needs = open.reduce(into: ConditionNeeds()) { needs, activity in
            guard activity.livingTask == nil, let constraints = waitsFor(activity) else { return }
            needs.formUnion(constraints.neededAtStart(isLocal: false))
        }
        guard needs != activities.needs else { return }
        activities.needs = needs
        conditions.planPruning()
    }

    /// Conditions have changed.
    func reconsiderActivities() {
        let now = Clock.wallMilliseconds
        if activities.held.contains(where: { mayStart($0, now: now) }) { lookAtActivities() }
    }

    /// Tasks have ended.
    func lookAtActivities(of tasks: [TaskID]) {
        guard !activities.livingTasks.isEmpty, tasks.contains(where: activities.livingTasks.contains) else { return }
        lookAtActivities()
    }

    /// One after the other: each may take the place that another wanted.
    private func start(_ activity: OpenActivity, then others: [OpenActivity]) {
        let (now, clock) = (calendar.milliseconds, CalendarWatch.readClock())
        store({ (transaction) throws(Failure) in
            try transaction.start(activity, now: now, clock: clock)
        }, then: { core, result in
            switch result {
            case .success(let start):
                core.activities.failed[activity.id] = nil
                if let start { core.started(start) }
            case .failure(let failure): core.note(failure, of: activity)
            }
            guard let next = others.first else {
                core.activities.looksAgain = true
                return core.looked(again: nil)
            }
            core.start(next, then: Array(others.dropFirst()))
        })
    }

    private func started(_ start: ActivityStart) {
        CrashPoint.afterActivity.reach()
        if let enqueued = start.enqueued {
            scheduler.tasksWait(in: enqueued.lanes, reload: false)
            scheduler.due(at: enqueued.nextDue)
            apply(deadlines.latestStart(at: enqueued.nextLatestStart))
        } else {
            announce(start.change)
        }
        idle.noteWork()
    }

    private func note(_ failure: Failure, of activity: OpenActivity) {
        let again = loop.now + Self.pauseMilliseconds
        guard activities.failed.updateValue(again, forKey: activity.id) == nil else { return }
        services.options.log(
            LogEntry(
                .warning, "the activity \(activity.identifier) cannot start: \(failure.message); it is tried again"))
    }

    /// `again`: milliseconds until the next look; nil: none is needed.
    private func looked(again: Int64?) {
        activities.isLooking = false
        if activities.looksAgain {
            activities.looksAgain = false
            return lookAtActivities()
        }
        guard let again else {
            activities.timer?.stop()
            return idle.mayBeIdle()
        }
        let timer = activities.timer ?? loop.timer { [unowned self] in lookAtActivities() }
        activities.timer = timer
        timer.start(milliseconds: min(max(0, again), CalendarWatch.longestLook))
    }
}
