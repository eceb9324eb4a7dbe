import Backhaul

/// The options for settings that only a session has. `configure` stores them with the session. With `get`, `add` and
/// `put`, they apply to the transfers of the command, which then belong to a variant of the session (`SessionVariant`).
struct SessionOptions {
    /// The options of `get`, `add` and `put`.
    static let descriptions =
        [
            OptionDescription(
                "credentials", nil, "ask|fail", "when a server asks for a credential: wait for one (ask), or fail"),
            OptionDescription(
                "proxy", "x", "URL", "http://, https://, socks5:// or socks5h://...; none (as the environment says)"),
            OptionDescription(
                "proxy-user", "U", "USER[:PASSWORD]",
                "for the proxy. Other users may see a command line: see --proxy-password-file"),
            OptionDescription(
                "proxy-password-file", nil, "FILE", "the password is the first line of FILE; '-' is standard input"),
            OptionDescription("noproxy", nil, "LIST", "names and addresses that need no proxy"),
            OptionDescription("cacert", nil, "FILE", "trust these certificates (PEM) instead of the system's"),
            OptionDescription("ca-file", nil, "FILE", "the same"),
            OptionDescription("cert", "E", "FILE", "the client's certificate (PEM)"),
            OptionDescription("key", nil, "FILE", "its key (PEM), unless that is in the same file"),
            OptionDescription("pinnedpubkey", nil, "HASHES", "the server's key is one of sha256//BASE64;..."),
            OptionDescription("tlsv1.2", nil, nil, "TLS 1.2 or newer (the default)"),
            OptionDescription("tlsv1.3", nil, nil, "TLS 1.3 or newer"),
        ] + transferSettings.map(\.option)

    /// The options of `configure`.
    static let allDescriptions = descriptions + sessionSettings.map(\.option)

    /// The options that `get`, `add` and `put` refuse, because they describe the session and not the transfers of one
    /// command. The message states that `configure` accepts them.
    static let refused = sessionSettings.map { $0.option.hidden }

    /// The options that `activities` refuses: an activity always uses the settings of its session.
    static let allRefused = allDescriptions.map(\.hidden)

    /// Options, each of which sets one field of the configuration.
    static let settings = transferSettings + sessionSettings

    private static let transferSettings: [SessionSetting] = [
        .word("cookies", \.cookies, "cookie-jar", "where the session's cookies live (none)"),
        .number(
            "connections_per_origin", \.connectionsPerOrigin, "connections", upTo: 256,
            "connections to one origin at a time (6)"),
        .number(
            "maximum_running_tasks", \.maximumRunningTasks, "parallel-max", upTo: 1024,
            "transfers at a time (64)"),
        .seconds(
            "slow_after_ms", \.slowAfter, "slow-after",
            "how long a rate below --minimum-rate lasts before a pause (60)"),
        .seconds(
            "slow_pause_ms", \.slowPause, "slow-pause",
            "the first such pause; it doubles, up to 12 times this (300)"),
        .set(
            "tolerances", \.tolerances, "tolerate",
            "accept these faults of servers: missing-close-notify, early-response (none)"),
    ]

    private static let sessionSettings: [SessionSetting] = [
        .history(
            "history_limit", \.historyLimit, "history-limit", upTo: 100_000,
            "ended transfers that `history` keeps (1000); 0: none"),
        .budget(
            "daily_budget", \.budget.daily, "daily-budget",
            "limit for the session in a day, on each network (none)"),
        .budget("monthly_budget", \.budget.monthly, "monthly-budget", "the same, in a calendar month (none)"),
        .yesOrNo(
            "discretionary_if_launched", \.isDiscretionaryIfLaunched, "discretionary-if-launched",
            "transfers that a launched program enqueues are --discretionary (no)"),
    ]

    private let certificates: String?
    private let asksForCredentials: Bool?
    private let proxy: String?
    private let proxyUser: String?
    private let proxyPassword: String?
    private let resetsProxyPassword: Bool
    private let exceptions: String?
    private let clientCertificate: String?
    private let clientKey: String?
    private let pins: String?
    private let minimumTLS: TLSVersion??
    /// The changes that the given options make.
    private let changes: [SessionSetting.Change]

    /// The given options and their values, without passwords.
    let given: [(name: String, value: String)]

    var isGiven: Bool { !given.isEmpty }

    init(_ arguments: Arguments) throws(CommandError) {
        given = try SessionOptions.given(arguments)
        certificates = try SessionOptions.path(arguments, arguments.has("ca-file") ? "ca-file" : "cacert")
        switch arguments.value("credentials") {
        case nil: asksForCredentials = nil
        case "", "ask": asksForCredentials = true
        case "fail": asksForCredentials = false
        case .some(let value): throw .usage("--credentials takes 'ask' or 'fail', not '\(value)'")
        }
        proxy = arguments.value("proxy").map(SessionOptions.proxy)
        let user = arguments.value("proxy-user")
        let colon = user?.firstIndex(of: ":")
        proxyUser = user.map { colon == nil ? $0 : String($0.prefix { $0 != ":" }) }
        resetsProxyPassword = arguments.value("proxy-password-file") == ""
        if let file = arguments.value("proxy-password-file"), !file.isEmpty {
            guard user != nil, colon == nil else {
                throw .usage("--proxy-password-file goes with --proxy-user that has no password")
            }
            proxyPassword = try InputFile.firstLine(file)
        } else {
            proxyPassword = user.flatMap { user in colon.map { String(user[user.index(after: $0)...]) } }
        }
        exceptions = arguments.value("noproxy")
        clientCertificate = try SessionOptions.path(arguments, "cert")
        clientKey = try SessionOptions.path(arguments, "key")
        pins = arguments.value("pinnedpubkey")
        let resetsTLS = arguments.isReset("tlsv1.2") || arguments.isReset("tlsv1.3")
        minimumTLS =
            arguments.has("tlsv1.3")
            ? .tls1_3
            : arguments.has("tlsv1.2") ? .tls1_2 : resetsTLS ? .some(nil) : nil
        var changes: [SessionSetting.Change] = []
        for setting in SessionOptions.settings {
            if let change = try setting.change(arguments) { changes.append(change) }
        }
        self.changes = changes
    }

    /// The options of a command that enqueues transfers. Throws if one of them is for the whole session.
    static func ofTransfers(_ arguments: Arguments) throws(CommandError) -> SessionOptions {
        try refuse(refused, arguments)
        var arguments = arguments
        // An empty value means the setting of the session, so it needs no variant.
        for option in descriptions where arguments.value(option.name) == "" && option.argument != nil {
            arguments.remove(option.name)
        }
        return try SessionOptions(arguments)
    }

    /// Throws if one of the options is given. The message states that `configure` accepts it.
    static func refuse(_ options: [OptionDescription], _ arguments: Arguments) throws(CommandError) {
        guard let option = options.first(where: { arguments.has($0.name) }) else { return }
        let words = (["--" + option.name] + [option.argument].compactMap { $0 }).joined(separator: " ")
        throw .usage("--\(option.name) is a setting of the session: `backhaul configure \(words)` stores it")
    }

    private static func given(_ arguments: Arguments) throws(CommandError) -> [(name: String, value: String)] {
        var given: [(name: String, value: String)] = []
        for option in allDescriptions where arguments.changes(option.name) {
            let name = option.name
            let value =
                switch name {
                case "ca-file", "cacert", "cert", "key": try path(arguments, name) ?? ""
                case "proxy": proxy(arguments.value(name) ?? "")
                case "proxy-user": String((arguments.value(name) ?? "").prefix { $0 != ":" })
                case "proxy-password-file": ""
                default: arguments.all(name).joined(separator: ",")
                }
            given.append((name == "ca-file" ? "cacert" : name, value))
        }
        return given
    }

    /// Changes the fields whose options are given. The other fields stay.
    func change(_ session: inout SessionConfiguration) {
        if let certificates { session.tls.caFile = certificates.unlessEmpty }
        if let asksForCredentials { session.asksForCredentials = asksForCredentials }
        if let proxy {
            session.proxy.url = proxy.unlessEmpty
            // The credential of the earlier proxy is not sent to the new one.
            session.proxy.user = nil
            session.proxy.password = nil
        }
        if let proxyUser {
            session.proxy.user = proxyUser.unlessEmpty
            session.proxy.password = proxyUser.isEmpty ? nil : proxyPassword
        }
        if resetsProxyPassword { session.proxy.password = nil }
        if let exceptions { session.proxy.bypass = exceptions.unlessEmpty }
        if let clientCertificate {
            session.tls.clientCertificate = clientCertificate.unlessEmpty
            session.tls.clientKey = nil
        }
        if let clientKey { session.tls.clientKey = clientKey.unlessEmpty }
        if let pins { session.tls.pinnedPublicKeys = pins.unlessEmpty }
        if let minimumTLS { session.tls.minimumVersion = minimumTLS }
        for change in changes { change(&session) }
    }

    /// The URL of the proxy. As in curl, a proxy without a scheme is an HTTP proxy.
    private static func proxy(_ value: String) -> String {
        value.isEmpty || value == "none" || value.contains("://") ? value : "http://" + value
    }

    /// The absolute path that an option gives. An empty value means that no file is used.
    private static func path(_ arguments: Arguments, _ name: String) throws(CommandError) -> String? {
        guard let path = arguments.value(name) else { return nil }
        return path.isEmpty ? "" : try Paths.absolute(path)
    }
}

extension String {
    /// The text, or nil if it is empty. Nil stands for the default.
    var unlessEmpty: String? { isEmpty ? nil : self }
}
