import BackhaulModel
import Testing

@Suite("When a task is tried again")
struct RetryPolicyTests {
    private func policy(
        attempts: UInt32? = nil, first: UInt32 = 1_000, longest: UInt32 = 600_000
    ) -> RetryPolicy {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.maximumAttempts = attempts
        configuration.firstRetryDelayMilliseconds = first
        configuration.longestRetryDelayMilliseconds = longest
        return RetryPolicy(configuration)
    }

    @Test("The delay doubles with each try in a row, up to the longest", arguments: [
        (0, 1_000), (1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000), (10, 512_000), (11, 600_000), (12, 600_000),
        (31, 600_000), (32, 600_000), (33, 600_000), (UInt32.max, 600_000),
    ] as [(UInt32, Int64)])
    func doubles(_ tries: UInt32, _ delay: Int64) {
        #expect(policy().delay(attemptsWithoutProgress: tries, retryAfterSeconds: nil, jitter: 1) == delay)
        #expect(policy().delay(attemptsWithoutProgress: tries, retryAfterSeconds: nil, jitter: 0) == delay / 2)
    }

    @Test("Jitter spreads the delay over its second half")
    func jitter() {
        let delays = stride(from: 0.0, to: 1.0, by: 0.01).compactMap {
            policy().delay(attemptsWithoutProgress: 4, retryAfterSeconds: nil, jitter: $0)
        }
        #expect(Set(delays).count == 100)
        #expect(delays.allSatisfy { (4_000...8_000).contains($0) })
    }

    @Test("Nonsense in place of a random number does no harm", arguments: [
        -Double.infinity, -1, 1.5, .infinity, .nan, .greatestFiniteMagnitude,
    ])
    func nonsense(_ jitter: Double) throws {
        let delay = try #require(policy().delay(attemptsWithoutProgress: 1, retryAfterSeconds: nil, jitter: jitter))
        #expect((500...1_000).contains(delay))
    }

    @Test("The extremes of the configuration do not overflow")
    func extremes() {
        let longest = policy(first: .max, longest: .max)
        #expect(
            longest.delay(attemptsWithoutProgress: .max, retryAfterSeconds: .max, jitter: 1) == Int64(UInt32.max))
        #expect(policy(first: 1, longest: 1).delay(attemptsWithoutProgress: 1, retryAfterSeconds: nil, jitter: 0) == 1)
    }

    @Test("After as many tries in a row as the session allows there is none", arguments: [
        (nil, UInt32.max, true), (3, 0, true), (3, 2, true), (3, 3, false), (3, 4, false), (1, 0, true), (1, 1, false),
    ] as [(UInt32?, UInt32, Bool)])
    func attempts(_ maximum: UInt32?, _ tries: UInt32, _ isTried: Bool) {
        let delay = policy(attempts: maximum).delay(attemptsWithoutProgress: tries, retryAfterSeconds: nil, jitter: 0)
        #expect((delay != nil) == isTried)
    }

    @Test("Retry-After is the least delay, up to a day", arguments: [
        (0, 1_000), (1, 1_000), (2, 2_000), (120, 120_000), (86_400, 86_400_000), (86_401, 86_400_000),
        (.max, 86_400_000), (-1, 1_000), (.min, 1_000),
    ] as [(Int64, Int64)])
    func retryAfter(_ seconds: Int64, _ delay: Int64) {
        #expect(policy().delay(attemptsWithoutProgress: 1, retryAfterSeconds: seconds, jitter: 1) == delay)
    }

    @Test("Retry-After gives no try more than the session allows")
    func retryAfterAndAttempts() {
        #expect(policy(attempts: 1).delay(attemptsWithoutProgress: 1, retryAfterSeconds: 5, jitter: 0) == nil)
    }

    @Test("Exactly these statuses say `not now`")
    func transient() {
        let transient = (Int32(-1)...1_000).filter(RetryPolicy.isTransient)
        #expect(transient == [408, 429, 500, 502, 503, 504])
    }
}
