import BackhaulModel
import Testing

@Suite("Work for many lanes")
struct ScheduleWorkTests {
    /// Counts how often lanes are looked up or compared.
    // Unchecked: each test uses its own object, on one thread.
    private final class Visits: @unchecked Sendable {
        var count = 0
    }

    private struct Lane: Hashable, Sendable {
        let number: Int
        let visits: Visits

        static func == (left: Lane, right: Lane) -> Bool {
            left.visits.count += 1
            return left.number == right.number
        }

        func hash(into hasher: inout Hasher) {
            visits.count += 1
            hasher.combine(number)
        }
    }

    private static let laneCount = 1_000
    /// Enough for a few operations on each lane, with the growth of the hash tables. If each operation searched all
    /// lanes, there would be hundreds of visits for each lane.
    private static let mostVisits = 100 * laneCount

    private let visits = Visits()

    private func schedule() -> Schedule<Lane, Int, Int> {
        var schedule = Schedule<Lane, Int, Int>(engineLimits: .init(running: 10))
        schedule.setLimits(.init(perLane: 1, perSession: 100), of: 1)
        for number in 0..<Self.laneCount {
            schedule.add(Lane(number: number, visits: visits), of: 1, reload: false)
        }
        return schedule
    }

    @Test("the schedule loads many lanes without a search for each of them")
    func loads() {
        var schedule = schedule()
        var numbers: [Int] = []
        while case .load(let lane, _)? = schedule.next() { numbers.append(lane.number) }
        #expect(numbers == Array(0..<Self.laneCount))
        #expect(visits.count < Self.mostVisits)
    }

    @Test("while the engine has no free slot, the schedule does not search the lanes")
    func full() {
        var schedule = schedule()
        while case .load(let lane, _)? = schedule.next() { schedule.loaded(lane, [lane.number], isAll: true) }
        while case .start? = schedule.next() {}
        #expect(schedule.running == 10)
        visits.count = 0
        #expect(schedule.next() == nil)
        #expect(visits.count == 0)
    }

    @Test("the schedule forgets many idle lanes without a search for each of them")
    func forgets() {
        var schedule = schedule()
        let lanes = (0..<Self.laneCount).map { Lane(number: $0, visits: visits) }
        for lane in lanes { #expect(schedule.next() == .load(lane, limit: 16)) }
        for lane in lanes { schedule.loaded(lane, [], isAll: true) }
        visits.count = 0
        #expect(schedule.next() == nil)
        #expect(visits.count < Self.mostVisits)
        let known = lanes.filter { schedule.knows($0) }
        #expect(known.isEmpty)
    }

    @Test("the schedule forgets a session with many lanes without a search for each of them")
    func forgetsSession() {
        var schedule = schedule()
        visits.count = 0
        schedule.forget(session: 1)
        #expect(visits.count < Self.mostVisits)
    }
}
