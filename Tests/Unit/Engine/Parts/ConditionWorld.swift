import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The parts of the engine that hold tasks, on one fake loop and with fake conditions.
final class ConditionWorld {
    let below = PartWorld()
    let source = FakeConditions()
    let running = FakeRunningTasks()
    let parts: ConditionParts
    let deadlines: DeadlineController
    let conditions: ConditionsController
    let loader: TaskLoader
    /// Whether the limits allow one more task.
    var hasRoom = true

    var runtime: FakeRuntime { below.runtime }
    var scheduler: TaskScheduler { below.scheduler }
    var holds: HoldController { parts.holds }
    var budgets: BudgetAccounting { parts.budgets }

    static let lane = PartWorld.lane
    static let group = ConstraintGroup(session: PartWorld.session, constraints: .session, reach: .uplink)
    static let laneGroup = LaneGroup(lane: PartWorld.lane.id, constraints: .session)

    private final class Later {
        weak var world: ConditionWorld?
    }

    init() {
        let (below, source, running) = (below, source, running)
        let later = Later()
        let (runtime, sessions, scheduler) = (below.runtime, below.sessions, below.scheduler)
        let monitor = ConditionsMonitor(runtime, makeSource: { changed in
            source.changed = changed
            return source
        })
        let budgets = BudgetAccounting(
            runtime, sessions, scheduler, monitor,
            hasTasksWithinBudgets: { later.world?.holds.hasTasksWithinBudgets ?? false })
        let uplink = UplinkMonitor(
            runtime, scheduler, running, waitingLanes: { later.world.map { Array($0.holds.waitingLanes) } ?? [] })
        let holds = HoldController(runtime, sessions, scheduler, monitor, budgets, uplink, below.journal)
        let throughput = ThroughputController(runtime, sessions, scheduler, holds, running)
        parts = ConditionParts(
            monitor: monitor, budgets: budgets,
            admission: BudgetAdmission(runtime, sessions, scheduler, budgets, below.journal), uplink: uplink,
            holds: holds, throughput: throughput,
            probes: ProbeController(
                runtime, scheduler, below.calendar, holds, throughput, uplink, running,
                hasRoom: { later.world?.hasRoom ?? false }))
        deadlines = DeadlineController(runtime, sessions, scheduler, below.calendar)
        conditions = ConditionsController(
            runtime, running, parts, deadlines, TimeZoneMonitor(runtime), activityNeeds: { [] })
        loader = TaskLoader(
            runtime, scheduler, running, below.calendar, below.credentials, below.reachability, parts,
            conditions)
        later.world = self
        scheduler.add(Self.lane, reload: false)
    }

    /// Changes the session's configuration.
    func configure(_ change: (inout SessionConfiguration) -> Void) {
        var configuration = below.sessions[PartWorld.session] ?? SessionConfiguration(identifier: "photos")
        change(&configuration)
        _ = below.sessions.set(configuration, of: PartWorld.session)
    }

    /// Makes these tasks ready: they are loaded and wait for a slot.
    func makeReady(_ tasks: StoredTask...) {
        _ = scheduler.next(room: 1)
        scheduler.loaded(Self.lane.id, tasks, isAll: true)
    }
}

final class FakeRunningTasks: RunningTasks {
    var tasks: [StoredTask] = []
    func visit(_ body: (RunningTask) -> Void) {
        for task in tasks {
            body(
                RunningTask(
                    id: task.id, session: task.session, lane: task.lane, origin: task.origin,
                    constraints: task.constraints))
        }
    }
    func isRunning(_ task: TaskID) -> Bool { tasks.contains { $0.id == task } }
    var isEmpty: Bool { tasks.isEmpty }
}
