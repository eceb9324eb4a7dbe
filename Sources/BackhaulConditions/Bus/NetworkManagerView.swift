internal import BackhaulBus
internal import BackhaulModel

/// What is known about NetworkManager. This type performs no I/O: its methods take replies and signals, and return the
/// calls to send next. https://networkmanager.dev/docs/api/latest/gdbus-org.freedesktop.NetworkManager.html
struct NetworkManagerView {
    private enum PropertyState {
        case pending
        case properties([String: BusValue])
        /// Why the properties are unknown, as the end of a sentence that begins with NetworkManager's name.
        case failureText(String)
    }

    private(set) var presence = BusPresence.pending
    private var manager = PropertyState.pending
    private var connection = PropertyState.pending
    /// The path of the connection with the default route. Nil if there is no such connection, or if its path is
    /// unknown.
    private var path: String?
    /// The last complete readings. They are kept until the new readings are complete. Otherwise each change would show
    /// an unknown network.
    private(set) var readings = BusReadings()

    init() { settle() }

    // MARK: Replies and signals

    mutating func update(_ presence: BusPresence) -> [BusRequest] {
        if presence == self.presence { return [] }
        self.presence = presence
        manager = .pending
        connection = .pending
        path = nil
        settle()
        return presence.owner == nil ? [] : [.properties(.networkManager)]
    }

    mutating func update(manager reply: BusReply) -> [BusRequest] {
        manager = NetworkManagerView.propertyState(reply)
        var queuedRequests: [BusRequest] = []
        let path = primaryPath
        if path != self.path {
            self.path = path
            connection = .pending
            if let path { queuedRequests = [.connection(path)] }
        }
        settle()
        return queuedRequests
    }

    mutating func update(connection path: String, _ reply: BusReply) {
        guard path == self.path else { return }
        connection = NetworkManagerView.propertyState(reply)
        settle()
    }

    /// Handles a change of the object at the path. Returns the calls that read its properties again.
    func changed(at path: String?) -> [BusRequest] {
        if path == BusName.networkManager.path { return [.properties(.networkManager)] }
        if let path, path == self.path { return [.connection(path)] }
        return []
    }

    private static func propertyState(_ reply: BusReply) -> PropertyState {
        if case .properties(let properties) = reply { return .properties(properties) }
        return .failureText(reply.failureText ?? "replies with something else than was requested")
    }

    // MARK: Readings

    private var primaryPath: String? {
        guard case .properties(let properties) = manager, case .path(let path)? = properties["PrimaryConnection"],
            path != "/"
        else { return nil }
        return path
    }

    private mutating func settle() {
        switch (presence, manager, connection) {
        case (.pending, _, _): unknown("has not replied yet", isSettled: false)
        case (.absent(let why), _, _): unknown(source: why, isSettled: true)
        case (.present, .pending, _):
            if readings.isSettled { unknown("has not replied yet", isSettled: false) }
        case (.present, .failureText(let failureText), _): unknown(failureText, isSettled: true)
        case (.present, .properties, .pending) where path != nil: break
        case (.present, .properties(let properties), _): read(properties)
        }
        readings.isNetworkManaged = presence.owner != nil
    }

    private mutating func unknown(_ clause: String, isSettled: Bool) {
        unknown(source: "\(NetworkManagerView.title) \(clause)", isSettled: isSettled)
    }

    private mutating func unknown(source: String, isSettled: Bool) {
        readings.network = Reading(source: source)
        readings.isMetered = Reading(source: source)
        readings.connectivity = Reading(source: source)
        readings.isSettled = isSettled
    }

    private mutating func read(_ properties: [String: BusValue]) {
        readings.isMetered = NetworkManagerView.metered(properties["Metered"])
        readings.connectivity = NetworkManagerView.connectivity(properties["Connectivity"])
        readings.network = network(properties)
        readings.isSettled = true
    }

    private static let title = BusName.networkManager.title

    /// Reads the property Metered, whose values are those of NMMetered.
    private static func metered(_ value: BusValue?) -> Reading<Bool> {
        switch value {
        case .uint32(1): Reading(true, source: title)
        case .uint32(2): Reading(false, source: title)
        case .uint32(3): Reading(true, source: "\(title), which guesses")
        case .uint32(4): Reading(false, source: "\(title), which guesses")
        case .uint32(0): Reading(source: "\(title) does not know")
        default: Reading(source: unexpectedValue("Metered", value))
        }
    }

    /// Reads the property Connectivity. Its type NMConnectivityState has the same values as `ConnectivityState`.
    private static func connectivity(_ value: BusValue?) -> Reading<ConnectivityState> {
        guard case .uint32(let number)? = value else { return Reading(source: unexpectedValue("Connectivity", value)) }
        if number == 0 { return Reading(source: "\(title) does not know") }
        guard let state = Int32(exactly: number).flatMap(ConnectivityState.init(rawValue:)) else {
            return Reading(source: unexpectedValue("Connectivity", value))
        }
        return Reading(state, source: title)
    }

    private func network(_ properties: [String: BusValue]) -> Reading<Network> {
        let title = NetworkManagerView.title
        guard case .path(let path)? = properties["PrimaryConnection"] else {
            return Reading(
                source: NetworkManagerView.unexpectedValue("PrimaryConnection", properties["PrimaryConnection"]))
        }
        if path == "/" { return Reading(source: "\(title) has no connection with the default route") }
        switch connection {
        case .pending: return Reading(source: "\(title) has not replied yet")
        case .failureText(let failureText): return Reading(source: "\(title) \(failureText)")
        case .properties(let of):
            guard case .string(let name)? = of["Id"], !name.isEmpty, name.utf8.count <= 255 else {
                return Reading(source: NetworkManagerView.unexpectedValue("Id", of["Id"]))
            }
            guard case .string(let type)? = of["Type"] ?? properties["PrimaryConnectionType"] else {
                return Reading(source: NetworkManagerView.unexpectedValue("Type", of["Type"]))
            }
            return Reading(Network(name: name, kind: NetworkKinds(connectionType: type)), source: title)
        }
    }

    private static func unexpectedValue(_ property: String, _ value: BusValue?) -> String {
        value == nil ? "\(title) has no \(property)" : "\(title)'s \(property) is none that is documented"
    }
}

extension NetworkKinds {
    /// The kinds for NetworkManager's connection.type
    /// (https://networkmanager.dev/docs/api/latest/nm-settings-nmcli.html#nm-settings-nmcli.property.connection.type).
    init(connectionType: String) {
        self =
            switch connectionType {
            // Types that combine or divide Ethernet links count as Ethernet.
            case "802-3-ethernet", "bond", "bridge", "infiniband", "macvlan", "pppoe", "team", "veth", "vlan": .ethernet
            case "802-11-wireless", "802-11-olpc-mesh", "wifi-p2p": .wifi
            case "cdma", "gsm", "wimax": .cellular
            case "bluetooth": .bluetooth
            case "ip-tunnel", "tun", "vpn", "vxlan", "wireguard": .tunnel
            default: .other
            }
    }
}
