import BackhaulModel
import Testing

@Suite("Lanes without a route")
struct HeldLaneTests {
    private func turns() -> Schedule<String, String, Int> {
        var turns = Schedule<String, String, Int>(engineLimits: .init(running: 10), streamLimit: 8, readyTarget: 10)
        turns.setLimits(.init(perLane: 4, perSession: 8), of: "a")
        for lane in ["a1", "a2"] { turns.add(lane, of: "a", reload: false) }
        for lane in ["a1", "a2"] { #expect(turns.next() == .load(lane, limit: 10)) }
        turns.loaded("a1", [1, 2], isAll: true)
        turns.loaded("a2", [3], isAll: true)
        return turns
    }

    @Test("Their tasks do not start; others do")
    func held() {
        var turns = turns()
        turns.setHeld("a1", true)
        #expect(turns.next() == .start(3, "a2"))
        #expect(turns.next() == nil)
        turns.setHeld("a1", false)
        #expect(turns.next() == .start(1, "a1"))
        #expect(turns.next() == .start(2, "a1"))
    }

    @Test("Running tasks are not affected")
    func running() {
        var turns = turns()
        #expect(turns.next() == .start(1, "a1"))
        turns.setHeld("a1", true)
        turns.released("a1")
        #expect(turns.next() == .start(3, "a2"))
        #expect(turns.next() == nil)
    }

    @Test("An unknown lane is not held")
    func unknown() {
        var turns = turns()
        turns.setHeld("b1", true)
        #expect(turns.next() == .start(1, "a1"))
    }
}
