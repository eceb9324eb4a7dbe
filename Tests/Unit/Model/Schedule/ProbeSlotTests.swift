import BackhaulModel
import Testing

@Suite("Slots of probes")
struct ProbeSlotTests {
    private func schedule(perLane: Int = 9, perSession: Int = 9, engine: Int = 9) -> ScheduleTests.TestSchedule {
        var schedule = ScheduleTests.TestSchedule(engineLimits: .init(running: engine), readyTarget: 10)
        schedule.setLimits(.init(perLane: perLane, perSession: perSession), of: "a")
        return schedule
    }

    @Test(
        "a probe's slot counts towards each limit until it is released", arguments: [(1, 9, 9), (9, 1, 9), (9, 9, 1)])
    func limits(perLane: Int, perSession: Int, engine: Int) {
        var schedule = schedule(perLane: perLane, perSession: perSession, engine: engine)
        #expect(schedule.hasFreeSlot("a1", of: "a"))
        schedule.takeSlot("a1", of: "a")
        #expect(schedule.running == 1)
        #expect(!schedule.hasFreeSlot("a1", of: "a"))
        schedule.released("a1")
        #expect(schedule.hasFreeSlot("a1", of: "a"))
    }

    @Test("while a probe has the only slot, no ready task starts, and no tasks of the probe's lane are loaded")
    func others() {
        var schedule = schedule(engine: 1)
        schedule.takeSlot("a1", of: "a")
        #expect(schedule.next() == nil)
        schedule.add("a2", of: "a", reload: false)
        #expect(schedule.next() == .load("a2", limit: 10))
        schedule.loaded("a2", [1], isAll: true)
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(schedule.next() == .start(1, "a2"))
        #expect(!schedule.knows("a1"))
    }

    @Test("a probe does not get the slot for which an urgent task waits")
    func urgent() {
        var schedule = schedule()
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [1], urgent: [1], isAll: true)
        #expect(!schedule.hasFreeSlot("a2", of: "a"))
        schedule.setHeld("a1", true)
        #expect(schedule.hasFreeSlot("a2", of: "a"))
        schedule.setHeld("a1", false)
        #expect(schedule.next() == .start(1, "a1"))
        #expect(schedule.hasFreeSlot("a2", of: "a"))
    }

    @Test("a probe of an unknown session gets no slot")
    func gone() {
        #expect(!schedule().hasFreeSlot("b1", of: "b"))
    }
}
