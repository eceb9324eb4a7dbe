import BackhaulModel
import Testing

@Suite("Slots within the engine's limits")
struct ScheduleLimitTests {
    typealias Turns = Schedule<String, String, Int>

    private let here = Origin(scheme: "https", server: "here.example", port: 443)
    private let there = Origin(scheme: "https", server: "there.example", port: 443)

    private func turns(_ limits: Turns.EngineLimits, perLane: Int = 100, perSession: Int = 100) -> Turns {
        var turns = Turns(engineLimits: limits, streamLimit: 8, readyTarget: 10)
        for session in ["a", "b"] { turns.setLimits(.init(perLane: perLane, perSession: perSession), of: session) }
        return turns
    }

    /// Loads tasks into a lane. The first letter of the lane is its session.
    private func load(
        _ turns: inout Turns, _ lane: String, _ tasks: [Int], to origin: Origin? = nil, urgent: Set<Int> = []
    ) {
        turns.add(lane, of: String(lane.prefix(1)), to: origin ?? here, reload: false)
        var step = turns.next()
        while let found = step, found != .load(lane, limit: 10) { step = turns.next() }
        turns.loaded(lane, tasks, urgent: urgent, isAll: true)
    }

    private func started(_ turns: inout Turns) -> [Int] {
        var tasks: [Int] = []
        while case .start(let task, _)? = turns.next() { tasks.append(task) }
        return tasks
    }

    // MARK: Connections

    @Test("The engine's limit of connections is kept")
    func connections() {
        var turns = turns(.init(connections: 3))
        load(&turns, "a1", [1, 2])
        load(&turns, "b1", [3, 4], to: there)
        _ = started(&turns)
        #expect(turns.running == 3)
        turns.released("a1")
        #expect(started(&turns).count == 1)
    }

    @Test("Tasks that share a connection count as one")
    func sharedConnection() {
        var turns = turns(.init(connections: 2))
        load(&turns, "a1", [1, 2, 3, 4, 5])
        #expect(started(&turns) == [1, 2])
        turns.setMultiplexed("a1")
        #expect(started(&turns) == [3, 4, 5])
        load(&turns, "b1", [6, 7], to: there)
        #expect(started(&turns) == [6])
    }

    @Test("All sessions together keep the limit of connections to an origin, in turns")
    func origin() {
        var turns = turns(.init(connectionsPerOrigin: 2))
        turns.add("a1", of: "a", to: here, reload: false)
        turns.add("b1", of: "b", to: here, reload: false)
        turns.add("b2", of: "b", to: there, reload: false)
        for lane in ["a1", "b1", "b2"] { #expect(turns.next() == .load(lane, limit: 10)) }
        turns.loaded("a1", [1, 2, 3], isAll: true)
        turns.loaded("b1", [4, 5, 6], isAll: true)
        turns.loaded("b2", [7], isAll: true)
        #expect(started(&turns) == [1, 4, 7])
        turns.released("a1")
        turns.released("b1")
        #expect(started(&turns) == [2, 5])
    }

    @Test("The limit of connections does not limit tasks that share a connection")
    func sharedOrigin() {
        var turns = turns(.init(connectionsPerOrigin: 1))
        load(&turns, "a1", [1, 2, 3])
        #expect(started(&turns) == [1])
        turns.setMultiplexed("a1")
        #expect(started(&turns) == [2, 3])
    }

    @Test("Tasks that do not share a connection any more count one by one")
    func noLongerShared() {
        var turns = turns(.init(connections: 4), perLane: 2)
        load(&turns, "a1", Array(1...10))
        #expect(started(&turns) == [1, 2])
        turns.setMultiplexed("a1")
        #expect(started(&turns) == [3, 4, 5, 6, 7, 8])
        turns.setMultiplexed("a1", false)
        for _ in 0..<6 { turns.released("a1") }
        #expect(started(&turns) == [])
        turns.released("a1")
        #expect(started(&turns) == [9])
    }

    @Test("A lower limit stops no running task, and a higher one applies at once")
    func changed() {
        var turns = turns(.init(running: 4))
        load(&turns, "a1", Array(1...8))
        #expect(started(&turns) == [1, 2, 3, 4])
        turns.engineLimits.running = 2
        for _ in 0..<2 { turns.released("a1") }
        #expect(started(&turns) == [])
        turns.released("a1")
        #expect(started(&turns) == [5])
        turns.engineLimits.running = 4
        #expect(started(&turns) == [6, 7])
    }

    // MARK: Urgent tasks

    @Test("An urgent task starts beyond its session's limits")
    func urgent() {
        var turns = turns(.init(), perLane: 1, perSession: 1)
        load(&turns, "a1", [1, 2])
        #expect(started(&turns) == [1])
        #expect(turns.add("a1", of: "a", to: here, reload: true) == [2])
        #expect(turns.next() == .load("a1", limit: 10))
        turns.loaded("a1", [9, 8, 2], urgent: [8, 9], isAll: true)
        #expect(started(&turns) == [9, 8])
        turns.released("a1")
        turns.released("a1")
        #expect(started(&turns) == [])
    }

    @Test("In a full engine each urgent task preempts one running task")
    func makeRoom() {
        var turns = turns(.init(running: 2))
        load(&turns, "a1", [1, 2, 3])
        #expect(started(&turns) == [1, 2])
        load(&turns, "b1", [7, 8, 4], urgent: [7, 8])
        #expect(turns.next() == .makeRoom(nil))
        #expect(turns.next() == .makeRoom(nil))
        #expect(turns.next() == nil)
        turns.released("a1")
        #expect(turns.next() == .start(7, "b1"))
        #expect(turns.next() == nil)
        turns.released("a1")
        #expect(started(&turns) == [8])
        turns.released("b1")
        #expect(started(&turns).count == 1)
    }

    @Test("At a full origin one of its own tasks is preempted")
    func makeRoomAtOrigin() {
        var turns = turns(.init(connectionsPerOrigin: 1))
        load(&turns, "b1", [5], to: there)
        #expect(started(&turns) == [5])
        load(&turns, "a1", [1])
        #expect(started(&turns) == [1])
        load(&turns, "a2", [9], urgent: [9])
        #expect(turns.next() == .makeRoom(here))
        #expect(turns.next() == nil)
        turns.released("a1")
        #expect(started(&turns) == [9])
    }

    @Test("A dropped urgent task preempts no task")
    func dropped() {
        var turns = turns(.init(running: 1))
        load(&turns, "a1", [1])
        _ = started(&turns)
        load(&turns, "b1", [9, 4], urgent: [9])
        turns.drop(9, in: "b1")
        #expect(turns.next() == nil)
        turns.released("a1")
        #expect(started(&turns) == [4])
    }

    @Test("An urgent task waits while its lane is probed")
    func probed() {
        var turns = turns(.init())
        turns.add("a1", of: "a", to: here, reload: false)
        turns.setProbed("a1", true)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.loaded("a1", [8, 9], urgent: [8, 9], isAll: true)
        #expect(started(&turns) == [8])
        turns.endedProbe("a1")
        #expect(started(&turns) == [9])
    }

    @Test("A more important task during a load causes another load")
    func outdated() {
        var turns = turns(.init())
        turns.add("a1", of: "a", to: here, reload: false)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.add("a1", of: "a", to: here, reload: true)
        #expect(turns.loaded("a1", [1, 2], isAll: false) == [1, 2])
        #expect(turns.next() == .load("a1", limit: 10))
        #expect(turns.loaded("a1", [9, 1, 2], urgent: [9], isAll: true) == [])
        #expect(started(&turns) == [9, 1, 2])
    }

    // MARK: Fairness

    @Test("A session with very many tasks does not keep another waiting")
    func fair() {
        var turns = turns(.init(running: 4))
        load(&turns, "a1", Array(1...10))
        #expect(started(&turns) == [1, 2, 3, 4])
        load(&turns, "b1", [1_001, 1_002])
        var order: [Int] = []
        for _ in 0..<4 {
            turns.released("a1")
            order += started(&turns)
        }
        #expect(order.prefix(3).contains(1_001) && order.contains(1_002), "\(order)")
    }

    // MARK: Preemption

    @Test("The preempted task has the lowest priority, then the least loss, then the latest start")
    func leastImportant() {
        func candidate(_ task: UInt64, _ priority: Int32, lost: UInt64 = 0) -> LeastImportant.Candidate {
            .init(task: TaskID(rawValue: task), priority: priority, bytesLost: lost, start: task)
        }
        func chosen(_ candidates: [LeastImportant.Candidate]) -> UInt64? {
            LeastImportant.among(candidates)?.rawValue
        }
        #expect(chosen([candidate(1, 5), candidate(2, -3), candidate(3, 0)]) == 2)
        #expect(chosen([candidate(1, 0, lost: 9), candidate(2, 0), candidate(3, 0, lost: 1)]) == 2)
        #expect(chosen([candidate(1, 0), candidate(2, 0), candidate(3, 0)]) == 3)
        #expect(chosen([candidate(1, 101), candidate(2, 101)]) == nil)
        #expect(chosen([]) == nil)
    }
}
