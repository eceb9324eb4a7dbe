import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("The accounting of budgets")
struct BudgetAccountingTests {
    let fixture = ConditionsFixture()
    var budgets: BudgetAccounting { fixture.budgets }
    var budgetDelays: BudgetDelays { fixture.parts.budgetDelays }
    let network = Network(name: "phone", kind: .cellular)
    let session = EngineFixture.session

    /// Sets a daily budget of the session, and makes the fake source of conditions report `network`.
    private func limit(_ bytes: UInt64) {
        fixture.configure { $0.budget = ByteBudget(daily: bytes) }
        fixture.source.current.network = Reading(network)
        _ = fixture.conditions.note(ConditionsFixture.group)
        _ = fixture.runtime.takeEffects()
    }

    private func move(_ bytes: Int) -> [EngineEffect] { budgets.moved(bytes, by: fixture.base.task(1)) }

    @Test("transferred bytes count against the budget, except bytes that stay within this machine")
    func counts() {
        limit(1_000_000)
        _ = move(1_000)
        #expect(budgets.budgets(of: session).first?.left == 999_000)
        var local = fixture.base.task(2)
        local.lane = LaneID(rawValue: 9)
        local.origin = Origin(scheme: "http", server: "127.0.0.1", port: 80)
        _ = budgets.moved(1_000, by: local)
        #expect(budgets.budgets(of: session).first?.left == 999_000)
    }

    @Test("when a budget is used up, the budget's tasks are paused until the holds are evaluated")
    func spent() {
        limit(1_000)
        #expect(budgets.mayMove(fixture.base.task(1)))
        #expect(move(1_000).has(\.isReconsider))
        #expect(budgets.isDeciding)
        #expect(!budgets.mayMove(fixture.base.task(1)))
        #expect(fixture.conditions.reconsider().deferred == [.constraintGroup(ConditionsFixture.group)])
        #expect(budgets.decided(hasTasksWithinBudgets: true).resumed == [1])
        #expect(!budgets.isDeciding)
        #expect(fixture.holds.groups[ConditionsFixture.group]?.holds.first?.reason == .budget)
    }

    @Test("a budget applies only while the network is known")
    func unknownNetwork() {
        limit(1_000)
        fixture.source.pending = .network
        _ = budgets.networkBecameUnknown()
        #expect(budgets.budgets(of: session).isEmpty)
        _ = budgets.networkIdentified(Network(name: "home", kind: .wifi))
        #expect(budgets.budgets(of: session).first?.left == 1_000)
    }

    @Test("if there is a budget, the engine checks the network until ten seconds after the last transferred byte")
    func asks() {
        limit(1_000_000)
        #expect(budgets.readsNetworkUntil == nil)
        _ = move(1)
        #expect(budgets.readsNetworkUntil == fixture.runtime.now + 10_000)
        fixture.runtime.advance(milliseconds: 10_000)
        #expect(budgets.readsNetworkUntil == nil)
    }

    @Test("a change of a network's settings is evaluated immediately")
    func configured() {
        var settings = NetworkSettings(name: network.name)
        settings.isMetered = true
        let effects = budgets.configure(settings)
        #expect(effects.has(\.isConditionsChanged) && effects.has(\.isReevaluateDelayed))
        #expect(budgets.networkInfos().infos.map(\.settings.name) == [network.name])
    }

    // MARK: Admission

    private func task(_ number: UInt64, bytes: UInt64?) -> StoredTask {
        var task = fixture.base.task(number)
        task.request.options.expectedSize = bytes
        return task
    }

    private func admit(_ tasks: [StoredTask]) -> (decision: LoadDecision, effects: [EngineEffect]) {
        let lane = ConditionsFixture.lane
        let decision = LoadDecision(tasks.map(\.candidate), budgets: budgetDelays.budgets(in: lane))
        return (decision, budgetDelays.apply(decision, in: lane))
    }

    @Test("a task that is larger than the remaining budget is delayed, and other tasks are admitted")
    func admits() throws {
        limit(1_000)
        let tasks = [task(1, bytes: 10_000), task(2, bytes: 500), task(3, bytes: nil)]
        let (decision, effects) = admit(tasks)
        #expect(decision.ready.sorted().map(\.rawValue) == [2, 3])
        #expect(effects.waitsBegun == [.budget(TaskID(rawValue: 1))])
        #expect(budgetDelays.hasDelayed)
        #expect(budgetDelays.endDelay(of: TaskID(rawValue: 1)).waitsEnded == [.budget(TaskID(rawValue: 1))])
        try fixture.runtime.storeReturns(())
        #expect(fixture.runtime.takeEffects().waiting == [[1]])
    }

    @Test("if the store cannot record a task's delay, the tasks of the lane are read from the store again later")
    func failedDelay() throws {
        limit(1_000)
        _ = admit([task(1, bytes: 10_000)])
        try fixture.runtime.storeReturns(Result<Void, Failure>.failure(Failure(.storeFull, "full")))
        #expect(fixture.runtime.takeEffects().reloadedLater == [[1]])
    }

    @Test("delayed tasks are evaluated once per loop iteration, and again if a change occurs during the evaluation")
    func evaluates() throws {
        budgetDelays.reevaluateDelayed()
        budgetDelays.reevaluateDelayed()
        fixture.runtime.endIteration()
        #expect(fixture.runtime.pendingStoreCalls == 1)
        budgetDelays.reevaluateDelayed()
        var evaluated = EvaluatedDelays()
        evaluated.next = 5
        evaluated.lanes = [LaneID(rawValue: 3)]
        try fixture.runtime.storeReturns(evaluated)
        #expect(fixture.runtime.takeEffects().waiting == [[3]])
        fixture.runtime.endIteration()
        #expect(fixture.runtime.pendingStoreCalls == 1)
        try fixture.runtime.storeReturns(EvaluatedDelays())
        #expect(!budgetDelays.hasDelayed)
        budgetDelays.reevaluateDelayed()
        fixture.runtime.endIteration()
        #expect(fixture.runtime.pendingStoreCalls == 0)
    }

    @Test("delayed tasks are evaluated in batches, and a failed batch is evaluated again later")
    func batches() throws {
        budgetDelays.reevaluateDelayed()
        fixture.runtime.endIteration()
        var evaluated = EvaluatedDelays()
        evaluated.last = DelayedTask(
            task: TaskID(rawValue: 1), session: session, lane: ConditionsFixture.lane.id, due: 1, statedBytes: 1)
        try fixture.runtime.storeReturns(evaluated)
        #expect(fixture.runtime.pendingStoreCalls == 1)
        try fixture.runtime.storeReturns(Result<EvaluatedDelays, Failure>.failure(Failure(.storeFull, "full")))
        #expect(budgetDelays.hasDelayed, "some tasks were not evaluated")
        fixture.runtime.retry()
        #expect(fixture.runtime.pendingStoreCalls == 1)
    }
}
