import BackhaulModel
import Testing

@Suite("Which tasks of a loaded lane may be ready")
struct LoadDecisionTests {
    private func task(_ number: UInt64, stating id: UInt64 = 0, bytes: UInt64? = nil) -> LoadDecision.Candidate {
        .init(id: TaskID(rawValue: number), constraints: ConstraintsID(rawValue: id), statedBytes: bytes)
    }

    /// A daily budget of 1,000 bytes.
    private var budgets: [BudgetUsage] {
        ByteUsage().budgets(
            of: SessionID(rawValue: 1), ByteBudget(daily: 1_000), on: NetworkSettings(name: "phone"), now: 0,
            localOffsetMilliseconds: { _ in 0 })
    }

    @Test("tasks without a reason to wait are ready")
    func ready() {
        let decision = LoadDecision([task(1), task(2)])
        #expect(decision.ready == [TaskID(rawValue: 1), TaskID(rawValue: 2)])
        #expect(decision.tooLarge.isEmpty && !decision.loadsAgain)
    }

    @Test("tasks whose constraints are held stay in the store")
    func held() {
        let decision = LoadDecision([task(1, stating: 7), task(2)], held: [ConstraintsID(rawValue: 7)])
        #expect(decision.ready == [TaskID(rawValue: 2)])
    }

    @Test("a task that runs or is ready already is not ready again")
    func active() {
        let decision = LoadDecision([task(1), task(2)], active: [TaskID(rawValue: 1)])
        #expect(decision.ready == [TaskID(rawValue: 2)])
    }

    @Test("a task that is larger than the rest of a budget waits, and smaller tasks are ready")
    func tooLarge() {
        let decision = LoadDecision([task(1, bytes: 5_000), task(2, bytes: 500), task(3)], budgets: budgets)
        #expect(decision.tooLarge.map(\.task.rawValue) == [1])
        #expect(decision.tooLarge.first?.hold.reason == .budget)
        #expect(decision.ready == [TaskID(rawValue: 2), TaskID(rawValue: 3)])
    }

    @Test("the lane is loaded again if loaded tasks are held or due later, and more tasks wait after them")
    func again() {
        let held: Set<ConstraintsID> = [.session]
        #expect(LoadDecision([task(1)], held: held, isAll: false).loadsAgain)
        #expect(!LoadDecision([task(1)], held: held, isAll: true).loadsAgain)
        #expect(LoadDecision([], isAll: false, hasDelayed: true).loadsAgain)
        #expect(!LoadDecision([task(1)], isAll: false).loadsAgain)
    }
}
