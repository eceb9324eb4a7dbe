import BackhaulModel
import Testing

/// To *load* tasks is to read waiting tasks from the database; they are then *ready*. A *stream* is a request on a
/// shared HTTP/2 connection.
@Suite("Slots of lanes, sessions and the engine")
struct ScheduleTests {
    typealias TestSchedule = Schedule<String, String, Int>

    /// Returns a schedule with these lanes and their loaded tasks. Lane "a1" belongs to session "a".
    private func schedule(
        _ lanes: [(String, [Int])], perLane: Int = 100, perSession: Int = 100, engine: Int = 100
    ) -> TestSchedule {
        var schedule = TestSchedule(engineLimits: .init(running: engine), streamLimit: 8, readyTarget: 10)
        for (lane, _) in lanes {
            let session = String(lane.prefix(1))
            schedule.setLimits(.init(perLane: perLane, perSession: perSession), of: session)
            schedule.add(lane, of: session, reload: false)
        }
        for (lane, _) in lanes { #expect(schedule.next() == .load(lane, limit: 10)) }
        for (lane, tasks) in lanes { schedule.loaded(lane, tasks, isAll: true) }
        return schedule
    }

    /// Starts all tasks that may start now, and returns them.
    private func started(_ schedule: inout TestSchedule) -> [Int] {
        var tasks: [Int] = []
        while case .start(let task, _)? = schedule.next() { tasks.append(task) }
        return tasks
    }

    // MARK: Limits

    @Test("No lane runs more tasks than its limit")
    func perLane() {
        var schedule = schedule([("a1", [1, 2, 3]), ("a2", [4, 5, 6])], perLane: 2)
        #expect(started(&schedule) == [1, 4, 2, 5])
        schedule.released("a2")
        #expect(started(&schedule) == [6])
    }

    @Test("No session runs more tasks than its limit")
    func perSession() {
        var schedule = schedule([("a1", [1, 2, 3]), ("a2", [4, 5, 6]), ("b1", [7, 8, 9])], perSession: 2)
        #expect(started(&schedule) == [1, 7, 4, 8])
        schedule.released("a1")
        #expect(started(&schedule) == [2])
    }

    @Test("The engine runs no more tasks than its limit")
    func engine() {
        var schedule = schedule([("a1", [1, 2]), ("b1", [3, 4])], engine: 3)
        #expect(started(&schedule) == [1, 3, 2])
        #expect(schedule.running == 3)
        schedule.released("a1")
        #expect(started(&schedule) == [4])
    }

    @Test("if a lane's tasks share an HTTP/2 connection, the lane runs one task for each stream of the connection")
    func multiplexed() {
        var schedule = schedule([("a1", Array(1...10))], perLane: 2, perSession: 9)
        #expect(started(&schedule) == [1, 2])
        schedule.setMultiplexed("a1")
        #expect(started(&schedule) == [3, 4, 5, 6, 7, 8])
    }

    @Test("After a lane is set to run one task at a time, it starts one task and waits for the server's response")
    func runsOneTask() {
        var schedule = schedule([("a1", Array(1...9)), ("a2", [10])], perLane: 3)
        #expect(started(&schedule) == [1, 10, 2, 3])
        schedule.setRunsOneTask("a1", true)
        schedule.released("a1")
        schedule.released("a1")
        #expect(started(&schedule) == [4])
        schedule.endedRunningAlone("a1")
        #expect(started(&schedule) == [5])
        schedule.endedRunningAlone("a1")
        schedule.endedRunningAlone("a1")
        schedule.setRunsOneTask("a1", false)
        schedule.released("a1")
        schedule.released("a1")
        #expect(started(&schedule) == [6, 7])
        #expect(!schedule.runsOneTask("a1"))
    }

    @Test("If a session is removed while its lane runs one task at a time, the lane is forgotten after the task's end")
    func runsOneTaskAndIsForgotten() {
        var schedule = schedule([("a1", [1, 2])])
        schedule.setRunsOneTask("a1", true)
        #expect(started(&schedule) == [1])
        schedule.forget(session: "a")
        schedule.released("a1")
        schedule.endedRunningAlone("a1")
        #expect(schedule.next() == nil)
        #expect(!schedule.runsOneTask("a1"))
    }

    @Test("If a lane's limit exceeds the number of streams, the lane runs as many tasks as its limit")
    func moreConnectionsThanStreams() {
        var schedule = schedule([("a1", Array(1...10))], perLane: 9)
        schedule.setMultiplexed("a1")
        #expect(started(&schedule).count == 9)
    }

    @Test("A lower limit of a lane does not stop its running tasks")
    func lowered() {
        var schedule = schedule([("a1", [1, 2, 3, 4, 5])], perLane: 3)
        #expect(started(&schedule) == [1, 2, 3])
        schedule.setLimits(.init(perLane: 1, perSession: 100), of: "a")
        schedule.released("a1")
        schedule.released("a1")
        #expect(started(&schedule) == [])
        schedule.released("a1")
        #expect(started(&schedule) == [4])
    }

    @Test("No task starts in a session with unknown limits")
    func unknownSession() {
        var schedule = TestSchedule()
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 128))
        schedule.loaded("a1", [1], isAll: true)
        #expect(schedule.next() == nil)
        schedule.setLimits(.init(perLane: 1, perSession: 1), of: "a")
        #expect(schedule.next() == .start(1, "a1"))
    }

    @Test("The release of a slot that is already free has no effect", arguments: [1, 2, 5])
    func releasedTooOften(_ times: Int) {
        var schedule = schedule([("a1", [1, 2]), ("b1", [3])])
        #expect(schedule.next() == .start(1, "a1"))
        for _ in 0..<times { schedule.released("a1") }
        schedule.released("unknown")
        #expect(schedule.running == 0)
    }

    // MARK: Order

    @Test("Sessions get slots in rotation, and the lanes of a session get slots in rotation")
    func fairness() {
        var schedule = schedule([("a1", [11, 12, 13]), ("a2", [21, 22]), ("a3", [31]), ("b1", [41, 42, 43, 44])])
        #expect(started(&schedule) == [11, 41, 21, 42, 31, 43, 12, 44, 22, 13])
    }

    @Test("If a lane's task cannot start, the lane keeps its place in the rotation")
    func noStarvation() {
        var schedule = schedule([("a1", [1, 2, 3]), ("a2", [4]), ("b1", [5, 6, 7])], perSession: 1)
        #expect(started(&schedule) == [1, 5])
        schedule.released("b1")
        #expect(started(&schedule) == [6])
        schedule.released("a1")
        #expect(started(&schedule) == [4])
    }

    // MARK: Loading

    @Test("Tasks of a lane are loaded even before slots are free for them")
    func loadsAhead() {
        var schedule = schedule([("a1", Array(1...10))], perLane: 1)
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .start(1, "a1"))
        #expect(schedule.next() == nil)
        for task in 2...5 {
            schedule.released("a1")
            #expect(schedule.next() == .start(task, "a1"))
        }
        #expect(schedule.next() == nil)
        schedule.released("a1")
        #expect(schedule.next() == .start(6, "a1"))
        #expect(schedule.next() == .load("a1", limit: 10))
        #expect(schedule.next() == nil)
    }

    @Test("If the desired number of ready tasks is 1 or less, one task is loaded", arguments: [1, 0, -1])
    func smallestTarget(_ target: Int) {
        var schedule = TestSchedule(readyTarget: target)
        schedule.setLimits(.init(perLane: 1, perSession: 1), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 1))
    }

    @Test("With few lanes, more tasks of each lane are loaded at a time, and the next load begins earlier")
    func fewLanes() {
        var schedule = TestSchedule(readyTarget: 10, readyTargetOfAllLanes: 40)
        schedule.setLimits(.init(perLane: 21, perSession: 99), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 40))
        schedule.loaded("a1", Array(1...40), isAll: false)
        for task in 1...21 { #expect(schedule.next() == .start(task, "a1")) }
        #expect(schedule.next() == .load("a1", limit: 40))
        for lane in ["a2", "a3", "a4", "a5"] { schedule.add(lane, of: "a", reload: false) }
        schedule.loaded("a1", [], isAll: false)
        #expect(schedule.next() == .load("a2", limit: 10))
    }

    @Test("With very many lanes, fewer tasks of each lane are loaded at a time", arguments: [(129, 127), (10_000, 8)])
    func manyLanes(count: Int, target: Int) {
        var schedule = TestSchedule(readyTarget: 128, readyTargetOfAllLanes: 512)
        schedule.setLimits(.init(perLane: 1, perSession: 1), of: "a")
        for lane in 1...count { schedule.add("a\(lane)", of: "a", reload: false) }
        #expect(schedule.next() == .load("a1", limit: target))
    }

    @Test("If a task is added during a load, the next load includes this task")
    func addedWhileLoading() {
        var schedule = schedule([])
        schedule.setLimits(.init(perLane: 9, perSession: 9), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.add("a1", of: "a", reload: false)
        schedule.loaded("a1", [1], isAll: true)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [2], isAll: true)
        #expect(started(&schedule) == [1, 2])
        #expect(schedule.next() == nil)
    }

    @Test("When more important tasks are added, the ready tasks are unloaded and the lane is loaded again")
    func reload() {
        var schedule = schedule([("a1", [1, 2, 3])], perLane: 1)
        #expect(schedule.next() == .start(1, "a1"))
        #expect(schedule.add("a1", of: "a", reload: true) == [2, 3])
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [9, 2, 3], isAll: true)
        schedule.released("a1")
        #expect(schedule.next() == .start(9, "a1"))
    }

    @Test("If tasks are unloaded during a load, the lane is loaded again")
    func reloadWhileLoading() {
        var schedule = schedule([("a1", [1, 2])])
        schedule.setLimits(.init(perLane: 0, perSession: 9), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        #expect(schedule.add("a1", of: "a", reload: true) == [1, 2])
        schedule.loaded("a1", [], isAll: true)
        #expect(schedule.next() == .load("a1", limit: 10))
    }

    @Test("If a task is added during a load, the loaded tasks of a lower priority are loaded again after it")
    func addedAboveLoaded() {
        var schedule = schedule([])
        schedule.setLimits(.init(perLane: 9, perSession: 9), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.add("a1", of: "a", reload: false, priority: 0)
        #expect(schedule.loaded("a1", [1, 2], isAll: true, priority: { $0 == 1 ? 0 : -5 }) == [2])
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [3, 2], isAll: true, priority: { $0 == 2 ? -5 : 0 })
        #expect(started(&schedule) == [1, 3, 2])
    }

    @Test("If a load finds an older task of the same priority, this task starts before the ready tasks")
    func olderTask() {
        var schedule = schedule([])
        schedule.setLimits(.init(perLane: 9, perSession: 9), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [3, 4], isAll: false, priority: { _ in 0 })
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [1], isAll: true, priority: { _ in 0 })
        #expect(started(&schedule) == [1, 3, 4])
    }

    @Test("If a load finds no task, the lane is not loaded again")
    func emptyAnswer() {
        var schedule = schedule([])
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [], isAll: false)
        #expect(schedule.next() == nil)
    }

    @Test("An unexpected result of a load is ignored")
    func strangeAnswer() {
        var schedule = schedule([("a1", [1])])
        schedule.loaded("a1", [2], isAll: true)
        schedule.loaded("unknown", [3], isAll: true)
        #expect(started(&schedule) == [1])
    }

    @Test("If a ready task is removed from the schedule, it does not start")
    func drop() {
        var schedule = schedule([("a1", [1, 2, 3])])
        #expect(schedule.next() == .start(1, "a1"))
        schedule.drop(1, in: "a1")
        schedule.drop(2, in: "a1")
        schedule.drop(2, in: "unknown")
        #expect(started(&schedule) == [3])
    }

    // MARK: Sessions that end

    @Test("After a session is removed, its waiting tasks do not start, and its running tasks count until their end")
    func forgotten() {
        var schedule = schedule([("a1", [1, 2]), ("a2", [3, 4]), ("b1", [5, 6])], perLane: 1, engine: 3)
        #expect(started(&schedule) == [1, 5, 3])
        schedule.forget(session: "a")
        schedule.forget(session: "unknown")
        #expect(schedule.running == 3)
        schedule.released("a1")
        schedule.released("b1")
        #expect(started(&schedule) == [6])
        schedule.released("a2")
        #expect(schedule.running == 1)
    }

    @Test("If a removed session is added again, its running tasks still count")
    func knownAgain() {
        var schedule = schedule([("a1", [1, 2, 3])], perSession: 2)
        #expect(started(&schedule) == [1, 2])
        schedule.forget(session: "a")
        schedule.setLimits(.init(perLane: 9, perSession: 2), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.loaded("a1", [4, 5], isAll: true)
        #expect(started(&schedule) == [])
        schedule.released("a1")
        #expect(started(&schedule) == [4])
    }

    @Test("The result of a load for a removed session is ignored")
    func forgottenWhileLoading() {
        var schedule = schedule([])
        schedule.setLimits(.init(perLane: 9, perSession: 9), of: "a")
        schedule.add("a1", of: "a", reload: false)
        #expect(schedule.next() == .load("a1", limit: 10))
        schedule.forget(session: "a")
        schedule.loaded("a1", [1], isAll: true)
        #expect(schedule.next() == nil)
    }
}
