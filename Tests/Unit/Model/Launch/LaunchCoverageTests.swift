import BackhaulModel
import Testing

/// A host *covers* a session if no other host must be started for the session.
@Suite("Whether sessions have a host")
struct LaunchCoverageTests {
    private func cover(
        _ sessions: [LaunchCoverage.Waiting], hasHost: Bool = false
    ) -> (isWhole: Bool, endsAt: Int64?) {
        let cover = LaunchCoverage(sessions, hasHost: hasHost, now: 1_000)
        return (cover.isWhole, cover.endsAt)
    }

    private func session(
        consumer: Bool = false, stoppedAt: Int64? = nil, launchIfStopped: UInt32 = 0
    ) -> LaunchCoverage.Waiting {
        .init(hasConsumer: consumer, consumerStoppedAt: stoppedAt, launchIfStopped: launchIfStopped)
    }

    @Test("a session without a host is not covered")
    func nobody() { #expect(cover([session()]) == (false, nil)) }

    @Test("a connected host covers all sessions of its application")
    func host() { #expect(cover([session(), session()], hasHost: true) == (true, nil)) }

    @Test("a consumer that was connected to the previous engine covers only the session whose events it reads")
    func consumer() {
        #expect(cover([session(consumer: true)]) == (true, nil))
        #expect(cover([session(consumer: true), session()]) == (false, nil))
    }

    @Test("a stopped consumer covers its session if the session sets no limit for stopped consumers")
    func stoppedForever() { #expect(cover([session(consumer: true, stoppedAt: 1)], hasHost: true) == (true, nil)) }

    @Test(
        "a stopped consumer covers its session only until the session's limit is reached",
        arguments: [
            (701, true, 1_001), (700, false, nil), (1, false, nil),
        ] as [(Int64, Bool, Int64?)])
    func stopped(since: Int64, isWhole: Bool, endsAt: Int64?) {
        let found = cover([session(consumer: true, stoppedAt: since, launchIfStopped: 300)], hasHost: true)
        #expect(found == (isWhole, endsAt))
    }

    @Test("if all consumers run, the sessions are checked again after the shortest limit for stopped consumers")
    func runs() {
        let sessions = [
            session(consumer: true, launchIfStopped: 300), session(consumer: true, launchIfStopped: 200),
        ]
        #expect(cover(sessions, hasHost: true) == (true, 1_200))
    }
}
