import Backhaul

extension Setting {
    /// The constraints. `get`, `add` and `put` apply them to the new transfers, `configure` to the session, and
    /// `constrain` to existing transfers. The value `default` and an empty value remove a constraint.
    static let constraintSettings = all.filter(\.isConstraint)
    /// The settings of a policy. `get`, `add` and `put` apply them to the new transfers, and `configure` applies them
    /// to all transfers of the session. An empty value is the default: for a transfer, the session's setting.
    static let transferSettings = all.filter { $0.isOfTransfer && !$0.isConstraint } + constraintSettings
    /// The settings that only a session has. With `get`, `add` and `put`, some of them apply to the transfers of the
    /// command, which then belong to a variant of the session (`SessionVariant`).
    static let sessionSettings = all.filter { !$0.isOfTransfer }
    static let variantSettings = sessionSettings.filter { !$0.isOnlyOfSession }

    /// The options of `get`, `add` and `put` for settings of a session. Some of them are refused, with a message that
    /// states that `configure` accepts them.
    static let variantOptions =
        options(variantSettings) + options(sessionSettings.filter(\.isOnlyOfSession)).map(\.hidden)

    static func options(_ settings: [Setting]) -> [OptionDescription] { settings.flatMap(\.options) }

    /// Throws if an option of these settings is given. The message states that `configure` accepts it.
    static func refuse(_ settings: [Setting], _ arguments: Arguments) throws(CommandError) {
        guard let option = options(settings).first(where: { arguments.has($0.name) }) else { return }
        let words = (["--" + option.name] + [option.argument].compactMap { $0 }).joined(separator: " ")
        throw .usage("--\(option.name) is a setting of the session: `backhaul configure \(words)` stores it")
    }

    static func json(_ configuration: SessionConfiguration) -> JSON {
        var members: [(String, JSON)] = []
        for setting in all {
            guard let value = setting.json?(configuration) else { continue }
            let path = setting.field.split(separator: ".").map(String.init)
            if path.count == 1 {
                members.append((path[0], value))
            } else if let last = members.last, last.0 == path[0], case .object(let former) = last.1 {
                members[members.count - 1].1 = .object(former + [(path[1], value)])
            } else {
                members.append((path[0], .object([(path[1], value)])))
            }
        }
        return .object(members)
    }
}

/// The settings that the options of a command change. The other settings stay.
struct SettingOptions {
    /// The given options with their values, without passwords.
    private(set) var given: [(name: String, value: String)] = []
    private var changes: [Setting.Change] = []
    /// Options that notes name by another word: the environment variable that has set --cacert, or --netrc.
    private var otherNames: [String: String] = [:]

    /// The given options, as a note names them.
    var names: [String] { given.map { otherNames[$0.name] ?? "--" + $0.name } }

    var isGiven: Bool { !given.isEmpty }

    init(_ arguments: Arguments, _ settings: [Setting]) throws(CommandError) {
        var example = SessionConfiguration(identifier: "")
        for setting in settings {
            guard let change = try setting.change(arguments) else { continue }
            change(&example)
            changes.append(change)
            let name = setting.options.first { arguments.changes($0.name) }?.name ?? ""
            given.append((name == "ca-file" ? "cacert" : name, setting.json?(example).plain ?? ""))
        }
    }

    /// The options of a command that enqueues transfers. Throws if one of them is for the whole session.
    static func ofVariant(_ arguments: Arguments) throws(CommandError) -> SettingOptions {
        try Setting.refuse(Setting.sessionSettings.filter(\.isOnlyOfSession), arguments)
        var arguments = arguments
        let isGiven = ["cacert", "ca-file"].contains(where: arguments.has)
        let variable = isGiven ? nil : CertificateVariables()
        if let variable { arguments.set("cacert", variable.file) }
        // An empty value means the setting of the session, so it needs no variant.
        for option in Setting.variantOptions where arguments.value(option.name) == "" && option.argument != nil {
            arguments.remove(option.name)
        }
        var options = try SettingOptions(arguments, Setting.variantSettings)
        options.otherNames["cacert"] = variable?.name
        return options
    }

    /// The same options for the users of the credentials. Each user has a variant of the session, because a session
    /// keeps the credential that a server has accepted, and the cookies of the login.
    func of(_ credentials: GivenCredentials, for transfers: [Transfer]) -> SettingOptions {
        let users = credentials.users(for: transfers.map(\.url))
        if users.isEmpty { return self }
        var options = self
        options.given.append((SessionVariant.userOption, users.joined(separator: ",")))
        options.otherNames[SessionVariant.userOption] = credentials.option
        return options
    }

    func change(_ configuration: inout SessionConfiguration) {
        for change in changes { change(&configuration) }
    }

    func change(_ constraints: inout Constraints) {
        var configuration = SessionConfiguration(identifier: "")
        configuration.constraints = constraints
        change(&configuration)
        constraints = configuration.constraints
    }

    /// The policy of a transfer with these settings. Nil if no option is given.
    var policy: Policy? {
        guard isGiven else { return nil }
        var configuration = SessionConfiguration(identifier: "")
        change(&configuration)
        var policy = Policy()
        policy.retry = configuration.retry
        policy.rules = configuration.rules
        policy.constraints = configuration.constraints
        policy.bytesPerSecond = configuration.bytesPerSecond
        return policy
    }
}

extension SessionConfiguration {
    /// The configuration without secrets, so that no command shows them.
    var json: JSON { Setting.json(self) }
}

extension Constraints {
    /// A constraint that is not set is null. Then the preset decides.
    var json: JSON {
        var configuration = SessionConfiguration(identifier: "")
        configuration.constraints = self
        guard case .object(let members) = configuration.json else { return .null }
        return members.first { $0.0 == "constraints" }?.1 ?? .null
    }
}
