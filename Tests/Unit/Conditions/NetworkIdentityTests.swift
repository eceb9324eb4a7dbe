@testable import BackhaulConditions
import BackhaulModel
import Testing

/// The *identity* of a network is its name and kind. NetworkManager reports them, and the watch of the network may keep
/// the last report (the *readings*) for some time. A network is *pending* while the watch waits for a report about the
/// network.
@Suite("The identity of the network")
struct NetworkIdentityTests {
    private static let absent = BusReadings.unknown("NetworkManager is not on the bus")

    private func kernel(_ interface: String?) -> NetworkState {
        interface.map { NetworkState(NetworkLink(name: $0, type: 1), source: "/sys") } ?? .withoutRoute
    }

    private func manager(_ network: String?, metered: Bool? = nil, _ state: ConnectivityState? = nil) -> BusReadings {
        var readings = BusReadings.unknown("NetworkManager has no connection with the default route")
        if let network { readings.network = Reading(Network(name: network, kind: .wifi), source: "NetworkManager") }
        if let metered { readings.isMetered = Reading(metered, source: "NetworkManager") }
        if let state { readings.connectivity = Reading(state, source: "NetworkManager") }
        readings.isNetworkManaged = true
        return readings
    }

    /// Returns the network identity of a machine that has used the metered network Hotspot since time 0.
    private func onHotspot() -> NetworkIdentity {
        var identity = NetworkIdentity()
        _ = identity.take(kernel("wlan0"), manager("Hotspot", metered: true, .portal), now: 0)
        return identity
    }

    @Test("if NetworkManager is missing, the network keeps its identity while its interface exists")
    func away() {
        var identity = onHotspot()
        for now in [1_000, 10_999, 86_400_000] as [Int64] {
            let result = identity.take(kernel("wlan0"), NetworkIdentityTests.absent, now: now)
            #expect(result.bus?.network.value?.name == "Hotspot")
            #expect(result.bus?.isMetered.value == true)
            #expect(!result.isPending)
        }
        _ = identity.take(kernel(nil), NetworkIdentityTests.absent, now: 86_400_001)
        let other = identity.take(kernel("wlan0"), NetworkIdentityTests.absent, now: 86_400_002)
        #expect(other.bus?.network.value == nil)
    }

    @Test("if NetworkManager is missing, the connectivity is kept for ten seconds, and is then unknown")
    func connectivity() {
        var identity = onHotspot()
        let first = identity.take(kernel("wlan0"), NetworkIdentityTests.absent, now: 1_000)
        #expect(first.bus?.connectivity.value == .portal)
        #expect(first.nextCheck == 11_000)
        let later = identity.take(kernel("wlan0"), NetworkIdentityTests.absent, now: 11_000)
        #expect(later.bus?.connectivity.value == nil)
        #expect(later.nextCheck == nil)
    }

    @Test(
        "after a restart of NetworkManager, the network keeps its identity until NetworkManager has a connection",
        arguments: [2_000, 86_400_000] as [Int64])
    func restarted(at now: Int64) {
        var identity = onHotspot()
        _ = identity.take(kernel("wlan0"), NetworkIdentityTests.absent, now: 1_000)
        _ = identity.take(kernel("wlan0"), NetworkIdentityTests.absent, now: now - 1)
        let asked = identity.take(kernel("wlan0"), manager(nil, metered: false), now: now)
        #expect(asked.bus?.network.value?.name == "Hotspot")
        #expect(asked.bus?.isMetered.value == true)
        #expect(asked.nextCheck == now + 10_000)
        let back = identity.take(kernel("wlan0"), manager("Home", metered: false), now: now + 1_000)
        #expect(back.bus == manager("Home", metered: false))
    }

    @Test("if NetworkManager has no connection for ten seconds, the kept readings are dropped")
    func unmanaged() {
        var identity = onHotspot()
        _ = identity.take(kernel("wlan0"), manager(nil), now: 1_000)
        let result = identity.take(kernel("wlan0"), manager(nil), now: 11_000)
        #expect(result.bus == manager(nil))
        #expect(!result.isPending)
    }

    @Test("a new interface's network is pending until NetworkManager names it, but for at most ten seconds")
    func late() {
        var identity = onHotspot()
        _ = identity.take(kernel(nil), manager(nil), now: 1_000)
        let new = identity.take(kernel("wlan0"), manager(nil), now: 2_000)
        #expect(new.isPending)
        #expect(new.bus?.network.value == nil)
        #expect(new.nextCheck == 12_000)
        var named = identity
        #expect(!named.take(kernel("wlan0"), manager("Home"), now: 3_000).isPending)
        #expect(!identity.take(kernel("wlan0"), manager(nil), now: 12_000).isPending)
    }

    @Test("a network that NetworkManager does not manage is never pending")
    func nobody() {
        var without = NetworkIdentity()
        _ = without.take(kernel(nil), NetworkIdentityTests.absent, now: 0)
        #expect(!without.take(kernel("eth0"), NetworkIdentityTests.absent, now: 1).isPending)
        var unmanaged = NetworkIdentity()
        #expect(!unmanaged.take(kernel("eth0"), manager(nil), now: 0).isPending)
    }

    @Test("if a network becomes metered, this takes effect immediately, even while the network has no name")
    func metered() {
        var identity = NetworkIdentity()
        _ = identity.take(kernel("wlan0"), manager("Home", metered: false), now: 0)
        let result = identity.take(kernel("wlan0"), manager(nil, metered: true), now: 1)
        #expect(result.bus?.isMetered.value == true)
    }
}
