internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Loads the next tasks of a lane from the store. The loaded tasks then wait in memory until the limits on running
/// tasks permit them to run. Held tasks, which wait until the system meets their constraints (such as external power),
/// stay in the store.
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
    private let reachability: ReachabilityController
    private let parts: ConditionParts
    private let conditions: ConditionsController

    init(
        _ runtime: any Runtime, _ scheduler: TaskScheduler, _ running: any RunningTasks, _ calendar: CalendarWatch,
        _ credentials: CredentialController, _ reachability: ReachabilityController, _ parts: ConditionParts,
        _ conditions: ConditionsController
    ) {
        self.runtime = runtime
        self.scheduler = scheduler
        self.running = running
        self.calendar = calendar
        self.credentials = credentials
        self.reachability = reachability
        self.parts = parts
        self.conditions = conditions
    }

    func load(_ lane: LaneID, limit: Int) {
        var known: Set<TaskID> = []
        for task in scheduler.ready.values where task.lane == lane { known.insert(task.id) }
        running.visit { if $0.lane == lane { known.insert($0.id) } }
        let held = parts.holds.beginLoad(of: lane)
        let (calendar, clocks) = (calendar.milliseconds, runtime.clocks)
        let stated = scheduler.lanes[lane].map { parts.holds.stated(in: $0.session) } ?? [:]
        runtime.store(
            { [known] (transaction) throws(Failure) in
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
                parts.holds.endLoad(of: lane)
                guard case .success(let loaded) = result else {
                    // The store cannot be read for now. The lane is loaded again after a second.
                    scheduler.loaded(lane, [], isAll: false)
                    return [.reloadLater([lane])]
                }
                return take(loaded, of: lane)
            })
    }

    private func take(_ loaded: Loaded, of lane: LaneID) -> [EngineEffect] {
        parts.holds.add(loaded.stated)
        let (held, heldEffects) = noteWaiting(loaded.constraints, in: lane, isAll: loaded.isAll)
        let mayStart = held.isEmpty ? loaded.tasks : loaded.tasks.filter { !held.contains($0.constraints) }
        let tasks = parts.admission.admit(mayStart, in: lane).filter {
            !running.isRunning($0.id) && scheduler.ready[$0.id] == nil
        }
        let (startable, credentialEffects) = credentials.admit(tasks)
        scheduler.loaded(lane, startable, isAll: loaded.isAll)
        reachability.endWaitIfIdle(lane)
        var effects = heldEffects
        // If some of the loaded tasks became held or were left out, and more tasks wait in the lane after them, the
        // lane is loaded again.
        if !loaded.isAll, mayStart.count < loaded.tasks.count || loaded.nextDue != nil {
            effects.append(.tasksWait(in: [lane], reload: false))
        }
        effects.append(.due(at: loaded.nextDue))
        return effects + credentialEffects + [.schedule]
    }

    /// Registers the constraint groups of the tasks that wait in the lane. The engine decides for the whole group
    /// whether its tasks are held. Returns the constraints whose tasks are held.
    private func noteWaiting(
        _ constraints: Set<ConstraintsID>, in id: LaneID, isAll: Bool
    ) -> (held: Set<ConstraintsID>, effects: [EngineEffect]) {
        guard let lane = scheduler.lanes[id] else { return ([], []) }
        var effects = constraints.flatMap { conditions.note(parts.holds.group($0, in: lane)) }
        effects += parts.throughput.lanesBeganWaiting(constraints.map { LaneGroup(lane: id, constraints: $0) })
        let held = parts.holds.setWaiting(constraints, in: lane, isAll: isAll)
        if !held.isEmpty {
            effects.append(.tasksHeld(of: lane.session))
            // If the uplink does not work, or the lane is slow, one of the held tasks may start next as a probe. The
            // probe tests whether the other held tasks may start.
            if parts.uplink.isHeld || parts.holds.slow.keys.contains(where: { $0.lane == id }) {
                conditions.scheduleReconsideration()
            }
        }
        parts.holds.forgetEmptyGroups(of: lane, running)
        if running.isEmpty { conditions.schedulePruning() }
        return (held, effects)
    }
}

extension StartClock {
    /// The present time of all clocks. `calendar`: the time by `CalendarWatch`.
    init(_ clocks: any Clocks, calendar: Int64) {
        self.init(wall: clocks.wallMilliseconds, boot: clocks.bootMilliseconds, calendar: calendar)
    }
}
