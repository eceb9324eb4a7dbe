internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Loads tasks of a lane from the store: the next tasks, which then wait in memory for a slot, or one held task as a
/// probe. Held tasks stay in the store. `LoadDecision` decides which tasks are ready, and this class applies the
/// decision.
///
/// Each engine has one object of this type.
final class TaskLoader {
    /// The result of a load.
    struct Loaded: Sendable {
        var tasks: [StoredTask]
        /// Whether the load has found all waiting tasks of the lane. The load does not search for held tasks.
        var isAll: Bool
        /// The constraints of all tasks that wait in the lane, held or not.
        var constraints: Set<ConstraintsID>
        /// The members of `constraints` that were not in memory, with their contents.
        var stated: [StoredConstraints]
        /// The load leaves out tasks that must not start before a later time (their earliest start). If there are such
        /// tasks, this is when the next delayed task is due, by the boot clock. Otherwise, it is nil.
        var nextDue: Int64?
    }

    private let runtime: any Runtime
    private let scheduler: TaskScheduler
    private let running: any RunningTasks
    private let calendar: CalendarWatch
    private let credentials: CredentialController
    private let budgetDelays: BudgetDelays
    private let conditions: ConditionsController

    init(
        _ runtime: any Runtime, _ scheduler: TaskScheduler, _ running: any RunningTasks, _ calendar: CalendarWatch,
        _ credentials: CredentialController, _ budgetDelays: BudgetDelays, _ conditions: ConditionsController
    ) {
        self.runtime = runtime
        self.scheduler = scheduler
        self.running = running
        self.calendar = calendar
        self.credentials = credentials
        self.budgetDelays = budgetDelays
        self.conditions = conditions
    }

    private func runningTasks(in lane: LaneID) -> Set<TaskID> {
        var tasks: Set<TaskID> = []
        running.visit { if $0.lane == lane { tasks.insert($0.id) } }
        return tasks
    }

    private func activeTasks(in lane: LaneID) -> Set<TaskID> {
        runningTasks(in: lane).union(scheduler.readyTasks(in: lane))
    }

    // MARK: The next tasks

    func load(_ lane: LaneID, limit: Int) {
        let known = activeTasks(in: lane)
        let held = conditions.beginLoad(of: lane)
        let (calendar, clocks) = (calendar.milliseconds, runtime.clocks)
        let stated = scheduler.lanes[lane].map { conditions.holds.statedConstraints(in: $0.session) } ?? [:]
        runtime.store(
            { (transaction) throws(Failure) in
                let tasks = try transaction.lanes.waitingTasks(of: lane, limit: limit, afterKnown: known, notOf: held)
                let startable = try transaction.starts.startable(
                    tasks, StartClock(clocks, calendar: transaction.calendar(calendar, clocks)))
                let constraints = try transaction.lanes.waitingConstraints(of: lane)
                return Loaded(
                    tasks: startable, isAll: tasks.count < limit, constraints: constraints,
                    stated: try transaction.constraints.stored(constraints.filter { stated[$0] == nil }),
                    nextDue: startable.count < tasks.count ? try transaction.delays.nextDue() : nil)
            },
            then: { [unowned self] result in
                conditions.endLoad(of: lane)
                guard case .success(let loaded) = result else {
                    // The store cannot be read for now. The lane is loaded again after a second.
                    scheduler.loaded(lane, [], isAll: false)
                    return [.reloadLater([lane])]
                }
                return take(loaded, of: lane)
            })
    }

    private func take(_ loaded: Loaded, of lane: LaneID) -> [EngineEffect] {
        conditions.add(loaded.stated)
        var (held, effects) = conditions.loaded(loaded.constraints, in: lane, isAll: loaded.isAll)
        let decision = LoadDecision(
            loaded.tasks.map(\.candidate), held: held, budgets: budgetDelays.budgets(in: scheduler.lanes[lane]),
            active: activeTasks(in: lane), isAll: loaded.isAll, hasDelayed: loaded.nextDue != nil)
        effects += budgetDelays.apply(decision, in: scheduler.lanes[lane])
        let (startable, parked) = credentials.admit(loaded.tasks.filter { decision.ready.contains($0.id) })
        scheduler.loaded(lane, startable, isAll: loaded.isAll)
        effects.append(.endWaits([lane]))
        if scheduler.limitsOrigins { effects.append(.originsChanged) }
        // The other tasks of the lane wait in the store, where `DeadlineController.checkReadyTasks` does not find them.
        if !loaded.isAll || loaded.nextDue != nil, let session = scheduler.lanes[lane]?.session {
            effects.append(.tasksHeld(of: session))
        }
        if decision.loadsAgain { effects.append(.tasksWait(in: [lane], reload: false)) }
        return effects + [.due(at: loaded.nextDue)] + parked + [.schedule]
    }

    // MARK: Probes

    /// Loads the first waiting task of the lane group. The slot for the task is taken before the load.
    func loadProbe(_ key: LaneGroup, _ kind: ProbeKind) {
        guard let lane = scheduler.lanes[key.lane] else { return conditions.cancelProbe(key, kind) }
        scheduler.takeSlot(lane)
        let running = runningTasks(in: key.lane)
        let (calendar, clocks) = (calendar.milliseconds, runtime.clocks)
        runtime.store(
            { (transaction) throws(Failure) -> (task: StoredTask?, nextDue: Int64?) in
                let first = try transaction.lanes.firstWaitingTask(
                    of: key.lane, stating: key.constraints, notIn: running)
                guard let first else { return (nil, nil) }
                let clock = StartClock(clocks, calendar: try transaction.calendar(calendar, clocks))
                let task = try transaction.starts.startable([first], clock).first
                return (task, task == nil ? try transaction.delays.nextDue() : nil)
            },
            then: { [unowned self] result in
                guard case .success(let found) = result else { return probeNotStarted(key, kind) }
                guard let task = found.task else { return [.due(at: found.nextDue)] + probeNotStarted(key, kind) }
                return [.startProbe(task, key, kind)]
            })
    }

    /// Releases the slot of a probe that cannot start, and schedules the load of the lane's waiting tasks.
    func probeNotStarted(_ key: LaneGroup, _ kind: ProbeKind) -> [EngineEffect] {
        scheduler.released(key.lane)
        conditions.cancelProbe(key, kind)
        return [.tasksWait(in: [key.lane], reload: false), .scheduleCheck]
    }
}

extension StoredTask {
    var candidate: LoadDecision.Candidate {
        let options = request.options
        return .init(
            id: id, constraints: constraints,
            statedBytes: DeferralDecision.stated(
                received: options.expectedBytesReceived ?? options.expectedSize,
                sent: options.expectedBytesSent ?? options.sentSize, offset: checkpoint?.syncedOffset ?? 0))
    }
}

extension StartClock {
    /// The present time of all clocks. `calendar`: the time by `CalendarWatch`.
    init(_ clocks: any Clocks, calendar: Int64) {
        self.init(wall: clocks.wallMilliseconds, boot: clocks.bootMilliseconds, calendar: calendar)
    }
}
