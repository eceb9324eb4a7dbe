import BackhaulModel
import Testing

@Suite("Slots of probes")
struct TurnOfProbeTests {
    private func turns(perLane: Int = 9, perSession: Int = 9, engine: Int = 9) -> ScheduleTests.Turns {
        var turns = ScheduleTests.Turns(engineLimits: .init(running: engine), readyTarget: 10)
        turns.setLimits(.init(perLane: perLane, perSession: perSession), of: "a")
        return turns
    }

    @Test("count towards each limit until they are released", arguments: [(1, 9, 9), (9, 1, 9), (9, 9, 1)])
    func limits(perLane: Int, perSession: Int, engine: Int) {
        var turns = turns(perLane: perLane, perSession: perSession, engine: engine)
        #expect(turns.hasTurn("a1", of: "a"))
        turns.takeTurn("a1", of: "a")
        #expect(turns.running == 1)
        #expect(!turns.hasTurn("a1", of: "a"))
        turns.released("a1")
        #expect(turns.hasTurn("a1", of: "a"))
    }

    @Test("are not available to ready tasks, and start no load")
    func others() {
        var turns = turns(engine: 1)
        turns.takeTurn("a1", of: "a")
        #expect(turns.next() == nil)
        turns.add("a2", of: "a", reload: false)
        #expect(turns.next() == .load("a2", limit: 10))
        turns.loaded("a2", [1], isAll: true)
        #expect(turns.next() == nil)
        turns.released("a1")
        #expect(turns.next() == .start(1, "a2"))
        #expect(!turns.knows("a1"))
    }

    @Test("are not given in unknown sessions")
    func gone() {
        #expect(!turns().hasTurn("b1", of: "b"))
    }
}
