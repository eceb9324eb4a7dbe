import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Loading tasks ahead of their slots")
struct TaskLoaderTests {
    let world = ConditionWorld()
    let lane = ConditionWorld.lane.id

    /// Loads the lane. The store returns these tasks, and the constraints of waiting tasks.
    private func load(
        _ tasks: StoredTask..., isAll: Bool = true, waiting: Set<ConstraintsID> = [.session], nextDue: Int64? = nil
    ) throws -> [EngineEffect] {
        _ = world.scheduler.next(room: 1)
        world.loader.load(lane, limit: 10)
        try world.runtime.storeReturns(
            TaskLoader.Loaded(tasks: tasks, isAll: isAll, constraints: waiting, stated: [], nextDue: nextDue))
        return world.runtime.takeEffects()
    }

    @Test("loaded tasks are ready")
    func ready() throws {
        _ = try load(world.below.task(1), world.below.task(2))
        #expect(Set(world.scheduler.ready.keys.map(\.rawValue)) == [1, 2])
        #expect(!world.holds.isLoading)
    }

    @Test("held tasks are not ready and stay in the store")
    func held() throws {
        world.configure { $0.constraints.requiresExternalPower = true }
        world.source.current.externalPower = Reading(false)
        let effects = try load(world.below.task(1))
        #expect(world.scheduler.ready.isEmpty)
        #expect(world.holds.waits(ConditionWorld.laneGroup))
        #expect(effects.deferred == [.constraintGroup(ConditionWorld.group)])
    }

    @Test("the wait record of a group without tasks ends before its former tasks start")
    func left() throws {
        let (preset, past) = (ConstraintsID(rawValue: 6), ConstraintsID(rawValue: 7))
        world.holds.add([stated(preset) { $0.requiresExternalPower = true }, stated(past) { _ in }])
        world.source.current.externalPower = Reading(false)
        _ = try load(world.below.task(1, stating: preset), waiting: [preset])
        try world.runtime.storeReturns(WaitID(rawValue: 1))
        // The task's latest start has passed, so it has other constraints.
        _ = world.holds.beginLoad(of: LaneID(rawValue: 2))
        world.scheduler.tasksWait(in: [lane], reload: true)
        _ = try load(world.below.task(1, stating: past), waiting: [past])
        #expect(world.scheduler.ready.keys.map(\.rawValue) == [1])
        #expect(world.holds.groups.keys.map(\.constraints) == [past])
        #expect(world.runtime.storeAwaits(Void.self))
    }

    private func stated(_ id: ConstraintsID, _ change: (inout Constraints) -> Void) -> StoredConstraints {
        var stated = TaskConstraints()
        change(&stated.stated)
        return StoredConstraints(id: id, session: PartWorld.session, constraints: stated)
    }

    @Test("tasks that started during the load are not ready")
    func running() throws {
        _ = world.scheduler.next(room: 1)
        world.loader.load(lane, limit: 10)
        world.running.tasks = [world.below.task(1)]
        try world.runtime.storeReturns(
            TaskLoader.Loaded(
                tasks: [world.below.task(1), world.below.task(2)], isAll: true, constraints: [.session], stated: [],
                nextDue: nil))
        #expect(world.scheduler.ready.keys.map(\.rawValue) == [2])
    }

    @Test("the lane is loaded again when its loaded tasks are held")
    func behind() throws {
        world.configure { $0.constraints.requiresExternalPower = true }
        world.source.current.externalPower = Reading(false)
        let effects = try load(world.below.task(1), isAll: false)
        #expect(effects.waiting.contains([1]))
    }

    @Test("a failed load is repeated later")
    func failed() throws {
        _ = world.scheduler.next(room: 1)
        world.loader.load(lane, limit: 10)
        try world.runtime.storeReturns(Result<TaskLoader.Loaded, Failure>.failure(Failure(.storeFull, "full")))
        #expect(world.runtime.takeEffects().reloadedLater == [[1]])
        #expect(!world.holds.isLoading)
    }

    @Test("tasks that are too large for a budget are delayed")
    func tooLarge() throws {
        world.configure { $0.budget = ByteBudget(daily: 1_000) }
        world.source.current.network = Reading(Network(name: "phone", kind: .cellular))
        var large = world.below.task(1)
        large.request.options.expectedSize = 5_000
        _ = try load(large, world.below.task(2))
        #expect(world.scheduler.ready.keys.map(\.rawValue) == [2])
        #expect(world.parts.admission.hasDelayed)
    }
}
