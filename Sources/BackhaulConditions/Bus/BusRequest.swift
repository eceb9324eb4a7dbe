internal import BackhaulBus
internal import BackhaulPlatform

/// A call over the system bus (D-Bus).
enum BusRequest: Hashable {
    /// Requests the signals that match the rule (a match rule of D-Bus).
    case addRule(String)
    /// Ends the signals that match the rule.
    case removeRule(String)
    /// Requests the unique name of the connection that owns the service's name. Signals from other connections are
    /// ignored.
    case owner(BusName)
    /// Requests the properties of a service's main object.
    case properties(BusName)
    /// Requests the properties of NetworkManager's active connection at the path.
    case connection(String)
    /// Requests a delay of system sleep (https://systemd.io/INHIBITOR_LOCKS/).
    case inhibit

    var method: BusMethod {
        switch self {
        case .addRule: .bus("AddMatch")
        case .removeRule: .bus("RemoveMatch")
        case .owner: .bus("GetNameOwner")
        case .properties(let name): .properties("GetAll", of: name.path, at: name.text)
        case .connection(let path): .properties("GetAll", of: path, at: BusName.networkManager.text)
        case .inhibit:
            BusMethod(
                destination: BusName.logind.text, path: BusName.logind.path, interface: BusName.logind.manager,
                member: "Inhibit")
        }
    }

    var arguments: [BusValue] {
        switch self {
        case .addRule(let rule), .removeRule(let rule): [.string(rule)]
        case .owner(let name): [.string(name.text)]
        case .properties(let name): [.string(name.manager)]
        case .connection: [.string(BusName.connection)]
        case .inhibit: ["sleep", "Backhaul", "Transfers are written to disk", "delay"].map { .string($0) }
        }
    }

    /// The service that gets the call; nil for the bus itself. If the service leaves the bus or is replaced, the call
    /// gets no reply.
    var service: BusName? {
        switch self {
        case .addRule, .removeRule, .owner: nil
        case .properties(let name): name
        case .connection: .networkManager
        case .inhibit: .logind
        }
    }

    func reply(from reply: BusMessage) -> BusReply {
        if let error = reply.error { return .refused(name: error.name, sentence: error.sentence) }
        do throws(BusError) {
            switch self {
            case .addRule, .removeRule: return .done
            case .owner: return .owner(try reply.readString())
            case .properties, .connection: return .properties(try reply.readProperties(BusRequest.properties))
            case .inhibit: return .descriptor(try reply.readDescriptor())
            }
        } catch {
            return .malformed
        }
    }

    private static let properties: Set<String> = [
        "Metered", "Connectivity", "PrimaryConnection", "PrimaryConnectionType", "Id", "Type", "PreparingForSleep",
    ]
}

enum BusReply {
    case done
    /// The unique name of the connection that owns the service's name.
    case owner(String)
    case properties([String: BusValue])
    case descriptor(Descriptor)
    case refused(name: String, sentence: String)
    /// The values of the reply do not have the documented types.
    case malformed
    /// No reply has arrived within the time-out. A late reply is still handled.
    case timedOut

    /// Why there is no usable reply, as the end of a sentence that begins with the name of the service. Nil for a
    /// usable reply.
    var failureText: String? {
        switch self {
        case .done, .owner, .properties, .descriptor: nil
        case .refused(_, ""): "refuses, without a reason"
        case .refused(_, let sentence): "refuses: \(sentence.prefix(200))"
        case .malformed: "replies with something else than is documented"
        case .timedOut: "does not reply"
        }
    }
}

/// Whether a service is on the bus.
enum BusPresence: Equatable {
    case pending
    case absent(why: String)
    /// `owner`: the unique name of the service's connection.
    case present(owner: String)

    var owner: String? { if case .present(let owner) = self { owner } else { nil } }

    /// Reads the presence from the bus's reply to `BusRequest.owner`.
    init(_ reply: BusReply, of name: BusName) {
        switch reply {
        case .owner(let owner): self = .present(owner: owner)
        case .refused("org.freedesktop.DBus.Error.NameHasNoOwner", _): self = .absent(of: name)
        default:
            let why = reply.failureText ?? "replies with something else than was requested"
            self = .absent(why: "the system bus \(why)")
        }
    }

    static func absent(of name: BusName) -> BusPresence { .absent(why: "\(name.title) is not on the bus") }
}
