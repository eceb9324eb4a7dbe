import CBackhaul

/// The options that are stored with a session, a named collection of transfers. After the command, they apply to all
/// transfers of the session.
struct SessionOptions {
    static let descriptions = [
        OptionDescription(
            "credentials", nil, "ask|fail", "when a server asks for a credential: wait for one (ask), or fail"),
        OptionDescription("attempts", nil, "NUMBER", "give up after this number of attempts without progress"),
        OptionDescription(
            "proxy", "x", "URL", "http://, https://, socks5:// or socks5h://...; none; '': as the environment says"),
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
    ] + settings.map(\.option)

    /// Options, each of which sets one field of the configuration.
    static let settings: [SessionSetting] = [
        .word("cookies", \.cookies, "cookie-jar", Names.cookies, "where the session's cookies live (none)"),
        .number(
            "connections_per_origin", \.connections_per_origin, "connections", in: 1...256,
            "connections to one origin at a time (6)"),
        .number(
            "maximum_running_tasks", \.maximum_running_tasks, "parallel-max", in: 1...1024,
            "transfers at a time (64)"),
        .number(
            "history_limit", \.history_limit, "history-limit", upTo: 100_000, none: UInt32.max,
            "ended transfers that `history` keeps (1000); 0: none"),
        .budget(
            "daily_budget", \.budget.daily, "daily-budget",
            "limit for the session in a day, on each network (none)"),
        .budget("monthly_budget", \.budget.monthly, "monthly-budget", "the same, in a calendar month (none)"),
        .milliseconds(
            "slow_after_ms", \.slow_after_ms, "slow-after",
            "how long a rate below --minimum-rate lasts before a pause (60)"),
        .milliseconds(
            "slow_pause_ms", \.slow_pause_ms, "slow-pause",
            "the first such pause; it doubles, up to 12 times this (300)"),
        .yesOrNo(
            "discretionary_if_launched", \.discretionary_if_launched, "discretionary-if-launched",
            "transfers that a launched program enqueues are --discretionary (no)"),
        .bits(
            "tolerances", \.tolerances, "tolerate", Names.tolerances,
            "accept these faults of servers: missing-close-notify, early-response; '': none (the default)"),
    ]

    private let certificates: String?
    private let maximumAttempts: UInt32?
    /// Whether the session asks for credentials. Nil if the option is not given: then a new session asks, and an
    /// existing session keeps its setting.
    private let asksForCredentials: Bool?
    private let proxy: String?
    private let proxyUser: String?
    private let proxyPassword: String?
    private let exceptions: String?
    private let clientCertificate: String?
    private let clientKey: String?
    private let pins: String?
    private let minimumTLS: Int?
    /// The changes that the given options make.
    private let changes: [SessionSetting.Change]

    let isGiven: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        isGiven = SessionOptions.descriptions.contains { arguments.has($0.name) }
        certificates = try SessionOptions.path(arguments, arguments.has("ca-file") ? "ca-file" : "cacert")
        maximumAttempts = try arguments.number("attempts", in: 1...1_000_000).map { UInt32($0) }
        switch arguments.value("credentials") {
        case nil: asksForCredentials = nil
        case "ask": asksForCredentials = true
        case "fail": asksForCredentials = false
        case .some(let value): throw .usage("--credentials takes 'ask' or 'fail', not '\(value)'.")
        }
        proxy = arguments.value("proxy")
        let user = arguments.value("proxy-user")
        let colon = user?.firstIndex(of: ":")
        proxyUser = user.map { colon == nil ? $0 : String($0.prefix { $0 != ":" }) }
        if let file = arguments.value("proxy-password-file") {
            guard user != nil, colon == nil else {
                throw .usage("--proxy-password-file goes with --proxy-user that has no password.")
            }
            proxyPassword = try InputFile.firstLine(file)
        } else {
            proxyPassword = user.flatMap { user in colon.map { String(user[user.index(after: $0)...]) } }
        }
        exceptions = arguments.value("noproxy")
        clientCertificate = try SessionOptions.path(arguments, "cert")
        clientKey = try SessionOptions.path(arguments, "key")
        pins = arguments.value("pinnedpubkey")
        minimumTLS = arguments.has("tlsv1.3") ? BH_TLS_1_3 : arguments.has("tlsv1.2") ? BH_TLS_1_2 : nil
        var changes: [SessionSetting.Change] = []
        for setting in SessionOptions.settings {
            if let change = try setting.change(arguments) { changes.append(change) }
        }
        self.changes = changes
    }

    /// - Parameter isNew: Whether the session is new. If no option forbids it, a new session asks for credentials.
    func change(_ session: inout bh_session_configuration, _ arena: CStringArena, isNew: Bool) {
        if let certificates { session.tls.ca_file = arena.string(unlessEmpty: certificates) }
        if let maximumAttempts { session.retry.maximum_attempts = maximumAttempts }
        if asksForCredentials != nil || isNew {
            session.asks_for_credentials = Int32(asksForCredentials == false ? BH_NO : BH_YES)
        }
        if let proxy {
            session.proxy.url = arena.string(unlessEmpty: proxy)
            // The credential of the earlier proxy is not sent to the new one.
            session.proxy.user = nil
            session.proxy.password = nil
        }
        if let proxyUser {
            session.proxy.user = arena.string(unlessEmpty: proxyUser)
            session.proxy.password = proxyUser.isEmpty ? nil : arena.optionalString(proxyPassword)
        }
        if let exceptions { session.proxy.bypass = arena.string(unlessEmpty: exceptions) }
        if let clientCertificate {
            session.tls.client_certificate = arena.string(unlessEmpty: clientCertificate)
            session.tls.client_key = nil
        }
        if let clientKey { session.tls.client_key = arena.string(unlessEmpty: clientKey) }
        if let pins { session.tls.pinned_public_keys = arena.string(unlessEmpty: pins) }
        if let minimumTLS { session.tls.minimum_version = Int32(minimumTLS) }
        for change in changes { change(&session) }
    }

    /// The absolute path that an option gives. An empty value means that no file is used.
    private static func path(_ arguments: Arguments, _ name: String) throws(CommandError) -> String? {
        guard let path = arguments.value(name) else { return nil }
        return path.isEmpty ? "" : try Paths.absolute(path)
    }
}
