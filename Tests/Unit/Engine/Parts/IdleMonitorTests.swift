import BackhaulModel
import Testing

@testable import BackhaulEngine

@Suite("An engine without work")
struct IdleMonitorTests {
    let runtime = FakeRuntime()
    let facts = FactsBox()

    final class FactsBox {
        var value: IdleExitPolicy.Facts? = IdleExitPolicy.Facts()
    }

    private func idle(linger: Int64? = 5_000) -> IdleMonitor {
        IdleMonitor(runtime, lingerMilliseconds: linger, facts: { [facts] in facts.value })
    }

    private var exits: Bool {
        runtime.takeEffects().contains { if case .exitIfUnconnected = $0 { true } else { false } }
    }

    private var memoryIsReturned: Int {
        runtime.takeEffects().count { if case .releaseMemory = $0 { true } else { false } }
    }

    @Test("an idle engine exits after its linger time if the store contains no work")
    func leavesWhenIdle() throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 4_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        try runtime.storeReturns((tasks: false, activities: false))
        #expect(exits)
    }

    @Test(
        "an engine does not exit while a task or an activity waits in the store",
        arguments: [(true, false), (false, true)])
    func staysForStore(tasks: Bool, activities: Bool) throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 5_000)
        try runtime.storeReturns((tasks: tasks, activities: activities))
        #expect(!exits)
    }

    @Test("an engine does not exit if a client connects while the store is read")
    func staysForClient() throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 5_000)
        facts.value?.connections = 1
        try runtime.storeReturns((tasks: false, activities: false))
        #expect(!exits)
    }

    @Test("if the store cannot be read, the engine checks again later whether it has work")
    func asksAgain() throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 5_000)
        try runtime.storeReturns(
            Result<(tasks: Bool, activities: Bool), Failure>.failure(Failure(.storeFull, "no space")))
        #expect(runtime.takeEffects().contains { if case .mayBeIdle = $0 { true } else { false } })
    }

    @Test("an engine returns memory to the system after its last work, and again after it has closed idle connections")
    func returnsMemory() {
        let idle = idle()
        idle.noteWork()
        runtime.advance(milliseconds: 2_000)
        #expect(memoryIsReturned == 1)
        runtime.advance(milliseconds: 31_000)
        #expect(memoryIsReturned == 1)
        runtime.advance(milliseconds: 3_600_000)
        #expect(memoryIsReturned == 0)
    }

    @Test("an engine returns no memory while it works")
    func keepsMemory() {
        let idle = idle()
        idle.noteWork()
        idle.noteWork()
        runtime.advance(milliseconds: 2_000)
        #expect(memoryIsReturned == 0)
        facts.value?.runningTasks = 1
        runtime.advance(milliseconds: 60_000)
        #expect(memoryIsReturned == 0)
    }

    @Test("an embedded engine does not exit and does not return memory")
    func embedded() {
        let idle = idle(linger: nil)
        idle.noteWork()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 3_600_000)
        #expect(runtime.takeEffects().isEmpty && runtime.pendingStoreCalls == 0)
    }
}
