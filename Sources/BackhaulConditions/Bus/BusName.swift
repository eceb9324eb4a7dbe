internal import BackhaulBus
internal import BackhaulModel

/// A service on the system bus that reports conditions, which are facts about the system, such as the network.
enum BusName: CaseIterable, Hashable {
    case networkManager, logind

    /// The service's name on the bus.
    var text: String {
        switch self {
        case .networkManager: "org.freedesktop.NetworkManager"
        case .logind: "org.freedesktop.login1"
        }
    }

    /// The service's name in messages and in the texts that explain readings.
    var title: String {
        switch self {
        case .networkManager: "NetworkManager"
        case .logind: "logind"
        }
    }

    /// The path of the service's main object.
    var path: String {
        switch self {
        case .networkManager: "/org/freedesktop/NetworkManager"
        case .logind: "/org/freedesktop/login1"
        }
    }

    /// The interface of the service's main object.
    var manager: String {
        switch self {
        case .networkManager: "org.freedesktop.NetworkManager"
        case .logind: "org.freedesktop.login1.Manager"
        }
    }

    /// The match rules (D-Bus specification, "Match Rules") by which the bus sends the needed signals of the service to
    /// this connection.
    var rules: [String] {
        let owner = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(text)'"
        switch self {
        case .networkManager:
            // NetworkManager gets its name before its objects exist, so the signal about new objects is needed too.
            let added =
                "type='signal',sender='\(text)',interface='org.freedesktop.DBus.ObjectManager',"
                + "member='InterfacesAdded',arg0path='\(path)'"
            return [owner, added]
                + [manager, BusName.connection].map {
                    "type='signal',sender='\(text)',interface='org.freedesktop.DBus.Properties',"
                        + "member='PropertiesChanged',arg0='\($0)'"
                }
        case .logind:
            return [owner, "type='signal',sender='\(text)',interface='\(manager)',member='PrepareForSleep'"]
        }
    }

    /// The calls that are sent before all other calls: on a new connection, and when the service is needed again.
    var initialRequests: [BusRequest] { rules.map { .addRule($0) } + [.owner(self)] }

    var need: ConditionSet {
        switch self {
        case .networkManager: .network
        case .logind: .sleep
        }
    }

    /// The interface of NetworkManager's active connections.
    static let connection = "org.freedesktop.NetworkManager.Connection.Active"
}
