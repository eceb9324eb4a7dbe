import BackhaulModel
import Testing

@testable import BackhaulEngine

@Suite("An engine with nothing to do")
struct IdleWatchTests {
    let runtime = FakeRuntime()
    let facts = FactsBox()

    final class FactsBox {
        var value: LeaveDecision.Facts? = LeaveDecision.Facts()
    }

    private func idle(linger: Int64? = 5_000) -> IdleWatch {
        IdleWatch(runtime, lingerMilliseconds: linger, facts: { [facts] in facts.value })
    }

    private var leaves: Bool {
        runtime.takeEffects().contains { if case .leaveIfUnconnected = $0 { true } else { false } }
    }

    private var memoryIsReturned: Int {
        runtime.takeEffects().count { if case .giveMemoryBack = $0 { true } else { false } }
    }

    @Test("exits after its linger time, when the store has no work either")
    func leavesWhenIdle() throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 4_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        try runtime.storeReturns((tasks: false, activities: false))
        #expect(leaves)
    }

    @Test("stays while a task or an activity waits in the store", arguments: [(true, false), (false, true)])
    func staysForStore(tasks: Bool, activities: Bool) throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 5_000)
        try runtime.storeReturns((tasks: tasks, activities: activities))
        #expect(!leaves)
    }

    @Test("stays when a client has connected while the store was read")
    func staysForClient() throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 5_000)
        facts.value?.connections = 1
        try runtime.storeReturns((tasks: false, activities: false))
        #expect(!leaves)
    }

    @Test("checks again when the store cannot be read")
    func asksAgain() throws {
        let idle = idle()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 5_000)
        try runtime.storeReturns(
            Result<(tasks: Bool, activities: Bool), Failure>.failure(Failure(.storeFull, "no space")))
        #expect(runtime.takeEffects().contains { if case .mayBeIdle = $0 { true } else { false } })
    }

    @Test("returns memory after its last work, and once more after idle connections are closed")
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

    @Test("returns no memory while it works")
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

    @Test("neither exits nor returns memory inside a host")
    func embedded() {
        let idle = idle(linger: nil)
        idle.noteWork()
        idle.mayBeIdle()
        runtime.advance(milliseconds: 3_600_000)
        #expect(runtime.takeEffects().isEmpty && runtime.pendingStoreCalls == 0)
    }
}
