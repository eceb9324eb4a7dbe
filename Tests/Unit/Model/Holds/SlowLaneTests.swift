import BackhaulModel
import Testing

@Suite("Slow lanes and their probes")
struct SlowLaneTests {
    typealias Fixture = HoldsFixture
    private let tasks = HeldTasks.laneGroup(Fixture.key)
    private let task = TaskID(rawValue: 1)

    private func running() -> Fixture {
        var fixture = Fixture {
            $0.constraints.minimumBytesPerSecond = 10_000
            $0.slowAfterMilliseconds = 1_000
            $0.slowPauseMilliseconds = 1_000
        }
        _ = fixture.begin()
        fixture.facts.active = [Fixture.key]
        return fixture
    }

    /// Measures one second in which the task transfers `bytes`. If `bytes` is nil, the task waits for something else
    /// than the network.
    private func measure(_ fixture: inout Fixture, _ bytes: UInt64?, age: Int64 = 10_000) -> Bool {
        fixture.advance(milliseconds: 1_000)
        let began = fixture.facts.boot - age
        return fixture.holds.measure(
            [.init(task: task, key: Fixture.key, bytes: bytes, began: began)], fixture.facts)
    }

    /// The lane is slow and its tasks wait. `isDue`: whether the pause before the probe is over.
    private func slow(isDue: Bool = true) -> Fixture {
        var fixture = running()
        while !measure(&fixture, 100) {}
        _ = fixture.judge()
        _ = fixture.wait()
        if isDue { fixture.advance(milliseconds: 1_000) }
        return fixture
    }

    @Test("a slow lane is held after the configured time, its tasks stop, and loads leave them out")
    func held() {
        var fixture = running()
        #expect(measure(&fixture, 100) == true)
        let actions = fixture.judge()
        #expect(actions.stopped == [tasks])
        #expect(actions.begun == [.throughput])
        #expect(fixture.holds.hold(of: Fixture.key, in: Fixture.group)?.reason == .throughput)
        #expect(fixture.holds.beginLoad(of: Fixture.lane) == [.session])
    }

    @Test("a lane is not held if its transfers are new or fast, or if they do not wait for the network")
    func notSlow() {
        var fixture = running()
        #expect(measure(&fixture, 100, age: 0) == false)
        #expect(measure(&fixture, 100_000) == false)
        #expect(measure(&fixture, nil) == false)
        #expect(fixture.judge() == [])
    }

    @Test("after the pause, one task tests whether the slow lane is still slow, and the probe continues")
    func probed() {
        var fixture = slow(isDue: false)
        #expect(fixture.judge().probes == [])
        fixture.advance(milliseconds: 1_000)
        let actions = fixture.judge()
        #expect(actions.first == .loadProbe(Fixture.key, .slow))
        #expect(actions.contains { if case .stop(tasks, for: _, sparesProbe: true) = $0 { true } else { false } })
        #expect(fixture.holds.needsProbe(Fixture.key, in: Fixture.lane, .slow))
    }

    @Test("if a probe of a slow lane and a probe of the uplink are due, they start one after the other")
    func oneAtATime() {
        let local = Lane(
            id: LaneID(rawValue: 2), session: Fixture.session,
            origin: Origin(scheme: "http", server: "192.168.1.2", port: 80))
        let key = LaneGroup(lane: local.id, constraints: .session)
        var fixture = running()
        fixture.facts.lanes[local.id] = local
        fixture.facts.active = [key]
        _ = fixture.holds.add(ConstraintGroup(.session, in: local), fixture.configuration)
        _ = fixture.judge()
        repeat {
            fixture.advance(milliseconds: 1_000)
        } while !fixture.holds.measure(
            [.init(task: task, key: key, bytes: 100, began: fixture.facts.boot - 10_000)], fixture.facts)
        _ = fixture.loseUplink()
        _ = fixture.judge()
        _ = fixture.wait()
        _ = fixture.holds.setWaiting([.session], in: local, isAll: false)
        fixture.advance(milliseconds: 1_000)
        fixture.holds.probeUplinkNow(now: fixture.facts.boot)
        #expect(fixture.judge().probes == [.slow])
        #expect(fixture.judge().probes == [.uplink])
    }

    @Test("a lane whose constraint group is held makes no slow probe")
    func groupHeld() {
        var fixture = slow()
        fixture.facts.conditions.isPreparingForSleep = Reading(true)
        #expect(fixture.judge().probes == [])
    }

    @Test("a probe releases its lane if the lane is fast, or else prolongs the hold", arguments: [true, false])
    func decided(isFast: Bool) {
        var fixture = slow()
        _ = fixture.judge()
        fixture.holds.probeBegan(task, Fixture.key, .slow)
        #expect(fixture.holds.isProbe(task))
        var seconds = 0
        while !measure(&fixture, isFast ? 100_000 : 10) { seconds += 1 }
        #expect(seconds <= 10)
        #expect(!fixture.holds.isProbe(task))
        let actions = fixture.judge()
        #expect(actions.loaded.isEmpty != isFast)
        #expect(actions.ended.isEmpty != isFast)
        #expect(actions.stopped.isEmpty == isFast, "a probe that is slow stops together with its lane")
    }

    @Test("a slow lane is released if its probe ends with a response before the measurement is complete")
    func answered() {
        var fixture = slow()
        _ = fixture.judge()
        fixture.holds.probeBegan(task, Fixture.key, .slow)
        #expect(fixture.holds.ended(task, hasResponse: true, now: fixture.facts.boot) == true)
        #expect(fixture.judge().loaded == [[1]])
        #expect(fixture.holds.ended(task, hasResponse: true, now: fixture.facts.boot) == false)
    }

    @Test("when the network changes, a slow lane is released")
    func otherNetwork() {
        var fixture = slow()
        #expect(fixture.holds.networkRead(isOther: true, nil, now: fixture.facts.boot) == true)
        #expect(fixture.judge().loaded == [[1]])
        #expect(fixture.holds.slow.isEmpty)
    }

    @Test("a slow lane depends on the network, and is forgotten when it has no tasks")
    func forgotten() {
        var fixture = slow()
        let kept = fixture.holds.prune(running: [], active: [Fixture.group], now: fixture.facts.boot)
        #expect(kept?.needs == .network && kept?.actions.isEmpty == true)
        _ = fixture.holds.setWaiting([], in: Fixture.lane, isAll: true)
        let pruned = fixture.holds.prune(running: [], active: [Fixture.group], now: fixture.facts.boot)
        #expect(pruned?.actions.ended == [tasks])
        #expect(pruned?.needs == [])
    }
}
