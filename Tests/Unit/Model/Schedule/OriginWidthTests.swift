import BackhaulModel
import Testing

/// The *width* of an origin is the number of tasks that may run there. Lane a1 of session a and lane b1 of session b
/// belong to the limited origin.
@Suite("The schedule with limited origins")
struct OriginWidthTests {
    private let limited = Origin(scheme: "https", server: "example.org", port: 443)
    private let free = Origin(scheme: "https", server: "example.org", port: 8443)

    private func schedule(urgent: Set<Int> = []) -> Schedule<String, String, Int> {
        var schedule = Schedule<String, String, Int>(engineLimits: .init(running: 10), streamLimit: 8, readyTarget: 10)
        for session in ["a", "b"] { schedule.setLimits(.init(perLane: 4, perSession: 8), of: session) }
        schedule.add("a1", of: "a", to: limited, reload: false)
        schedule.add("a2", of: "a", to: free, reload: false)
        schedule.add("b1", of: "b", to: limited, reload: false)
        for lane in ["a1", "a2", "b1"] { #expect(schedule.next() == .load(lane, limit: 10)) }
        schedule.loaded("a1", [1, 2, 3], urgent: urgent, isAll: true)
        schedule.loaded("a2", [4], isAll: true)
        schedule.loaded("b1", [5, 6], isAll: true)
        return schedule
    }

    private func starts(_ schedule: inout Schedule<String, String, Int>) -> [Int] {
        var tasks: [Int] = []
        while case .start(let task, _)? = schedule.next() { tasks.append(task) }
        return tasks
    }

    @Test("at an origin with the width 0, no task of any session starts; another port is another origin")
    func paused() {
        var schedule = schedule()
        schedule.originWidths = [limited: 0]
        #expect(starts(&schedule) == [4])
        #expect(!schedule.hasFreeSlot("b1", of: "b", to: limited) && schedule.hasFreeSlot("a2", of: "a", to: free))
    }

    @Test("the running tasks of all sessions count for the width, and tasks that already run go on")
    func shared() {
        var schedule = schedule()
        #expect(schedule.next() == .start(1, "a1"))
        schedule.originWidths = [limited: 1]
        #expect(starts(&schedule) == [4])
        schedule.originWidths = [limited: 2]
        #expect(starts(&schedule) == [5])
        schedule.released("a1")
        #expect(starts(&schedule) == [2])
        schedule.originWidths = [:]
        #expect(starts(&schedule).sorted() == [3, 6])
    }

    @Test("an urgent task waits for its origin, too, and preempts no task")
    func urgent() {
        var schedule = schedule(urgent: [1])
        schedule.originWidths = [limited: 0]
        #expect(starts(&schedule) == [4])
        #expect(schedule.next() == nil)
        schedule.originWidths = [limited: 1]
        #expect(starts(&schedule) == [1])
    }
}
