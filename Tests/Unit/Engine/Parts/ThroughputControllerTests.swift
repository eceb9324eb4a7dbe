import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// A lane is slow if its running tasks transfer fewer bytes per second than the session requires. The engine then
/// *holds* the lane: its tasks wait. After a pause, one task runs as a *probe*: it tests whether the lane is still
/// slow.
@Suite("Lanes that are too slow")
struct ThroughputControllerTests {
    let fixture = ConditionsFixture()
    var throughput: ThroughputController { fixture.parts.throughput }
    var probes: ProbeController { fixture.parts.probes }
    let key = ConditionsFixture.laneGroup

    init() {
        fixture.configure {
            $0.constraints.minimumBytesPerSecond = 10_000
            $0.slowAfterMilliseconds = 1_000
            $0.slowPauseMilliseconds = 1_000
        }
        _ = fixture.holds.add(ConditionsFixture.group)
        _ = fixture.conditions.reconsider()
        fixture.running.tasks = [fixture.base.task(1)]
    }

    /// Measures one second in which the task transfers `bytes`. If `bytes` is nil, the task waits for something else
    /// than the network, for example for the disk.
    private func measure(_ bytes: UInt64?, began: Int64? = nil) -> Bool {
        fixture.runtime.advance(milliseconds: 1_000)
        let sample = ThroughputController.Sample(
            task: TaskID(rawValue: 1), key: key, bytes: bytes, began: began ?? fixture.runtime.now - 10_000)
        return throughput.measure([sample])
    }

    private func becomeSlow() {
        while !measure(100) {}
        _ = probes.reconsiderThroughput()
    }

    @Test("a slow lane is held after the configured time, and its running tasks stop")
    func slow() {
        #expect(measure(100))
        #expect(probes.reconsiderThroughput().deferred == [.laneGroup(key, excludesProbes: false)])
        #expect(fixture.holds.slow[key] != nil)
    }

    @Test("a lane is not held if its transfers are new or fast, or if they do not wait for the network")
    func notSlow() {
        #expect(!measure(100, began: fixture.runtime.now))
        #expect(!measure(100_000))
        #expect(!measure(nil))
        _ = probes.reconsiderThroughput()
        #expect(fixture.holds.slow.isEmpty)
    }

    @Test("after the pause, one task tests whether the slow lane is still slow")
    func probed() throws {
        becomeSlow()
        fixture.runtime.advance(milliseconds: 1_000)
        _ = probes.reconsiderThroughput()
        try fixture.runtime.storeReturns((task: StoredTask?.some(fixture.base.task(2)), nextDue: Int64?.none))
        #expect(fixture.runtime.takeEffects().probes == [2])
        #expect(probes.needsProbe(key, .slow))
    }

    @Test("a probe releases its lane if the lane is fast, or else prolongs the hold", arguments: [true, false])
    func decided(isFast: Bool) throws {
        becomeSlow()
        fixture.runtime.advance(milliseconds: 1_000)
        _ = probes.reconsiderThroughput()
        probes.began(TaskID(rawValue: 1), key, .slow)
        #expect(probes.isProbe(TaskID(rawValue: 1)))
        var seconds = 0
        while !measure(isFast ? 100_000 : 10) { seconds += 1 }
        #expect(seconds <= 10)
        let effects = probes.reconsiderThroughput()
        #expect(!probes.isProbe(TaskID(rawValue: 1)))
        #expect((fixture.holds.slow[key] == nil) == isFast)
        // If the probe is slow, it stops together with its lane.
        #expect(effects.deferred.isEmpty == isFast)
    }

    @Test("a slow lane is released if its probe ends with a response before the measurement is complete")
    func answered() {
        becomeSlow()
        fixture.runtime.advance(milliseconds: 1_000)
        _ = probes.reconsiderThroughput()
        probes.began(TaskID(rawValue: 1), key, .slow)
        _ = probes.ended(TaskID(rawValue: 1), hasResponse: true)
        #expect(fixture.holds.slow.isEmpty)
    }

    @Test("when the network changes, a slow lane is released")
    func otherNetwork() {
        becomeSlow()
        throughput.networkChanged()
        #expect(throughput.reconsider().waiting == [[1]])
        #expect(fixture.holds.slow.isEmpty)
    }
}
