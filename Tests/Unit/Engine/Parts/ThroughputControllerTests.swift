import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Lanes that are too slow")
struct ThroughputControllerTests {
    let world = ConditionWorld()
    var throughput: ThroughputController { world.parts.throughput }
    var probes: ProbeController { world.parts.probes }
    let key = ConditionWorld.laneGroup

    init() {
        world.configure {
            $0.constraints.minimumBytesPerSecond = 10_000
            $0.slowAfterMilliseconds = 1_000
            $0.slowPauseMilliseconds = 1_000
        }
        _ = world.holds.add(ConditionWorld.group)
        _ = world.conditions.reconsider()
        world.running.tasks = [world.below.task(1)]
    }

    /// Measures one second in which the task transfers `bytes`. Nil: the task does not wait for the network.
    private func measure(_ bytes: UInt64?, began: Int64? = nil) -> Bool {
        world.runtime.advance(milliseconds: 1_000)
        let sample = ThroughputController.Sample(
            task: TaskID(rawValue: 1), key: key, bytes: bytes, began: began ?? world.runtime.now - 10_000)
        return throughput.measure([sample])
    }

    private func becomeSlow() {
        while !measure(100) {}
        _ = probes.reconsiderThroughput()
    }

    @Test("are held after the configured time, and their running tasks stop")
    func slow() {
        #expect(measure(100))
        #expect(probes.reconsiderThroughput().deferred == [.laneGroup(key, sparesProbes: false)])
        #expect(world.holds.slow[key] != nil)
    }

    @Test("are not held if transfers are young, fast, or do not wait for the network")
    func notSlow() {
        #expect(!measure(100, began: world.runtime.now))
        #expect(!measure(100_000))
        #expect(!measure(nil))
        _ = probes.reconsiderThroughput()
        #expect(world.holds.slow.isEmpty)
    }

    @Test("are probed with one task after the pause")
    func probed() throws {
        becomeSlow()
        world.runtime.advance(milliseconds: 1_000)
        _ = probes.reconsiderThroughput()
        try world.runtime.storeReturns((task: StoredTask?.some(world.below.task(2)), nextDue: Int64?.none))
        #expect(world.runtime.takeEffects().probes == [2])
        #expect(probes.isStillToProbe(key, .slow))
    }

    @Test("are released if their probe is fast, and otherwise held for longer", arguments: [true, false])
    func decided(isFast: Bool) throws {
        becomeSlow()
        world.runtime.advance(milliseconds: 1_000)
        _ = probes.reconsiderThroughput()
        probes.began(TaskID(rawValue: 1), key, .slow)
        #expect(probes.isProbe(TaskID(rawValue: 1)))
        var seconds = 0
        while !measure(isFast ? 100_000 : 10) { seconds += 1 }
        #expect(seconds <= 10)
        let effects = probes.reconsiderThroughput()
        #expect(!probes.isProbe(TaskID(rawValue: 1)))
        #expect((world.holds.slow[key] == nil) == isFast)
        // A slow probe stops with its lane.
        #expect(effects.deferred.isEmpty == isFast)
    }

    @Test("are released when the probe ends with a response before its measurement is complete")
    func answered() {
        becomeSlow()
        world.runtime.advance(milliseconds: 1_000)
        _ = probes.reconsiderThroughput()
        probes.began(TaskID(rawValue: 1), key, .slow)
        _ = probes.ended(TaskID(rawValue: 1), hasAnswered: true)
        #expect(world.holds.slow.isEmpty)
    }

    @Test("are released on another network")
    func otherNetwork() {
        becomeSlow()
        throughput.networkChanged()
        #expect(throughput.reconsider().waiting == [[1]])
        #expect(world.holds.slow.isEmpty)
    }
}
