import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// The parts of the engine that make tasks wait for conditions, which are facts about the system, such as power. The
/// event loop and the conditions are fakes.
final class ConditionsFixture {
    let base = EngineFixture()
    let source = FakeConditionsSource()
    let running = FakeRunningTasks()
    let parts: ConditionParts
    let deadlines: DeadlineController
    let conditions: ConditionsController
    let loader: TaskLoader

    var runtime: FakeRuntime { base.runtime }
    var scheduler: TaskScheduler { base.scheduler }
    var holds: Holds { conditions.holds }
    var budgets: BudgetAccounting { parts.budgets }

    static let lane = EngineFixture.lane
    static let group = ConstraintGroup(.session, in: lane)
    static let laneGroup = LaneGroup(lane: EngineFixture.lane.id, constraints: .session)

    init() {
        let (base, source, running) = (base, source, running)
        let (runtime, sessions, scheduler) = (base.runtime, base.sessions, base.scheduler)
        let monitor = ConditionsMonitor(
            runtime,
            makeSource: { changed in
                source.changed = changed
                return source
            })
        let budgets = BudgetAccounting(runtime, sessions, scheduler, monitor)
        parts = ConditionParts(
            monitor: monitor, budgets: budgets, budgetDelays: BudgetDelays(runtime, sessions, budgets),
            timeZone: TimeZoneMonitor(runtime))
        deadlines = DeadlineController(runtime, sessions, scheduler, base.calendar)
        conditions = ConditionsController(runtime, sessions, scheduler, running, parts, deadlines)
        loader = TaskLoader(
            runtime, scheduler, running, base.calendar, base.credentials, parts.budgetDelays, conditions)
        scheduler.add(Self.lane, reload: false)
    }

    /// Changes the session's configuration.
    func configure(_ change: (inout SessionConfiguration) -> Void) {
        var configuration = base.sessions[EngineFixture.session] ?? SessionConfiguration(identifier: "photos")
        change(&configuration)
        _ = base.sessions.set(configuration, of: EngineFixture.session)
    }

    /// Loads these tasks. Then they are *ready*: they wait for the right to run (a *slot*).
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
    var isEmpty: Bool { tasks.isEmpty }
    var hasCapacity = true
}
