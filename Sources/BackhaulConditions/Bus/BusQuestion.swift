internal import BackhaulBus
internal import BackhaulPlatform

/// What is asked over the bus.
enum BusQuestion: Hashable {
    /// That signals of the rule are sent to us.
    case rule(String)
    /// And that they are not sent any more.
    case noRule(String)
    /// Who has the name, so that nobody else's signals are taken for his.
    case owner(BusName)
    /// Properties of a service's main object.
    case properties(BusName)
    /// What NetworkManager's active connection at the path is.
    case connection(String)
    /// A delay of system sleep (https://systemd.io/INHIBITOR_LOCKS/).
    case inhibit

    var method: BusMethod {
        switch self {
        case .rule: .bus("AddMatch")
        case .noRule: .bus("RemoveMatch")
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
        case .rule(let rule), .noRule(let rule): [.string(rule)]
        case .owner(let name): [.string(name.text)]
        case .properties(let name): [.string(name.manager)]
        case .connection: [.string(BusName.connection)]
        case .inhibit: ["sleep", "Backhaul", "Transfers are written to disk", "delay"].map { .string($0) }
        }
    }

    /// Whom it is asked, and so would not be answered by a later one of the name; nil: the bus itself.
    var service: BusName? {
        switch self {
        case .rule, .noRule, .owner: nil
        case .properties(let name): name
        case .connection: .networkManager
        case .inhibit: .logind
        }
    }

    func answer(from reply: BusMessage) -> BusAnswer {
        if let error = reply.error { return .refused(name: error.name, sentence: error.sentence) }
        do throws(BusError) {
            switch self {
            case .rule, .noRule: return .done
            case .owner: return .owner(try reply.readString())
            case .properties, .connection: return .properties(try reply.readProperties(BusQuestion.properties))
            case .inhibit: return .descriptor(try reply.readDescriptor())
            }
        } catch {
            return .nonsense
        }
    }

    private static let properties: Set<String> = [
        "Metered", "Connectivity", "PrimaryConnection", "PrimaryConnectionType", "Id", "Type", "PreparingForSleep",
    ]
}

enum BusAnswer {
    case done
    /// The unique name of the connection that has the name.
    case owner(String)
    case properties([String: BusValue])
    case descriptor(Descriptor)
    case refused(name: String, sentence: String)
    /// Of other types than its documentation says.
    case nonsense
    /// None within the limit; one may still come.
    case silence

    /// Why there is no answer, as the end of a sentence that begins with the name of whoever was asked. Nil when there
    /// is one.
    var complaint: String? {
        switch self {
        case .done, .owner, .properties, .descriptor: nil
        case .refused(_, ""): "refuses, without a reason"
        case .refused(_, let sentence): "refuses: \(sentence.prefix(200))"
        case .nonsense: "answers something else than is documented"
        case .silence: "does not answer"
        }
    }
}

/// Whether a service is there.
enum BusPresence: Equatable {
    case asking
    case absent(why: String)
    /// The unique name of its connection.
    case present(owner: String)

    var owner: String? { if case .present(let owner) = self { owner } else { nil } }

    /// What the bus says of who has a name.
    init(_ answer: BusAnswer, of name: BusName) {
        switch answer {
        case .owner(let owner): self = .present(owner: owner)
        case .refused("org.freedesktop.DBus.Error.NameHasNoOwner", _): self = .absent(of: name)
        default: self = .absent(why: "the system bus " + (answer.complaint ?? "answers something else than was asked"))
        }
    }

    static func absent(of name: BusName) -> BusPresence { .absent(why: "\(name.title) is not on the bus") }
}
