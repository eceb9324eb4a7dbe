@testable import BackhaulConditions
import BackhaulModel
import Testing

struct LinkCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    let kind: NetworkKinds
    let isMetered: Bool?

    init(_ description: String, _ files: [String: String], _ kind: NetworkKinds, metered: Bool? = nil) {
        testDescription = description
        self.files = files
        self.kind = kind
        isMetered = metered
    }
}

/// A *metered* network is one whose data may cost money. The *connectivity* says whether the machine can reach other
/// networks. A *reading* is a value that was read from the kernel or from NetworkManager.
@Suite("The device of the network")
struct NetworkLinkTests {
    static let links: [LinkCase] = [
        LinkCase("a network card", ["type": "1", "uevent": "INTERFACE=eth0\nIFINDEX=2"], .ethernet),
        LinkCase("a bridge", ["type": "1", "uevent": "DEVTYPE=bridge\nINTERFACE=br0"], .ethernet),
        LinkCase("a VLAN", ["type": "1", "uevent": "DEVTYPE=vlan"], .ethernet),
        LinkCase("a wireless card", ["type": "1", "uevent": "DEVTYPE=wlan\nINTERFACE=wlan0"], .wifi),
        LinkCase("a wireless card that has a folder phy80211", ["type": "1", "phy80211/name": "phy0"], .wifi),
        LinkCase("an old wireless card", ["type": "1", "wireless/status": "0"], .wifi),
        LinkCase("a modem", ["type": "1", "uevent": "DEVTYPE=wwan"], .cellular, metered: true),
        LinkCase(
            "a modem without link-layer headers", ["type": "65534", "uevent": "DEVTYPE=wwan"], .cellular,
            metered: true),
        LinkCase("a modem of the kernel's type raw IP", ["type": "519"], .cellular, metered: true),
        LinkCase("a dial-up modem", ["type": "512"], .cellular, metered: true),
        LinkCase("a phone over Bluetooth", ["type": "1", "uevent": "DEVTYPE=bluetooth"], .bluetooth, metered: true),
        LinkCase("WireGuard", ["type": "65534", "uevent": "DEVTYPE=wireguard"], .tunnel),
        LinkCase("OpenVPN", ["type": "65534", "tun_flags": "0x1001"], .tunnel),
        LinkCase("a TAP device", ["type": "1", "tun_flags": "0x1002"], .tunnel),
        LinkCase("a tunnel of the kernel's type SIT", ["type": "776"], .tunnel),
        LinkCase("InfiniBand", ["type": "32"], .ethernet),
        LinkCase("a device of another type", ["type": "280"], .other),
        LinkCase("a device whose type is a folder", ["type/x": "1"], .ethernet),
        LinkCase("a device with malformed files", ["type": "abc", "uevent": "DEVTYPE"], .ethernet),
    ]

    @Test("the files of a network device show the device's kind, and whether the device is metered", arguments: links)
    func kind(_ link: LinkCase) {
        let tree = FakeTree()
        for (name, text) in link.files { tree.write("class/net/if0/\(name)", text) }
        let files = SystemTree(root: tree.root)
        let found = NetworkLink.read(DefaultRoute.Link(name: "if0", type: 1), system: files, processes: files)
        #expect(found.kind == link.kind)
        #expect(found.isMetered == link.isMetered)
    }

    @Test(
        "if /sys is missing, the kernel's type number gives the kind of a network device",
        arguments: [
            (1, NetworkKinds.ethernet), (512, .cellular), (65_534, .tunnel), (nil, .other),
        ] as [(Int?, NetworkKinds)])
    func withoutSystem(_ type: Int?, _ kind: NetworkKinds) {
        let files = SystemTree(root: "/nowhere")
        let found = NetworkLink.read(DefaultRoute.Link(name: "if0", type: type), system: files, processes: files)
        #expect(found.kind == kind)
    }

    @Test("PPP over a DSL modem is not a cellular network")
    func digitalSubscriberLine() {
        let tree = FakeTree([
            "class/net/ppp0/type": "512",
            "net/pppoe": "Id       Address              Device\n00000001 00:11:22:33:44:55      eth0",
        ])
        let files = SystemTree(root: tree.root)
        let route = DefaultRoute.Link(name: "ppp0", type: 512)
        #expect(NetworkLink.read(route, system: files, processes: files).kind == .ethernet)
        tree.write("net/pppoe", "Id       Address              Device")
        #expect(NetworkLink.read(route, system: files, processes: files).kind == .cellular)
    }

    @Test("if there is no default route, the connectivity is known: it is `none`")
    func withoutRoute() {
        let state = NetworkState.withoutRoute
        #expect(state.connectivity.value == ConnectivityState.none)
        #expect(state.network.value == nil)
        #expect(state.network.source == "there is no default route")
    }

    @Test("whether a network is metered is read from the configuration first, then NetworkManager, then the device")
    func precedence() {
        let link = NetworkLink(name: "wlan0", type: 1, deviceType: "wlan")
        let state = NetworkState(link, source: "/sys/class/net/wlan0")
        func combined(_ bus: BusReadings?, _ metered: [String: Bool] = [:]) -> Conditions {
            .combined(power: nil, heat: nil, pressure: [:], network: state, bus: bus, metered: metered)
        }
        #expect(combined(nil).network.value == Network(name: "wlan0", kind: .wifi))
        #expect(combined(nil).isMetered == Reading(source: "/sys/class/net/wlan0 does not say"))
        #expect(combined(nil, ["wlan0": true]).isMetered == Reading(true, source: "configured"))

        var bus = BusReadings.unknown("NetworkManager is not there")
        #expect(combined(bus).isMetered.source == "/sys/class/net/wlan0 does not say; NetworkManager is not there")
        bus.network = Reading(Network(name: "Phone", kind: .wifi), source: "NetworkManager")
        bus.isMetered = Reading(true, source: "NetworkManager")
        bus.connectivity = Reading(.portal, source: "NetworkManager")
        #expect(combined(bus).network.value?.name == "Phone")
        #expect(combined(bus).isMetered.value == true)
        #expect(combined(bus).connectivity.value == .portal)
        #expect(combined(bus, ["wlan0": false]).isMetered.value == true)
        #expect(combined(bus, ["Phone": false]).isMetered == Reading(false, source: "configured"))
    }

    @Test("if the kernel has a route, NetworkManager's report of no route is ignored")
    func unmanagedRoute() {
        var bus = BusReadings()
        bus.connectivity = Reading(ConnectivityState.none, source: "NetworkManager")
        func connectivity(_ network: NetworkState) -> Reading<ConnectivityState> {
            Conditions.combined(power: nil, heat: nil, pressure: [:], network: network, bus: bus, metered: [:])
                .connectivity
        }
        let known = connectivity(NetworkState(NetworkLink(name: "eth0", type: 1), source: "/sys/class/net/eth0"))
        #expect(known.value == nil)
        #expect(known.source.hasSuffix("; NetworkManager does not manage the default route"))
        #expect(connectivity(NetworkState(unknown: "it cannot be read")).value == ConnectivityState.none)
    }

    @Test("if there is no route, the last readings of NetworkManager are ignored")
    func noRouteAndService() {
        var bus = BusReadings()
        bus.connectivity = Reading(.full, source: "NetworkManager")
        bus.network = Reading(Network(name: "Home", kind: .wifi), source: "NetworkManager")
        let conditions = Conditions.combined(
            power: nil, heat: nil, pressure: [:], network: .withoutRoute, bus: bus, metered: [:])
        #expect(conditions.connectivity.value == ConnectivityState.none)
        #expect(conditions.network.value == nil)
    }
}
