import BackhaulModel
import Testing

@Suite("An upload with crashes, lost connections, and servers that forget, lock and limit")
struct UploadWalkTests {
    @Test(
        "an upload with crashes and faults succeeds, and then the server has the whole body",
        arguments: [ResumableUploads.never, .ietf, .apple, .tus])
    func walk(_ choice: ResumableUploads) {
        for seed in 1...2_000 {
            var walk = UploadWalk(seed: UInt64(seed), choice)
            guard let problem = walk.run() else { continue }
            Issue.record("seed \(seed): \(problem)")
            // One failed seed is enough for a report.
            return
        }
    }

    @Test(
        "uploads that continue send less than half of the bytes again",
        arguments: [ResumableUploads.ietf, .apple, .tus])
    func less(_ choice: ResumableUploads) {
        func sentAgain(_ choice: ResumableUploads) -> UInt64 {
            (1...500).reduce(0) { sum, seed in
                var walk = UploadWalk(seed: UInt64(seed), choice)
                _ = walk.run()
                return sum + walk.sentAgain
            }
        }
        #expect(sentAgain(choice) < sentAgain(.never) / 2)
    }
}
