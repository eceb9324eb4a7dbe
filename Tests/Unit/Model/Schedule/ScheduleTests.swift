import BackhaulModel
import Testing

@Suite("Slots")
struct ScheduleTests {
    typealias Turns = Schedule<String, String, Int>

    /// Returns a schedule with these lanes and their loaded tasks. Lane "a1" belongs to session "a".
    private func turns(
        _ lanes: [(String, [Int])], perLane: Int = 100, perSession: Int = 100, engine: Int = 100
    ) -> Turns {
        var turns = Turns(engineLimits: .init(running: engine), streamLimit: 8, readyTarget: 10)
        for (lane, _) in lanes {
            let session = String(lane.prefix(1))
            turns.setLimits(.init(perLane: perLane, perSession: perSession), of: session)
            turns.add(lane, of: session, reload: false)
        }
        for (lane, _) in lanes { #expect(turns.next() == .load(lane, limit: 10)) }
        for (lane, tasks) in lanes { turns.loaded(lane, tasks, isAll: true) }
        return turns
    }

    /// Starts all tasks that may start now, and returns them.
    private func started(_ turns: inout Turns) -> [Int] {
        var tasks: [Int] = []
        while case .start(let task, _)? = turns.next() { tasks.append(task) }
        return tasks
    }

    // MARK: Limits

    @Test("No lane runs more tasks than it may")
    func perLane() {
        var turns = turns([("a1", [1, 2, 3]), ("a2", [4, 5, 6])], perLane: 2)
        #expect(started(&turns) == [1, 4, 2, 5])
        turns.released("a2")
        #expect(started(&turns) == [6])
    }

    @Test("No session runs more tasks than it may")
    func perSession() {
        var turns = turns([("a1", [1, 2, 3]), ("a2", [4, 5, 6]), ("b1", [7, 8, 9])], perSession: 2)
        #expect(started(&turns) == [1, 7, 4, 8])
        turns.released("a1")
        #expect(started(&turns) == [2])
    }

    @Test("The engine runs no more tasks than it may")
    func engine() {
        var turns = turns([("a1", [1, 2]), ("b1", [3, 4])], engine: 3)
        #expect(started(&turns) == [1, 3, 2])
        #expect(turns.running == 3)
        turns.released("a1")
        #expect(started(&turns) == [4])
    }

    @Test("A lane that shares a connection runs one task for each stream, within its session's limit")
    func multiplexed() {
        var turns = turns([("a1", Array(1...10))], perLane: 2, perSession: 9)
        #expect(started(&turns) == [1, 2])
        turns.setMultiplexed("a1")
        #expect(started(&turns) == [3, 4, 5, 6, 7, 8])
    }

    @Test("While a lane is probed one task starts at a time, beside the running ones")
    func probed() {
        var turns = turns([("a1", Array(1...9)), ("a2", [10])], perLane: 3)
        #expect(started(&turns) == [1, 10, 2, 3])
        turns.setProbed("a1", true)
        turns.released("a1")
        turns.released("a1")
        #expect(started(&turns) == [4])
        turns.endedProbe("a1")
        #expect(started(&turns) == [5])
        turns.endedProbe("a1")
        turns.endedProbe("a1")
        turns.setProbed("a1", false)
        turns.released("a1")
        turns.released("a1")
        #expect(started(&turns) == [6, 7])
        #expect(!turns.isProbed("a1"))
    }

    @Test("A probed lane that was removed is not known after its probe")
    func probedAndForgotten() {
        var turns = turns([("a1", [1, 2])])
        turns.setProbed("a1", true)
        #expect(started(&turns) == [1])
        turns.forget(session: "a")
        turns.released("a1")
        turns.endedProbe("a1")
        #expect(turns.next() == nil)
        #expect(!turns.isProbed("a1"))
    }

    @Test("A lane runs as many tasks as its session has connections, if these are more than the streams")
    func moreConnectionsThanStreams() {
        var turns = turns([("a1", Array(1...10))], perLane: 9)
        turns.setMultiplexed("a1")
        #expect(started(&turns).count == 9)
    }

    @Test("Lower limits do not stop running tasks")
    func lowered() {
        var turns = turns([("a1", [1, 2, 3, 4, 5])], perLane: 3)
        #expect(started(&turns) == [1, 2, 3])
        turns.setLimits(.init(perLane: 1, perSession: 100), of: "a")
        turns.released("a1")
        turns.released("a1")
        #expect(started(&turns) == [])
        turns.released("a1")
        #expect(started(&turns) == [4])
    }

    @Test("No task starts in a session with unknown limits")
    func unknownSession() {
        var turns = Turns()
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 128))
        turns.loaded("a1", [1], isAll: true)
        #expect(turns.next() == nil)
        turns.setLimits(.init(perLane: 1, perSession: 1), of: "a")
        #expect(turns.next() == .start(1, "a1"))
    }

    @Test("Releasing a slot too often has no effect", arguments: [1, 2, 5])
    func releasedTooOften(_ times: Int) {
        var turns = turns([("a1", [1, 2]), ("b1", [3])])
        #expect(turns.next() == .start(1, "a1"))
        for _ in 0..<times { turns.released("a1") }
        turns.released("unknown")
        #expect(turns.running == 0)
    }

    // MARK: Order

    @Test("Sessions get slots in turn, and so do the lanes of a session")
    func fairness() {
        var turns = turns([("a1", [11, 12, 13]), ("a2", [21, 22]), ("a3", [31]), ("b1", [41, 42, 43, 44])])
        #expect(started(&turns) == [11, 41, 21, 42, 31, 43, 12, 44, 22, 13])
    }

    @Test("A lane that could not start keeps its place in the order")
    func noStarvation() {
        var turns = turns([("a1", [1, 2, 3]), ("a2", [4]), ("b1", [5, 6, 7])], perSession: 1)
        #expect(started(&turns) == [1, 5])
        turns.released("b1")
        #expect(started(&turns) == [6])
        turns.released("a1")
        #expect(started(&turns) == [4])
    }

    // MARK: Loading

    @Test("A lane is loaded ahead of its slots, also while no task may start")
    func loadsAhead() {
        var turns = turns([("a1", Array(1...10))], perLane: 1)
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .start(1, "a1"))
        #expect(turns.next() == nil)
        for task in 2...5 {
            turns.released("a1")
            #expect(turns.next() == .start(task, "a1"))
        }
        #expect(turns.next() == nil)
        turns.released("a1")
        #expect(turns.next() == .start(6, "a1"))
        #expect(turns.next() == .load("a1", limit: 10))
        #expect(turns.next() == nil)
    }

    @Test("The smallest target of ready tasks loads one task", arguments: [1, 0, -1])
    func smallestTarget(_ target: Int) {
        var turns = Turns(readyTarget: target)
        turns.setLimits(.init(perLane: 1, perSession: 1), of: "a")
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 1))
    }

    @Test("Tasks that are added during a load are loaded by the next one")
    func addedWhileLoading() {
        var turns = turns([])
        turns.setLimits(.init(perLane: 9, perSession: 9), of: "a")
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.add("a1", of: "a", reload: false)
        turns.loaded("a1", [1], isAll: true)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.loaded("a1", [2], isAll: true)
        #expect(started(&turns) == [1, 2])
        #expect(turns.next() == nil)
    }

    @Test("More important tasks unload the ready ones, and the lane is loaded again")
    func reload() {
        var turns = turns([("a1", [1, 2, 3])], perLane: 1)
        #expect(turns.next() == .start(1, "a1"))
        #expect(turns.add("a1", of: "a", reload: true) == [2, 3])
        #expect(turns.next() == .load("a1", limit: 10))
        turns.loaded("a1", [9, 2, 3], isAll: true)
        turns.released("a1")
        #expect(turns.next() == .start(9, "a1"))
    }

    @Test("Tasks that are unloaded during a load are loaded again")
    func reloadWhileLoading() {
        var turns = turns([("a1", [1, 2])])
        turns.setLimits(.init(perLane: 0, perSession: 9), of: "a")
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 10))
        #expect(turns.add("a1", of: "a", reload: true) == [1, 2])
        turns.loaded("a1", [], isAll: true)
        #expect(turns.next() == .load("a1", limit: 10))
    }

    @Test("An empty load result ends the loading")
    func emptyAnswer() {
        var turns = turns([])
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.loaded("a1", [], isAll: false)
        #expect(turns.next() == nil)
    }

    @Test("An unexpected load result is ignored")
    func strangeAnswer() {
        var turns = turns([("a1", [1])])
        turns.loaded("a1", [2], isAll: true)
        turns.loaded("unknown", [3], isAll: true)
        #expect(started(&turns) == [1])
    }

    @Test("A dropped task does not start")
    func drop() {
        var turns = turns([("a1", [1, 2, 3])])
        #expect(turns.next() == .start(1, "a1"))
        turns.drop(1, in: "a1")
        turns.drop(2, in: "a1")
        turns.drop(2, in: "unknown")
        #expect(started(&turns) == [3])
    }

    // MARK: Sessions that end

    @Test("In a removed session no task starts, and running ones count until they are released")
    func forgotten() {
        var turns = turns([("a1", [1, 2]), ("a2", [3, 4]), ("b1", [5, 6])], perLane: 1, engine: 3)
        #expect(started(&turns) == [1, 5, 3])
        turns.forget(session: "a")
        turns.forget(session: "unknown")
        #expect(turns.running == 3)
        turns.released("a1")
        turns.released("b1")
        #expect(started(&turns) == [6])
        turns.released("a2")
        #expect(turns.running == 1)
    }

    @Test("A session that is loaded again counts its running tasks")
    func knownAgain() {
        var turns = turns([("a1", [1, 2, 3])], perSession: 2)
        #expect(started(&turns) == [1, 2])
        turns.forget(session: "a")
        turns.setLimits(.init(perLane: 9, perSession: 2), of: "a")
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.loaded("a1", [4, 5], isAll: true)
        #expect(started(&turns) == [])
        turns.released("a1")
        #expect(started(&turns) == [4])
    }

    @Test("The load result of a removed session is ignored")
    func forgottenWhileLoading() {
        var turns = turns([])
        turns.setLimits(.init(perLane: 9, perSession: 9), of: "a")
        turns.add("a1", of: "a", reload: false)
        #expect(turns.next() == .load("a1", limit: 10))
        turns.forget(session: "a")
        turns.loaded("a1", [1], isAll: true)
        #expect(turns.next() == nil)
    }
}
