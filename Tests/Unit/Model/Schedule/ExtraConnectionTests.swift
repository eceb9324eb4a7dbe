import BackhaulModel
import Testing

/// A running task may use more than one connection, such as an upload whose parts are sent in parallel.
@Suite("Further connections of running tasks")
struct ExtraConnectionTests {
    typealias TestSchedule = Schedule<String, String, Int>

    private let here = Origin(scheme: "https", server: "here.example", port: 443)

    private func schedule(
        _ limits: TestSchedule.EngineLimits = .init(), perLane: Int = 100, perSession: Int = 100
    ) -> TestSchedule {
        var schedule = TestSchedule(engineLimits: limits, streamLimit: 8, readyTarget: 10)
        for session in ["a", "b"] { schedule.setLimits(.init(perLane: perLane, perSession: perSession), of: session) }
        return schedule
    }

    /// Loads tasks into a lane. The first letter of the lane's name is the name of its session.
    private func load(_ schedule: inout TestSchedule, _ lane: String, _ tasks: [Int], urgent: Set<Int> = []) {
        schedule.add(lane, of: String(lane.prefix(1)), to: here, reload: false)
        while let step = schedule.next(), step != .load(lane, limit: 10) {}
        schedule.loaded(lane, tasks, urgent: urgent, isAll: true)
    }

    private func started(_ schedule: inout TestSchedule) -> [Int] {
        var tasks: [Int] = []
        while case .start(let task, _)? = schedule.next() { tasks.append(task) }
        return tasks
    }

    /// Returns how many further connections the lane gets.
    private func taken(_ schedule: inout TestSchedule, _ lane: String) -> Int {
        var count = 0
        while count < 50, schedule.takeExtraConnection(lane) { count += 1 }
        return count
    }

    @Test("Each limit of connections counts the further connections")
    func limits() {
        for (limits, perLane) in [
            (TestSchedule.EngineLimits(connections: 4), 100), (.init(connectionsPerOrigin: 4), 100), (.init(), 4),
        ] {
            var schedule = schedule(limits, perLane: perLane)
            load(&schedule, "a1", [1])
            #expect(started(&schedule) == [1])
            #expect(taken(&schedule, "a1") == 3)
            load(&schedule, "a1", [2])
            #expect(started(&schedule) == [])
            #expect(!schedule.hasFreeSlot("a1", of: "a", to: here))
            schedule.releasedExtraConnection("a1")
            #expect(started(&schedule) == [2])
            #expect(taken(&schedule, "a1") == 0)
        }
    }

    @Test("The limits of running tasks do not count further connections")
    func slots() {
        var schedule = schedule(.init(running: 2), perSession: 2)
        load(&schedule, "a1", [1, 2])
        #expect(started(&schedule) == [1, 2])
        #expect(taken(&schedule, "a1") == 50)
    }

    @Test("A task of another session gets a free connection before a further connection is given")
    func others() {
        var schedule = schedule(.init(connectionsPerOrigin: 2))
        load(&schedule, "a1", [1])
        #expect(started(&schedule) == [1])
        schedule.add("b1", of: "b", to: here, reload: false)
        #expect(schedule.next() == .load("b1", limit: 10))
        #expect(taken(&schedule, "a1") == 0, "tasks are being loaded")
        schedule.loaded("b1", [2, 3], isAll: true)
        #expect(started(&schedule) == [2])
        #expect(taken(&schedule, "a1") == 0)
        schedule.released("b1")
        #expect(started(&schedule) == [3])
        schedule.released("b1")
        #expect(schedule.next() == nil)
        #expect(schedule.takeExtraConnection("a1") == true)
    }

    @Test("A lane without a running task, a held lane, one that runs one task, and a paused origin get none")
    func refused() {
        var schedule = schedule()
        load(&schedule, "a1", [1])
        #expect(taken(&schedule, "a1") + taken(&schedule, "unknown") == 0)
        #expect(started(&schedule) == [1])
        schedule.setHeld("a1", true)
        #expect(taken(&schedule, "a1") == 0)
        schedule.setHeld("a1", false)
        schedule.setRunsOneTask("a1", true)
        #expect(taken(&schedule, "a1") == 0)
        schedule.setRunsOneTask("a1", false)
        schedule.originWidths = [here: 1]
        #expect(taken(&schedule, "a1") == 0)
        schedule.originWidths = [:]
        #expect(schedule.takeExtraConnection("a1") == true)
    }

    @Test("Over HTTP/2, further requests share the connection")
    func multiplexed() {
        var schedule = schedule(.init(connections: 2), perLane: 2)
        load(&schedule, "a1", [1])
        #expect(started(&schedule) == [1])
        schedule.setMultiplexed("a1")
        #expect(taken(&schedule, "a1") == 7)
        load(&schedule, "b1", [2])
        #expect(started(&schedule) == [2])
    }

    @Test("An urgent task gets a further connection of another task, and preempts a task only if there is none")
    func urgent() {
        for limits in [TestSchedule.EngineLimits(connections: 2), .init(connectionsPerOrigin: 2)] {
            var schedule = schedule(limits)
            load(&schedule, "a1", [1])
            #expect(started(&schedule) == [1])
            #expect(taken(&schedule, "a1") == 1)
            load(&schedule, "b1", [8, 9], urgent: [8, 9])
            let origin = limits.connectionsPerOrigin == nil ? nil : here
            #expect(schedule.next() == .releaseExtraConnection(origin))
            schedule.releasedExtraConnection("a1")
            #expect(schedule.next() == .start(8, "b1"))
            #expect(schedule.next() == .preempt(origin))
        }
    }

    @Test("An urgent task that has no slot preempts a task, because a further connection is no slot")
    func urgentWithoutSlot() {
        var schedule = schedule(.init(running: 1))
        load(&schedule, "a1", [1])
        #expect(started(&schedule) == [1])
        #expect(schedule.takeExtraConnection("a1") == true)
        load(&schedule, "b1", [9], urgent: [9])
        #expect(schedule.next() == .preempt(nil))
    }
}
