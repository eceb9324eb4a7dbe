import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// To *load* tasks is to read them from the store. A *ready* task is loaded and waits for a slot.
@Suite("Tasks that are loaded before they get slots")
struct TaskLoaderTests {
    let fixture = ConditionsFixture()
    let lane = ConditionsFixture.lane.id

    /// Loads the lane. The store returns these tasks, and `waiting` as the constraints of the lane's waiting tasks.
    private func load(
        _ tasks: StoredTask..., isAll: Bool = true, waiting: Set<ConstraintsID> = [.session], nextDue: Int64? = nil
    ) throws -> [EngineEffect] {
        _ = fixture.scheduler.next(room: 1)
        fixture.loader.load(lane, limit: 10)
        try fixture.runtime.storeReturns(
            TaskLoader.Loaded(tasks: tasks, isAll: isAll, constraints: waiting, stated: [], nextDue: nextDue))
        return fixture.runtime.takeEffects()
    }

    @Test("loaded tasks are ready")
    func ready() throws {
        _ = try load(fixture.base.task(1), fixture.base.task(2))
        #expect(Set(fixture.scheduler.ready.keys.map(\.rawValue)) == [1, 2])
        #expect(!fixture.holds.waiting.isLoading)
    }

    @Test("held tasks are not ready and stay in the store")
    func held() throws {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        fixture.source.current.externalPower = Reading(false)
        let effects = try load(fixture.base.task(1))
        #expect(fixture.scheduler.ready.isEmpty)
        #expect(fixture.holds.waiting.contains(ConditionsFixture.laneGroup))
        #expect(effects.deferred == [.constraintGroup(ConditionsFixture.group)])
    }

    @Test("if a task moves from a held constraint group to another group, the wait record ends before the task starts")
    func left() throws {
        let (preset, past) = (ConstraintsID(rawValue: 6), ConstraintsID(rawValue: 7))
        fixture.conditions.add([stated(preset) { $0.requiresExternalPower = true }, stated(past) { _ in }])
        fixture.source.current.externalPower = Reading(false)
        _ = try load(fixture.base.task(1, stating: preset), waiting: [preset])
        // The task's latest start has passed. After its latest start, a task has fewer constraints, so it belongs to
        // another group.
        _ = fixture.conditions.beginLoad(of: LaneID(rawValue: 2))
        fixture.scheduler.tasksWait(in: [lane], reload: true)
        let effects = try load(fixture.base.task(1, stating: past), waiting: [past])
        #expect(fixture.scheduler.ready.keys.map(\.rawValue) == [1])
        #expect(fixture.holds.groups.keys.map(\.constraints) == [past])
        let end = HoldAction.endWait(.constraintGroup(ConstraintGroup(preset, in: ConditionsFixture.lane)))
        #expect(effects.holdActions.contains(end))
    }

    private func stated(_ id: ConstraintsID, _ change: (inout Constraints) -> Void) -> StoredConstraints {
        var stated = TaskConstraints()
        change(&stated.stated)
        return StoredConstraints(id: id, session: EngineFixture.session, constraints: stated)
    }

    @Test("a task that starts during a load of its lane is not ready after the load")
    func running() throws {
        _ = fixture.scheduler.next(room: 1)
        fixture.loader.load(lane, limit: 10)
        fixture.running.tasks = [fixture.base.task(1)]
        try fixture.runtime.storeReturns(
            TaskLoader.Loaded(
                tasks: [fixture.base.task(1), fixture.base.task(2)], isAll: true, constraints: [.session], stated: [],
                nextDue: nil))
        #expect(fixture.scheduler.ready.keys.map(\.rawValue) == [2])
    }

    @Test("if all loaded tasks of a lane are held, but the lane has more tasks, the lane is loaded again")
    func behind() throws {
        fixture.configure { $0.constraints.requiresExternalPower = true }
        fixture.source.current.externalPower = Reading(false)
        let effects = try load(fixture.base.task(1), isAll: false)
        #expect(effects.waiting.contains([1]))
    }

    @Test("if more tasks of a lane wait in the store, the next deadline of their session is read")
    func deadlines() throws {
        let effects = try load(fixture.base.task(1), isAll: false)
        #expect(effects.has { if case .tasksHeld(of: EngineFixture.session) = $0 { true } else { false } })
    }

    @Test("a failed load of a lane is repeated later")
    func failed() throws {
        _ = fixture.scheduler.next(room: 1)
        fixture.loader.load(lane, limit: 10)
        try fixture.runtime.storeReturns(Result<TaskLoader.Loaded, Failure>.failure(Failure(.storeFull, "full")))
        #expect(fixture.runtime.takeEffects().reloadedLater == [[1]])
        #expect(!fixture.holds.waiting.isLoading)
    }

    @Test("loaded tasks that are too large for a budget are delayed")
    func tooLarge() throws {
        fixture.configure { $0.budget = ByteBudget(daily: 1_000) }
        fixture.source.current.network = Reading(Network(name: "phone", kind: .cellular))
        var large = fixture.base.task(1)
        large.request.options.expectedSize = 5_000
        _ = try load(large, fixture.base.task(2))
        #expect(fixture.scheduler.ready.keys.map(\.rawValue) == [2])
        #expect(fixture.parts.budgetDelays.hasDelayed)
        try fixture.runtime.storeReturns(())
        // The task may have to end before the budget allows it.
        #expect(fixture.runtime.takeEffects().has { if case .tasksHeld = $0 { true } else { false } })
    }

    // MARK: Probes

    private let key = ConditionsFixture.laneGroup

    private func loadProbe(_ task: StoredTask?) throws -> [EngineEffect] {
        fixture.loader.loadProbe(key, .uplink)
        try fixture.runtime.storeReturns((task: task, nextDue: Int64?.none))
        return fixture.runtime.takeEffects()
    }

    @Test("the first waiting task of a lane group starts as a probe")
    func probe() throws {
        #expect(try loadProbe(fixture.base.task(7)).probes == [7])
    }

    @Test("if the store finds no task for a probe, the probe's slot is released for other tasks")
    func noProbe() throws {
        let effects = try loadProbe(nil)
        #expect(effects.waiting == [[1]])
        #expect(effects.has(\.isScheduleCheck))
        #expect(fixture.scheduler.hasSlot(ConditionsFixture.lane))
    }
}
