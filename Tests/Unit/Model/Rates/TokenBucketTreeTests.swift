import BackhaulModel
import Testing

@Suite("Rate limits")
struct TokenBucketTreeTests {
    typealias Budget = TokenBucketTree<String, Int>

    /// Simulates transfers over a link that delivers chunks as fast as they are read.
    private struct RateSimulation {
        var budget = Budget()
        var now: Int64 = 0
        let chunkSize: Int
        var moved: [Int: Int] = [:]
        var paused: Set<Int> = []
        /// The number of times that a transfer was paused.
        var pauses = 0
        /// Tasks whose server sends nothing.
        var silent: Set<Int> = []

        init(chunkSize: Int = 16_384) { self.chunkSize = chunkSize }

        /// Transfers chunks for the tasks. Tasks 10 to 19 belong to session "1", tasks 20 to 29 belong to session "2",
        /// and so on. In a millisecond, a task transfers at most `chunksPerMillisecond` chunks.
        mutating func run(_ tasks: [Int], milliseconds: Int64, chunksPerMillisecond: Int = 64) {
            let end = now + milliseconds
            while now < end {
                if let wait = budget.millisecondsToWait(now: now), wait == 0 {
                    for task in budget.release(now: now) { paused.remove(task) }
                }
                for task in tasks where !silent.contains(task) {
                    for _ in 0..<chunksPerMillisecond where !paused.contains(task) {
                        guard budget.mayMove(task, of: "\(task / 10)", now: now) else {
                            paused.insert(task)
                            pauses += 1
                            continue
                        }
                        budget.moved(chunkSize, by: task, of: "\(task / 10)")
                        moved[task, default: 0] += chunkSize
                    }
                }
                now += 1
            }
        }

        var total: Int { moved.values.reduce(0, +) }
    }

    private func isNear(_ value: Int, _ wanted: Int, percent: Int = 10) -> Bool {
        abs(value - wanted) * 100 <= wanted * percent
    }

    @Test("without a rate limit, a transfer may always continue")
    func unlimited() {
        var budget = Budget()
        #expect(budget.isUnlimited)
        #expect(budget.mayMove(1, of: "a", now: 0) == true)
        budget.setRate(10, of: .engine, now: 0)
        budget.setRate(nil, of: .engine, now: 0)
        budget.setRate(0, of: .task(1), now: 0)
        #expect(budget.isUnlimited)
    }

    @Test(
        "over three seconds, the rate of a transfer differs from its rate limit by at most a tenth",
        arguments: [100_000, 1_000_000, 50_000_000])
    func accuracy(_ rate: UInt64) {
        for level in [Budget.Level.engine, .session("1"), .task(10)] {
            var simulation = RateSimulation()
            simulation.budget.setRate(rate, of: level, now: 0)
            simulation.run([10], milliseconds: 3_000)
            #expect(isNear(simulation.total, Int(rate) * 3), "\(level): \(simulation.total)")
        }
    }

    @Test("a low rate limit is kept on average, even with large chunks")
    func slow() {
        var simulation = RateSimulation()
        simulation.budget.setRate(1_000, of: .engine, now: 0)
        simulation.run([10], milliseconds: 120_000)
        #expect(isNear(simulation.total, 120_000, percent: 15), "\(simulation.total)")
    }

    @Test("tasks under the same rate limit get equal shares", arguments: [100_000, 5_000_000])
    func shares(_ rate: UInt64) {
        var simulation = RateSimulation()
        simulation.budget.setRate(rate, of: .engine, now: 0)
        let tasks = [10, 11, 12, 20, 30]
        simulation.run(tasks, milliseconds: 30_000)
        #expect(isNear(simulation.total, Int(rate) * 30))
        for task in tasks { #expect(isNear(simulation.moved[task] ?? 0, simulation.total / 5), "\(simulation.moved)") }
    }

    @Test("the size of a task's chunks does not change its share of a rate limit")
    func chunkSizes() {
        var budget = Budget()
        budget.setRate(1_000_000, of: .engine, now: 0)
        var moved = [0, 0]
        var paused = [false, false]
        for now in Int64(0)..<20_000 {
            for task in budget.release(now: now) { paused[task] = false }
            for (task, chunkSize) in [(0, 16_384), (1, 1_500)] {
                for _ in 0..<64 where !paused[task] {
                    guard budget.mayMove(task, of: "a", now: now) else {
                        paused[task] = true
                        continue
                    }
                    budget.moved(chunkSize, by: task, of: "a")
                    moved[task] += chunkSize
                }
            }
        }
        #expect(isNear(moved[0], moved[1]), "\(moved)")
    }

    @Test("if tasks do not use their shares of a rate limit, other tasks get these shares")
    func silent() {
        var simulation = RateSimulation()
        simulation.budget.setRate(1_000_000, of: .engine, now: 0)
        simulation.silent = [11, 12]
        simulation.run([10, 11, 12], milliseconds: 5_000)
        #expect(isNear(simulation.moved[10] ?? 0, 5_000_000), "\(simulation.moved)")
    }

    @Test("a task with a low rate limit does not slow down other tasks")
    func mixed() {
        var simulation = RateSimulation()
        simulation.budget.setRate(10_000_000, of: .engine, now: 0)
        simulation.budget.setRate(100_000, of: .task(10), now: 0)
        simulation.run([10, 11, 20], milliseconds: 10_000)
        #expect(isNear(simulation.moved[10] ?? 0, 1_000_000), "\(simulation.moved)")
        #expect(isNear(simulation.moved[11] ?? 0, 49_500_000), "\(simulation.moved)")
        #expect(isNear(simulation.moved[20] ?? 0, 49_500_000), "\(simulation.moved)")
    }

    @Test("a session's rate limit applies to the total rate of its tasks, and does not apply to other sessions")
    func session() {
        var simulation = RateSimulation()
        simulation.budget.setRate(500_000, of: .session("1"), now: 0)
        simulation.run([10, 11, 20], milliseconds: 4_000, chunksPerMillisecond: 4)
        #expect(isNear((simulation.moved[10] ?? 0) + (simulation.moved[11] ?? 0), 2_000_000), "\(simulation.moved)")
        #expect(simulation.moved[20] == 4_000 * 4 * 16_384)
    }

    @Test("after a pause, a burst has at most the bytes that the rate limit allows in a quarter of a second")
    func burst() {
        var simulation = RateSimulation(chunkSize: 1_000)
        simulation.budget.setRate(1_000_000, of: .engine, now: 0)
        simulation.run([10], milliseconds: 1_000)
        simulation.now += 60_000
        simulation.moved = [:]
        simulation.run([10], milliseconds: 20)
        #expect((250_000...290_000).contains(simulation.total), "\(simulation.total)")
    }

    @Test("a new rate limit applies at once, even to tasks that already wait")
    func changes() {
        var simulation = RateSimulation()
        simulation.budget.setRate(1_000, of: .engine, now: 0)
        simulation.run([10], milliseconds: 1_000)
        #expect(simulation.budget.isWaiting(10))
        simulation.moved = [:]
        simulation.budget.setRate(10_000_000, of: .engine, now: simulation.now)
        simulation.run([10], milliseconds: 2_000)
        #expect(isNear(simulation.total, 20_000_000, percent: 15), "\(simulation.total)")
        simulation.moved = [:]
        simulation.budget.setRate(100_000, of: .engine, now: simulation.now)
        simulation.run([10], milliseconds: 5_000)
        #expect(isNear(simulation.total, 500_000, percent: 15), "\(simulation.total)")
    }

    @Test("waiting tasks continue when their rate limit is removed")
    func lifted() {
        var budget = Budget()
        budget.setRate(10, of: .engine, now: 0)
        for task in 1...3 {
            _ = budget.mayMove(task, of: "a", now: 0)
            budget.moved(16_384, by: task, of: "a")
            _ = budget.mayMove(task, of: "a", now: 0)
        }
        #expect((1...3).allSatisfy { budget.isWaiting($0) })
        budget.setRate(nil, of: .engine, now: 5)
        #expect(budget.millisecondsToWait(now: 5) == 0)
        #expect(Set(budget.release(now: 5)) == [1, 2, 3])
        #expect(budget.millisecondsToWait(now: 5) == nil)
        #expect(budget.mayMove(1, of: "a", now: 5) == true)
    }

    @Test("when a task that waits for a rate limit ends, the other waiting tasks continue")
    func ended() {
        var budget = Budget()
        budget.setRate(100, of: .engine, now: 0)
        for task in 1...2 {
            let mayMove = budget.mayMove(task, of: "a", now: 0)
            #expect(!mayMove)
        }
        budget.end(1)
        #expect(budget.release(now: 10_000) == [2])
        #expect(!budget.isWaiting(1))
    }

    @Test("token buckets do not crash on extreme rate limits and times")
    func extremes() {
        for rate in [1, UInt64.max] {
            var budget = Budget()
            budget.setRate(rate, of: .engine, now: 0)
            _ = budget.mayMove(1, of: "a", now: 1)
            budget.moved(.max, by: 1, of: "a")
            #expect(budget.narrowestLimit(of: 1)?.rate == rate)
            _ = budget.mayMove(1, of: "a", now: 2)
            _ = budget.millisecondsToWait(now: .max)
            _ = budget.release(now: .max)
            budget.setRate(7, of: .engine, now: .max)
            _ = budget.millisecondsToWait(now: .max)
        }
    }

    @Test("the limit that leaves a task the fewest bytes is the narrowest, if the tasks of a level share its limit")
    func narrowest() {
        var budget = Budget()
        budget.setRate(3_000, of: .engine, now: 0)
        budget.setRate(1_000, of: .task(1), now: 0)
        #expect(budget.narrowestLimit(of: 1) == nil)
        for (task, expected) in [(1, Budget.Level.task(1)), (2, .engine), (3, .engine), (4, .engine)] {
            _ = budget.mayMove(task, of: "a", now: 0)
            #expect(budget.narrowestLimit(of: task)?.level == expected)
        }
        #expect(budget.narrowestLimit(of: 1)?.level == .engine)
    }

    @Test("a rate limit pauses a fast transfer at most sixty times a second")
    func pauses() {
        var simulation = RateSimulation()
        simulation.budget.setRate(50_000_000, of: .engine, now: 0)
        simulation.run([10], milliseconds: 1_000, chunksPerMillisecond: 400)
        #expect(simulation.pauses <= 60, "\(simulation.pauses)")
    }
}
