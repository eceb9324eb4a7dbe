internal import BackhaulModel
internal import BackhaulPlatform

/// The interface of the default route, as the kernel describes it.
struct NetworkLink: Equatable, Sendable {
    var name: String
    /// The kernel's type of the interface: ARPHRD_… (linux/if_arp.h).
    var type: Int?
    /// The value of DEVTYPE in the interface's uevent file: wlan, wwan, bluetooth, bridge, vlan, wireguard…
    var deviceType: String?
    var isWireless = false
    var isTunnel = false
    /// Whether the machine has a PPP connection over Ethernet, as with DSL modems.
    var hasEthernetPPP = false

    var kind: NetworkKinds {
        switch deviceType {
        case "wlan": return .wifi
        case "wwan": return .cellular
        case "bluetooth": return .bluetooth
        case "wireguard", "tun", "tap": return .tunnel
        default: break
        }
        if isWireless { return .wifi }
        if isTunnel { return .tunnel }
        switch type {
        case 1, 32: return .ethernet  // ARPHRD_ETHER, with bridges, bonds, VLANs and veths; ARPHRD_INFINIBAND
        case 512: return hasEthernetPPP ? .ethernet : .cellular  // ARPHRD_PPP
        case 519, 530: return .cellular  // ARPHRD_RAWIP, ARPHRD_PHONET_PIPE: modems
        case 768, 769, 776, 778, 823, 65_534: return .tunnel  // ARPHRD_TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE, NONE
        default: return .other
        }
    }

    /// True if users of this kind of network usually pay by time or by bytes; nil if the kind does not show how users
    /// pay.
    var isMetered: Bool? { kind == .cellular || kind == .bluetooth ? true : nil }

    static func read(_ route: DefaultRoute.Link, system: SystemTree, processes: SystemTree) -> NetworkLink {
        let folder = "class/net/\(route.name)"
        var link = NetworkLink(name: route.name)
        link.type = system.optionalText("\(folder)/type").flatMap { Int($0) } ?? route.type
        link.deviceType = system.optionalText("\(folder)/uevent").flatMap(deviceType)
        link.isWireless = system.contains("\(folder)/wireless") || system.contains("\(folder)/phy80211")
        link.isTunnel = system.contains("\(folder)/tun_flags")
        // In net/pppoe, the first line is a header, and each further line is a connection.
        if link.type == 512, let sessions = processes.optionalText("net/pppoe") {
            link.hasEthernetPPP = sessions.split(separator: "\n").count > 1
        }
        return link
    }

    /// The value of DEVTYPE in lines of `NAME=value`.
    static func deviceType(_ uevent: String) -> String? {
        let name = "DEVTYPE="
        return uevent.split(separator: "\n").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }
}

/// The network's state according to the kernel, without a service that manages networks.
struct NetworkState: Equatable, Sendable {
    var network = Reading<Network>()
    var isMetered = Reading<Bool>()
    /// `none` if there is no default route. Otherwise the connectivity is unknown.
    var connectivity = Reading<ConnectivityState>()

    static func read(system: SystemTree, processes: SystemTree) -> NetworkState {
        switch DefaultRoute.find() {
        case .failure(let error): return NetworkState(unknown: error.description)
        case .success(nil): return .withoutRoute
        case .success(let route?):
            let link = NetworkLink.read(route, system: system, processes: processes)
            return NetworkState(link, source: system.full("class/net/\(link.name)"))
        }
    }

    static let withoutRoute: NetworkState = {
        var state = NetworkState(unknown: "there is no default route")
        state.connectivity.value = ConnectivityState.none
        return state
    }()

    init(unknown source: String) {
        network.source = source
        isMetered.source = source
        connectivity.source = source
    }

    init(_ link: NetworkLink, source: String) {
        network = Reading(Network(name: link.name, kind: link.kind), source: source)
        isMetered = Reading(link.isMetered, source: link.isMetered == nil ? "\(source) does not say" : source)
        connectivity = Reading(source: "no service on this machine checks whether the network reaches the internet")
    }
}
