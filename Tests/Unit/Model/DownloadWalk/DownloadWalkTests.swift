import BackhaulModel
import Glibc
import Testing

/// Each test runs random simulations of one download. A *seed* is a number that determines all random choices of a
/// simulation.
@Suite("A download with crashes, power losses, faults and changes of its file")
struct DownloadWalkTests {
    /// The number of seeds that the test runs for each argument. The argument is the first of these seeds. The
    /// environment variable BACKHAUL_WALKS can change this number.
    static let seedsEach = getenv("BACKHAUL_WALKS").flatMap { UInt64(String(cString: $0)) } ?? 150

    @Test(
        "a download with crashes and faults ends exactly one time, with one of the server's files or no file",
        arguments: (0..<20).map { UInt64($0) * seedsEach })
    func walk(_ first: UInt64) {
        for seed in first..<first + Self.seedsEach {
            var walk = DownloadWalk(seed: seed)
            walk.run()
            guard !walk.problems.isEmpty else { continue }
            var again = DownloadWalk(seed: seed, isTraced: true)
            again.run()
            Issue.record(
                """
                seed \(seed): \(walk.problems.joined(separator: "; "))
                \(again.trace.suffix(40).joined(separator: "\n"))
                """)
            // One failed seed is enough for a report.
            return
        }
    }

    @Test("the simulated downloads include crashes, retries and all three results of a task")
    func reach() {
        var ends: [String: Int] = [:]
        var (crashes, attempts, ranges) = (0, 0, 0)
        for seed in 1...500 {
            var walk = DownloadWalk(seed: UInt64(seed))
            walk.run()
            crashes += walk.crashes
            attempts += walk.attempts
            switch walk.row.end {
            case .succeeded:
                ends["succeeded", default: 0] += 1
                if walk.range != nil { ranges += 1 }
            case .failed: ends["failed", default: 0] += 1
            default: ends["cancelled", default: 0] += 1
            }
        }
        #expect(ends["succeeded", default: 0] > 250)
        #expect(ends["failed", default: 0] > 10)
        #expect(ends["cancelled", default: 0] > 10)
        #expect(ranges > 50)
        #expect(crashes > 200)
        #expect(attempts > 1_500)
    }
}
