import BackhaulModel
import Testing

/// The *schedule* gives the slots to the tasks.
@Suite("Lanes without a route")
struct HeldLaneTests {
    private func schedule() -> Schedule<String, String, Int> {
        var schedule = Schedule<String, String, Int>(engineLimits: .init(running: 10), streamLimit: 8, readyTarget: 10)
        schedule.setLimits(.init(perLane: 4, perSession: 8), of: "a")
        for lane in ["a1", "a2"] { schedule.add(lane, of: "a", reload: false) }
        for lane in ["a1", "a2"] { #expect(schedule.next() == .load(lane, limit: 10)) }
        schedule.loaded("a1", [1, 2], isAll: true)
        schedule.loaded("a2", [3], isAll: true)
        return schedule
    }

    @Test("Tasks of a lane without a route do not start; tasks of other lanes start")
    func held() {
        var schedule = schedule()
        schedule.setHeld("a1", true)
        #expect(schedule.next() == .start(3, "a2"))
        #expect(schedule.next() == nil)
        schedule.setHeld("a1", false)
        #expect(schedule.next() == .start(1, "a1"))
        #expect(schedule.next() == .start(2, "a1"))
    }

    @Test("if a lane loses its route while a task runs, no further task of the lane starts when this task ends")
    func running() {
        var schedule = schedule()
        #expect(schedule.next() == .start(1, "a1"))
        schedule.setHeld("a1", true)
        schedule.released("a1")
        #expect(schedule.next() == .start(3, "a2"))
        #expect(schedule.next() == nil)
    }

    @Test("A command to hold an unknown lane has no effect")
    func unknown() {
        var schedule = schedule()
        schedule.setHeld("b1", true)
        #expect(schedule.next() == .start(1, "a1"))
    }
}
