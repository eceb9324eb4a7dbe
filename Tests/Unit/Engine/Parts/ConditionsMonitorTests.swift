import BackhaulModel
import Testing

@testable import BackhaulEngine

/// A condition is *pending* until the source has read it.
@Suite("The monitor of conditions")
struct ConditionsMonitorTests {
    let runtime = FakeRuntime()
    let source = FakeConditionsSource()
    let monitor: ConditionsMonitor
    init() {
        let source = source
        monitor = ConditionsMonitor(
            runtime,
            makeSource: { changed in
                source.changed = changed
                return source
            })
    }

    @Test("the monitor reads no conditions while no task depends on them")
    func nothingNeeded() {
        monitor.setNeeds([])
        #expect(monitor.check() == nil)
        #expect(monitor.isRead([]))
        #expect(!monitor.isRead(.power))
    }

    @Test("the monitor reports a change once, at the end of the loop iteration")
    func coalesced() {
        monitor.need(.power)
        source.changed()
        #expect(runtime.takeEffects().isEmpty)
        runtime.endIteration()
        #expect(runtime.takeEffects().count(\.isConditionsChanged) == 1)
        monitor.need(.power)
        runtime.endIteration()
        #expect(runtime.takeEffects().isEmpty)
    }

    @Test("a set of conditions counts as read when none of the conditions is pending")
    func pending() {
        source.pending = .network
        monitor.need([.power, .network])
        #expect(monitor.isRead(.power))
        #expect(!monitor.isRead([.power, .network]))
        source.pending = []
        #expect(monitor.isRead([.power, .network]))
    }

    @Test("a change of network is reported when the network is no longer pending")
    func otherNetwork() throws {
        monitor.need(.network)
        source.current.network = Reading(Network(name: "home", kind: .wifi), source: "test")
        #expect(try #require(monitor.check()).isOtherNetwork == false)
        source.current.network = Reading(Network(name: "office", kind: .wifi), source: "test")
        source.pending = .network
        #expect(try #require(monitor.check()).isOtherNetwork == false)
        source.pending = []
        let findings = try #require(monitor.check())
        #expect(findings.isOtherNetwork && findings.network?.name == "office")
    }

    @Test("the setting whether a network is metered is passed to the source, even before the first reading")
    func metered() {
        monitor.setMetered(["wlan": true])
        monitor.need(.network)
        #expect(source.metered == ["wlan": true])
    }
}
