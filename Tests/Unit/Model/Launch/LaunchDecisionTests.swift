import BackhaulModel
import Testing

/// A host *attaches* a session when it opens the session. A running host *covers* a session if the engine need not
/// start another host for the session, for example because the running host reads the session's events. A launch
/// *fails* if its host ends while a session still needs a host.
@Suite("The decision to launch")
struct LaunchDecisionTests {
    typealias Living = LaunchDecision.Living

    private func next(_ facts: LaunchDecision.Facts) -> LaunchDecision.Step { LaunchDecision.next(facts) }

    // MARK: Nothing was launched

    @Test("a session that needs its host causes a launch if no host is connected")
    func launches() { #expect(next(.waiting()) == .launch) }

    @Test("if no session needs its host, there is no launch")
    func notNeeded() { #expect(next(.waiting { $0.isNeeded = false }) == .rest) }

    @Test("while a host covers the sessions, there is no launch")
    func covered() { #expect(next(.waiting { $0.isCovered = true }) == .rest) }

    @Test("a host that covers its sessions for a limited time is checked again at the end of that time")
    func coverEnds() {
        #expect(next(.waiting { ($0.isCovered, $0.coverEndsAt) = (true, 1_500_000) }) == .wait(until: 1_500_000))
    }

    @Test(
        "a launch waits until the end of its delay",
        arguments: [
            (1_000_001, LaunchDecision.Step.wait(until: 1_000_001)), (1_000_000, .launch), (5, .launch),
        ] as [(Int64, LaunchDecision.Step)])
    func delay(due: Int64, expected: LaunchDecision.Step) {
        #expect(next(.waiting { $0.backoff = LaunchBackoff(launches: 1, dueAt: due) }) == expected)
    }

    @Test(
        "after the maximum number of failed launches, there are no more launches",
        arguments: [
            (7, LaunchDecision.Step.launch), (8, .giveUp), (9, .giveUp),
        ] as [(UInt32, LaunchDecision.Step)])
    func gaveUp(launches: UInt32, expected: LaunchDecision.Step) {
        #expect(next(.waiting { $0.backoff = LaunchBackoff(launches: launches, dueAt: nil) }) == expected)
    }

    @Test("when no session needs its host any more, the series of launches is over")
    func forgets() {
        #expect(next(.waiting { ($0.isNeeded, $0.backoff) = (false, LaunchBackoff(launches: 8, dueAt: 5)) }) == .over)
        #expect(next(.waiting { ($0.isNeeded, $0.hasLaunch) = (false, true) }) == .over)
    }

    // MARK: A launched host

    @Test("while a launched host starts, the engine only waits")
    func starting() {
        for facts in everyFacts(run: .starting) { #expect(next(facts) == .rest) }
    }

    @Test("a launched host that has attached a session has no time limit")
    func attached() {
        #expect(next(.launched(Living(hasAttached: true, attachBy: 5))) == .rest)
    }

    @Test(
        "a launched host that does not attach a session in time is terminated",
        arguments: [
            (1_000_001, LaunchDecision.Step.wait(until: 1_000_001)), (1_000_000, .terminate),
        ] as [(Int64, LaunchDecision.Step)])
    func attachTime(attachBy: Int64, expected: LaunchDecision.Step) {
        #expect(next(.launched(Living(hasAttached: false, attachBy: attachBy))) == expected)
    }

    @Test("if no session needs a host, or another host covers all sessions, a launched host gets more time to attach")
    func excused() {
        let late = Living(hasAttached: false, attachBy: 5)
        #expect(next(.launched(late) { $0.isCovered = true }) == .extendAttachTime)
        #expect(next(.launched(late) { $0.isNeeded = false }) == .extendAttachTime)
    }

    @Test("if a launched host still runs ten seconds after SIGTERM, the engine sends SIGKILL one time")
    func kills() {
        var living = Living(hasAttached: false, attachBy: 5)
        living.terminatedAt = 995_000
        #expect(next(.launched(living)) == .wait(until: 1_005_000))
        living.terminatedAt = 990_000
        #expect(next(.launched(living)) == .kill)
        living.isKilled = true
        #expect(next(.launched(living)) == .rest)
    }

    @Test("when all sessions of a launch are completed, the launch is over, even if its host still runs")
    func completed() {
        for living in [Living(hasAttached: true, attachBy: 5), Living(hasAttached: false, attachBy: 5)] {
            #expect(next(.launched(living) { $0.isOutstanding = false }) == .over)
        }
    }

    @Test("if a launched host ends while a session needs a host, the launch counts as failed")
    func failed() {
        #expect(next(.launched(Living(hasAttached: true, attachBy: 5)) { $0.run = .ended }) == .failed)
    }

    @Test("if a launched host ends while no session needs a host, the launch is over")
    func endedInPeace() {
        #expect(
            next(.launched(Living(hasAttached: true, attachBy: 5)) { ($0.run, $0.isNeeded) = (.ended, false) })
                == .over)
    }

    // MARK: All facts

    @Test("no host is launched while a launched host runs, a host covers the sessions, or no session needs a host")
    func neverTwice() {
        for facts in everyFacts() where next(facts) == .launch {
            #expect(facts.run == .none)
            #expect(facts.isNeeded)
            #expect(!facts.isCovered)
            #expect(facts.backoff.launches < facts.policy.maximumLaunches)
            #expect(facts.backoff.dueAt ?? 0 <= facts.now)
        }
    }

    @Test("if the engine waits before the next step of a launch, the step is at a time in the future")
    func waitsForTheFuture() {
        for facts in everyFacts() {
            if case .wait(let time) = next(facts), facts.coverEndsAt == nil { #expect(time > facts.now) }
        }
    }

    @Test("the listed state of a launch matches the next step of this launch")
    func listings() {
        for facts in everyFacts() {
            let (state, nextAt) = LaunchDecision.state(facts)
            switch next(facts) {
            case .launch: #expect(state == .due && nextAt == facts.now)
            case .giveUp: #expect(state == .gaveUp && nextAt == nil)
            case .terminate, .kill, .extendAttachTime: #expect(state == .running)
            case .wait(let time) where facts.run == .none: #expect(state == .due && nextAt == time)
            case .rest, .wait, .over, .failed: break
            }
        }
    }

    private func everyFacts(run: LaunchDecision.Run? = nil) -> [LaunchDecision.Facts] {
        var asked = Living(hasAttached: false, attachBy: 5)
        asked.terminatedAt = 995_000
        var killed = asked
        killed.isKilled = true
        let runs =
            run.map { [$0] } ?? [
                .none, .starting, .ended, .living(Living(hasAttached: true, attachBy: 5)), .living(asked),
                .living(killed),
                .living(Living(hasAttached: false, attachBy: 5)),
                .living(Living(hasAttached: false, attachBy: 1_100_000)),
            ]
        let backoffs = [UInt32(0), 1, 7, 8].flatMap { launches in
            [Int64?.none, 5, 1_200_000].map { LaunchBackoff(launches: launches, dueAt: $0) }
        }
        var all: [LaunchDecision.Facts] = []
        for run in runs {
            for backoff in backoffs {
                for bits in 0..<16 {
                    for coverEndsAt in bits & 4 != 0 ? [Int64?.none, 1_300_000] : [nil] {
                        all.append(
                            .waiting { facts in
                                facts.run = run
                                facts.backoff = backoff
                                facts.hasLaunch = bits & 1 != 0
                                facts.isOutstanding = bits & 2 != 0
                                facts.isCovered = bits & 4 != 0
                                facts.isNeeded = bits & 8 != 0
                                facts.coverEndsAt = coverEndsAt
                            })
                    }
                }
            }
        }
        return all
    }
}
