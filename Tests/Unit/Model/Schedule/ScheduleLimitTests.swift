import BackhaulModel
import Testing

/// An *urgent* task starts before all other tasks. To *load* tasks is to read waiting tasks from the database. Several
/// tasks can share an HTTP/2 connection.
@Suite("Slots within the engine's limits")
struct ScheduleLimitTests {
    typealias TestSchedule = Schedule<String, String, Int>

    private let here = Origin(scheme: "https", server: "here.example", port: 443)
    private let there = Origin(scheme: "https", server: "there.example", port: 443)

    private func schedule(
        _ limits: TestSchedule.EngineLimits, perLane: Int = 100, perSession: Int = 100
    ) -> TestSchedule {
        var schedule = TestSchedule(engineLimits: limits, streamLimit: 8, readyTarget: 10)
        for session in ["a", "b"] { schedule.setLimits(.init(perLane: perLane, perSession: perSession), of: session) }
        return schedule
    }

    /// Loads tasks into a lane. The first letter of the lane's name is the name of its session.
    private func load(
        _ schedule: inout TestSchedule, _ lane: String, _ tasks: [Int], to origin: Origin? = nil, urgent: Set<Int> = []
    ) {
        schedule.add(lane, of: String(lane.prefix(1)), to: origin ?? here, reload: false)
        var step = schedule.next()
        while let found = step, found != .load(lane, limit: 10) { step = schedule.next() }
        schedule.loaded(lane, tasks, urgent: urgent, isAll: true)
    }

    private func started(_ schedule: inout TestSchedule) -> [Int] {
        var tasks: [Int] = []
        while case .start(let task, _)? = schedule.next() { tasks.append(task) }
        return tasks
    }

    // MARK: Connections

    @Test("The schedule obeys the engine's limit of connections")
    func connections() {
        var schedule = schedule(.init(connections: 3))
        load(&schedule, "a1", [1, 2])
        load(&schedule, "b1", [3, 4], to: there)
        _ = started(&schedule)
        #expect(schedule.running == 3)
        schedule.released("a1")
        #expect(started(&schedule).count == 1)
    }

    @Test("Tasks that share a connection count as one connection")
    func sharedConnection() {
        var schedule = schedule(.init(connections: 2))
        load(&schedule, "a1", [1, 2, 3, 4, 5])
        #expect(started(&schedule) == [1, 2])
        schedule.setMultiplexed("a1")
        #expect(started(&schedule) == [3, 4, 5])
        load(&schedule, "b1", [6, 7], to: there)
        #expect(started(&schedule) == [6])
    }

    @Test("All sessions together obey the limit of connections to an origin, and their tasks start in rotation")
    func origin() {
        var schedule = schedule(.init(connectionsPerOrigin: 2))
        schedule.add("a1", of: "a", to: here, reload: false)
        schedule.add("b1", of: "b", to: here, reload: false)
        schedule.add("b2", of: "b", to: there, reload: false)
        for lane in ["a1", "b1", "b2"] { #expect(schedule.next() == .load(lane, limit: 10)) }
        schedule.loaded("a1", [1, 2, 3], isAll: true)
        schedule.loaded("b1", [4, 5, 6], isAll: true)
        schedule.loaded("b2", [7], isAll: true)
        #expect(started(&schedule) == [1, 4, 7])
        schedule.released("a1")
        schedule.released("b1")
        #expect(started(&schedule) == [2, 5])
    }

    @Test("The limit of connections to an origin does not limit tasks that share a connection")
    func sharedOrigin() {
        var schedule = schedule(.init(connectionsPerOrigin: 1))
        load(&schedule, "a1", [1, 2, 3])
        #expect(started(&schedule) == [1])
        schedule.setMultiplexed("a1")
        #expect(started(&schedule) == [2, 3])
    }

    @Test("While a session waits for a connection to an origin, no further tasks share another connection to it")
    func awaitedConnection() {
        var schedule = schedule(.init(connectionsPerOrigin: 1))
        load(&schedule, "a1", Array(1...10))
        #expect(started(&schedule) == [1])
        load(&schedule, "b1", [20])
        schedule.setMultiplexed("a1")
        #expect(started(&schedule) == Array(2...8))
        for _ in 0..<8 { schedule.released("a1") }
        #expect(started(&schedule) == [20])
        schedule.released("b1")
        #expect(started(&schedule) == [9, 10])
    }

    @Test("While an urgent task waits for a connection to an origin, no tasks share another connection to it")
    func connectionForUrgent() {
        var schedule = schedule(.init(connectionsPerOrigin: 1))
        load(&schedule, "a1", [1, 2])
        #expect(started(&schedule) == [1])
        load(&schedule, "b1", [9], urgent: [9])
        schedule.setMultiplexed("a1")
        #expect(schedule.next() == .preempt(here))
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(started(&schedule) == [9])
    }

    @Test("When tasks stop sharing a connection, each of these tasks counts as one connection")
    func noLongerShared() {
        var schedule = schedule(.init(connections: 4), perLane: 2)
        load(&schedule, "a1", Array(1...10))
        #expect(started(&schedule) == [1, 2])
        schedule.setMultiplexed("a1")
        #expect(started(&schedule) == [3, 4, 5, 6, 7, 8])
        schedule.setMultiplexed("a1", false)
        for _ in 0..<6 { schedule.released("a1") }
        #expect(started(&schedule) == [])
        schedule.released("a1")
        #expect(started(&schedule) == [9])
    }

    @Test("A lower limit of running tasks stops no task, and a higher limit applies at once")
    func changed() {
        var schedule = schedule(.init(running: 4))
        load(&schedule, "a1", Array(1...8))
        #expect(started(&schedule) == [1, 2, 3, 4])
        schedule.engineLimits.running = 2
        for _ in 0..<2 { schedule.released("a1") }
        #expect(started(&schedule) == [])
        schedule.released("a1")
        #expect(started(&schedule) == [5])
        schedule.engineLimits.running = 4
        #expect(started(&schedule) == [6, 7])
    }

    // MARK: Urgent tasks

    @Test("An urgent task starts even if its session has reached its limits")
    func urgent() {
        var schedule = schedule(.init(), perLane: 1, perSession: 1)
        load(&schedule, "a1", [1, 2])
        #expect(started(&schedule) == [1])
        #expect(schedule.add("a1", of: "a", to: here, reload: true) == [2])
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [9, 8, 2], urgent: [8, 9], isAll: true)
        #expect(started(&schedule) == [9, 8])
        schedule.released("a1")
        schedule.released("a1")
        #expect(started(&schedule) == [])
    }

    @Test("If the engine has no free slot, each urgent task preempts one running task")
    func preempt() {
        var schedule = schedule(.init(running: 2))
        load(&schedule, "a1", [1, 2, 3])
        #expect(started(&schedule) == [1, 2])
        load(&schedule, "b1", [7, 8, 4], urgent: [7, 8])
        #expect(schedule.next() == .preempt(nil))
        #expect(schedule.next() == .preempt(nil))
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(schedule.next() == .start(7, "b1"))
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(started(&schedule) == [8])
        schedule.released("b1")
        #expect(started(&schedule).count == 1)
    }

    @Test("If an origin has no free connection, an urgent task preempts a task of that origin")
    func makeRoomAtOrigin() {
        var schedule = schedule(.init(connectionsPerOrigin: 1))
        load(&schedule, "b1", [5], to: there)
        #expect(started(&schedule) == [5])
        load(&schedule, "a1", [1])
        #expect(started(&schedule) == [1])
        load(&schedule, "a2", [9], urgent: [9])
        #expect(schedule.next() == .preempt(here))
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(started(&schedule) == [9])
    }

    @Test("If an urgent task is removed from the schedule before it starts, it preempts no task")
    func dropped() {
        var schedule = schedule(.init(running: 1))
        load(&schedule, "a1", [1])
        _ = started(&schedule)
        load(&schedule, "b1", [9, 4], urgent: [9])
        schedule.drop(9, in: "b1")
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(started(&schedule) == [4])
    }

    @Test("If an urgent task is removed after its preemption was requested, the next urgent task preempts a task")
    func droppedAfterRequest() {
        var schedule = schedule(.init(running: 1))
        load(&schedule, "a1", [1, 2])
        #expect(started(&schedule) == [1])
        load(&schedule, "b1", [8], urgent: [8])
        #expect(schedule.next() == .preempt(nil))
        schedule.drop(8, in: "b1")
        load(&schedule, "b1", [9], urgent: [9])
        #expect(schedule.next() == .preempt(nil))
        #expect(schedule.next() == nil)
    }

    @Test("If a lane is set to run one task at a time, its urgent task waits for its running task")
    func runsOneTask() {
        var schedule = schedule(.init())
        schedule.add("a1", of: "a", to: here, reload: false)
        schedule.setRunsOneTask("a1", true)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [8, 9], urgent: [8, 9], isAll: true)
        #expect(started(&schedule) == [8])
        schedule.endedRunningAlone("a1")
        #expect(started(&schedule) == [9])
    }

    @Test("If a more important task arrives while tasks are loaded, the lane is loaded again")
    func outdated() {
        var schedule = schedule(.init())
        schedule.add("a1", of: "a", to: here, reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.add("a1", of: "a", to: here, reload: true)
        #expect(schedule.loaded("a1", [1, 2], isAll: false) == [1, 2])
        #expect(schedule.next() == .load("a1", limit: 10))
        #expect(schedule.loaded("a1", [9, 1, 2], urgent: [9], isAll: true) == [])
        #expect(started(&schedule) == [9, 1, 2])
    }

    // MARK: Fairness

    @Test("if a session has very many waiting tasks, another session still gets slots in rotation")
    func fair() {
        var schedule = schedule(.init(running: 4))
        load(&schedule, "a1", Array(1...10))
        #expect(started(&schedule) == [1, 2, 3, 4])
        load(&schedule, "b1", [1_001, 1_002])
        var order: [Int] = []
        for _ in 0..<4 {
            schedule.released("a1")
            order += started(&schedule)
        }
        #expect(order.prefix(3).contains(1_001) && order.contains(1_002), "\(order)")
    }

    // MARK: Preemption

    @Test("Preemption chooses the lowest priority, then the fewest lost bytes, then the task that started last")
    func leastImportant() {
        func candidate(_ task: UInt64, _ priority: Int32, lost: UInt64 = 0) -> PreemptionPolicy.Candidate {
            .init(task: TaskID(rawValue: task), priority: priority, bytesLost: lost, start: task)
        }
        func chosen(_ candidates: [PreemptionPolicy.Candidate]) -> UInt64? {
            PreemptionPolicy.among(candidates)?.rawValue
        }
        #expect(chosen([candidate(1, 5), candidate(2, -3), candidate(3, 0)]) == 2)
        #expect(chosen([candidate(1, 0, lost: 9), candidate(2, 0), candidate(3, 0, lost: 1)]) == 2)
        #expect(chosen([candidate(1, 0), candidate(2, 0), candidate(3, 0)]) == 3)
        #expect(chosen([candidate(1, 101), candidate(2, 101)]) == nil)
        #expect(chosen([]) == nil)
    }
}
