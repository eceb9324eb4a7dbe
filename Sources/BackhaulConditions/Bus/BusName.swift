internal import BackhaulBus
internal import BackhaulModel

/// A service whose readings are used.
enum BusName: CaseIterable, Hashable {
    case networkManager, logind

    /// On the bus.
    var text: String {
        switch self {
        case .networkManager: "org.freedesktop.NetworkManager"
        case .logind: "org.freedesktop.login1"
        }
    }

    /// In sentences and sources.
    var title: String {
        switch self {
        case .networkManager: "NetworkManager"
        case .logind: "logind"
        }
    }

    /// Of its main object.
    var path: String {
        switch self {
        case .networkManager: "/org/freedesktop/NetworkManager"
        case .logind: "/org/freedesktop/login1"
        }
    }

    /// The interface of its main object.
    var manager: String {
        switch self {
        case .networkManager: "org.freedesktop.NetworkManager"
        case .logind: "org.freedesktop.login1.Manager"
        }
    }

    /// Rules for the signals that are wanted (D-Bus specification, "Match Rules").
    var rules: [String] {
        let owner = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(text)'"
        switch self {
        case .networkManager:
            // It has its name before its objects.
            let added = "type='signal',sender='\(text)',interface='org.freedesktop.DBus.ObjectManager',"
                + "member='InterfacesAdded',arg0path='\(path)'"
            return [owner, added] + [manager, BusName.connection].map {
                "type='signal',sender='\(text)',interface='org.freedesktop.DBus.Properties',"
                    + "member='PropertiesChanged',arg0='\($0)'"
            }
        case .logind:
            return [owner, "type='signal',sender='\(text)',interface='\(manager)',member='PrepareForSleep'"]
        }
    }

    /// What is asked first.
    var first: [BusQuestion] { rules.map { .rule($0) } + [.owner(self)] }

    var need: ConditionNeeds {
        switch self {
        case .networkManager: .network
        case .logind: .sleep
        }
    }

    /// The interface of NetworkManager's active connections.
    static let connection = "org.freedesktop.NetworkManager.Connection.Active"
}
