import BackhaulModel
import Testing

@Suite("The delay of a retry")
struct RetryDelayTests {
    private let lost = Failure(.connectionLost, "broken")

    private func delay(
        after tries: UInt32 = 1, jitter: Double = 1, retryAfter: Int64? = nil,
        _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Int64? {
        var configuration = SessionConfiguration(identifier: "s")
        change(&configuration)
        var attempt = FailedAttempt(lost)
        attempt.consecutiveFailures = tries - min(1, tries)
        attempt.madeProgress = tries == 0
        attempt.retryAfterSeconds = retryAfter
        let decision = RetryDecision.decide(attempt, TransferPolicy(configuration), jitter: jitter)
        if case .later(let milliseconds, _) = decision { return milliseconds }
        return nil
    }

    @Test(
        "The delay of a retry doubles with each attempt without progress, up to the longest delay",
        arguments: [
            (0, 1_000), (1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000), (10, 512_000), (11, 600_000), (12, 600_000),
            (31, 600_000), (32, 600_000), (33, 600_000), (UInt32.max, 600_000),
        ] as [(UInt32, Int64)])
    func doubles(_ tries: UInt32, _ milliseconds: Int64) {
        #expect(delay(after: tries) == milliseconds)
        #expect(delay(after: tries, jitter: 0) == milliseconds / 2)
    }

    @Test(
        "The random part of a retry's delay is retry_jitter_percent of the delay",
        arguments: [
            (1, 7_920), (50, 4_000), (100, 0),
        ] as [(UInt32, Int64)])
    func jitter(_ percent: UInt32, _ shortest: Int64) {
        let delays = stride(from: 0.0, to: 1.0, by: 0.01).compactMap { random in
            delay(after: 4, jitter: random) { $0.retryJitterPercent = percent }
        }
        #expect(Set(delays).count > 50)
        #expect(delays.min() == shortest)
        #expect(delays.allSatisfy { (shortest...8_000).contains($0) })
    }

    @Test(
        "The delay of a retry is valid even if the random number is invalid",
        arguments: [
            -Double.infinity, -1, 1.5, .infinity, .nan, .greatestFiniteMagnitude,
        ])
    func nonsense(_ jitter: Double) throws {
        #expect((500...1_000).contains(try #require(delay(jitter: jitter))))
    }

    @Test("The delay of a retry does not overflow with an extreme configuration")
    func extremes() {
        let longest = delay(after: .max, retryAfter: .max) {
            $0.firstRetryDelayMilliseconds = .max
            $0.longestRetryDelayMilliseconds = .max
        }
        #expect(longest == Int64(UInt32.max))
        let shortest = delay(jitter: 0) {
            $0.firstRetryDelayMilliseconds = 1
            $0.longestRetryDelayMilliseconds = 1
            $0.retryJitterPercent = .max
        }
        #expect(shortest == 0)
    }

    @Test(
        "Retry-After is the minimum delay of a retry, up to a day",
        arguments: [
            (0, 1_000), (1, 1_000), (2, 2_000), (120, 120_000), (86_400, 86_400_000), (86_401, 86_400_000),
            (.max, 86_400_000), (-1, 1_000), (.min, 1_000),
        ] as [(Int64, Int64)])
    func retryAfter(_ seconds: Int64, _ milliseconds: Int64) {
        #expect(delay(retryAfter: seconds) == milliseconds)
    }
}
