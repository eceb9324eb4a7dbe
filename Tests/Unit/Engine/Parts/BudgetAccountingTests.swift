import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Budgets")
struct BudgetAccountingTests {
    let world = ConditionWorld()
    var budgets: BudgetAccounting { world.budgets }
    var admission: BudgetAdmission { world.parts.admission }
    let network = Network(name: "phone", kind: .cellular)
    let session = PartWorld.session

    /// Sets a daily budget, on a network that all sources agree on.
    private func limit(_ bytes: UInt64) {
        world.configure { $0.budget = ByteBudget(daily: bytes) }
        world.source.current.network = Reading(network)
        _ = world.holds.add(ConditionWorld.group)
        _ = world.conditions.reconsider()
        _ = world.runtime.takeEffects()
    }

    private func move(_ bytes: Int) -> [EngineEffect] { budgets.moved(bytes, by: world.below.task(1)) }

    @Test("count transferred bytes, except those within this machine")
    func counts() {
        limit(1_000_000)
        _ = move(1_000)
        #expect(budgets.budgets(of: session).first?.left == 999_000)
        var local = world.below.task(2)
        local.lane = LaneID(rawValue: 9)
        local.origin = Origin(scheme: "http", server: "127.0.0.1", port: 80)
        _ = budgets.moved(1_000, by: local)
        #expect(budgets.budgets(of: session).first?.left == 999_000)
    }

    @Test("that are used up pause their tasks until the holds are judged")
    func spent() {
        limit(1_000)
        #expect(budgets.mayMove(world.below.task(1)))
        #expect(move(1_000).has(\.isReconsider))
        #expect(budgets.isDeciding)
        #expect(!budgets.mayMove(world.below.task(1)))
        #expect(world.conditions.reconsider().deferred == [.constraintGroup(ConditionWorld.group)])
        #expect(budgets.decided().resumed == [1])
        #expect(!budgets.isDeciding)
        #expect(world.holds.groups[ConditionWorld.group]?.held?.first?.reason == .budget)
    }

    @Test("are those of the network that all sources agree on")
    func unknownNetwork() {
        limit(1_000)
        world.source.pending = .network
        _ = budgets.networkIsUnknown()
        #expect(budgets.budgets(of: session).isEmpty)
        _ = budgets.networkIs(Network(name: "home", kind: .wifi))
        #expect(budgets.budgets(of: session).first?.left == 1_000)
    }

    @Test("need the network until ten seconds after the last byte")
    func asks() {
        limit(1_000_000)
        #expect(!budgets.updateAsking())
        _ = move(1)
        #expect(budgets.updateAsking())
        world.runtime.advance(milliseconds: 10_000)
        #expect(!budgets.updateAsking())
    }

    @Test("a change of a network's settings is judged at once")
    func configured() {
        var settings = NetworkSettings(name: network.name)
        settings.isMetered = true
        let effects = budgets.configure(settings)
        #expect(effects.has(\.isConditionsChanged) && effects.has(\.isJudgeDelayed))
        #expect(budgets.networkInfos().infos.map(\.settings.name) == [network.name])
    }

    // MARK: Admission

    private func task(_ number: UInt64, bytes: UInt64?) -> StoredTask {
        var task = world.below.task(number)
        task.request.options.expectedSize = bytes
        return task
    }

    @Test("delay tasks that are larger than the rest of the budget, and admit the others")
    func admits() throws {
        limit(1_000)
        let tasks = [task(1, bytes: 10_000), task(2, bytes: 500), task(3, bytes: nil)]
        #expect(admission.admit(tasks, in: ConditionWorld.lane.id).map(\.id.rawValue) == [2, 3])
        #expect(admission.hasDelayed)
        try world.runtime.storeReturns(())
        #expect(world.runtime.takeEffects().waiting == [[1]])
    }

    @Test("a delay that the store cannot write is retried later")
    func failedDelay() throws {
        limit(1_000)
        _ = admission.admit([task(1, bytes: 10_000)], in: ConditionWorld.lane.id)
        try world.runtime.storeReturns(Result<Void, Failure>.failure(Failure(.storeFull, "full")))
        #expect(world.runtime.takeEffects().reloadedLater == [[1]])
    }

    @Test("judge delayed tasks once at the end of the loop iteration, and again after changes")
    func judges() throws {
        admission.judgeDelayed()
        admission.judgeDelayed()
        world.runtime.endTurn()
        #expect(world.runtime.pendingStoreCalls == 1)
        admission.judgeDelayed()
        var judged = JudgedDelays()
        judged.next = 5
        judged.lanes = [LaneID(rawValue: 3)]
        try world.runtime.storeReturns(judged)
        #expect(world.runtime.takeEffects().waiting == [[3]])
        world.runtime.endTurn()
        #expect(world.runtime.pendingStoreCalls == 1)
        try world.runtime.storeReturns(JudgedDelays())
        #expect(!admission.hasDelayed)
        admission.judgeDelayed()
        world.runtime.endTurn()
        #expect(world.runtime.pendingStoreCalls == 0)
    }

    @Test("judge delayed tasks in batches")
    func batches() throws {
        admission.judgeDelayed()
        world.runtime.endTurn()
        var judged = JudgedDelays()
        judged.last = DelayedTask(
            task: TaskID(rawValue: 1), session: session, lane: ConditionWorld.lane.id, due: 1, statedBytes: 1)
        try world.runtime.storeReturns(judged)
        #expect(world.runtime.pendingStoreCalls == 1)
        try world.runtime.storeReturns(Result<JudgedDelays, Failure>.failure(Failure(.storeFull, "full")))
        #expect(admission.hasDelayed, "some tasks were not judged")
        world.runtime.retry()
        #expect(world.runtime.pendingStoreCalls == 1)
    }
}
