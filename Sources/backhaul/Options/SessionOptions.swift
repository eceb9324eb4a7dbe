import CBackhaul

/// What is remembered with a session, from now on and for all its transfers.
struct SessionOptions {
    static let descriptions = [
        OptionDescription(
            "credentials", nil, "ask|fail", "when a server asks for a credential: wait for one (ask), or fail"),
        OptionDescription("tries", nil, "NUMBER", "give up after so many tries without progress"),
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
        OptionDescription("cookie-jar", nil, "none|memory|persistent", "where the session's cookies live (none)"),
        OptionDescription("connections", nil, "NUMBER", "to one origin at a time (6)"),
        OptionDescription("parallel-max", nil, "NUMBER", "transfers at a time (64)"),
        OptionDescription("history-limit", nil, "NUMBER", "ended transfers that `history` keeps (1000); 0: none"),
        OptionDescription(
            "daily-budget", nil, "BYTES|none|nothing", "that the session moves on any one network in a day (none)"),
        OptionDescription("monthly-budget", nil, "BYTES|none|nothing", "the same, in a calendar month (none)"),
        OptionDescription("slow-after", nil, "SECONDS", "of less than --minimum-rate, before the first pause (60)"),
        OptionDescription("slow-pause", nil, "SECONDS", "the first such pause; it doubles, up to 12 times of it (300)"),
        OptionDescription(
            "discretionary-if-launched", nil, "yes|no",
            "what a program hands over that was started for the session is --discretionary (no)"),
        OptionDescription(
            "tolerate", nil, "LIST",
            "faults of servers that are accepted: missing-close-notify, early-response; '': none (the default)"),
    ]

    private let certificates: String?
    private let maximumAttempts: UInt32?
    /// Nil: a new session asks.
    private let asksForCredentials: Bool?
    private let proxy: String?
    private let proxyUser: String?
    private let proxyPassword: String?
    private let exceptions: String?
    private let clientCertificate: String?
    private let clientKey: String?
    private let pins: String?
    private let minimumTLS: Int?
    private let cookies: Int32?
    private let connections: UInt32?
    private let runningTasks: UInt32?
    private let historyLimit: UInt32?
    private let dailyBudget: UInt64?
    private let monthlyBudget: UInt64?
    private let slowAfter: UInt32?
    private let slowPause: UInt32?
    private let discretionaryIfLaunched: Int32?
    private let tolerances: UInt32?

    let isGiven: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        isGiven = SessionOptions.descriptions.contains { arguments.has($0.name) }
        certificates = try SessionOptions.path(arguments, arguments.has("ca-file") ? "ca-file" : "cacert")
        maximumAttempts = try arguments.number("tries", in: 1...1_000_000).map { UInt32($0) }
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
        cookies = try arguments.choice("cookie-jar", Names.cookies)
        connections = try arguments.number("connections", in: 1...256).map { UInt32($0) }
        runningTasks = try arguments.number("parallel-max", in: 1...1024).map { UInt32($0) }
        historyLimit = try arguments.number("history-limit", in: 0...100_000).map { $0 == 0 ? UInt32.max : UInt32($0) }
        dailyBudget = try arguments.budget("daily-budget")
        monthlyBudget = try arguments.budget("monthly-budget")
        let day = 86_400.0
        slowAfter = try arguments.milliseconds("slow-after", upTo: day).map { UInt32($0) }
        slowPause = try arguments.milliseconds("slow-pause", upTo: day).map { UInt32($0) }
        discretionaryIfLaunched = try arguments.yesOrNo("discretionary-if-launched")
        tolerances = try arguments.bits("tolerate", Names.tolerances)
    }

    /// - Parameter isNew: The session's, not a change of one: it asks for credentials unless it is told not to.
    func change(_ session: inout bh_session_configuration, _ arena: CStringArena, isNew: Bool) {
        if let certificates { session.tls.ca_file = arena.string(unlessEmpty: certificates) }
        if let maximumAttempts { session.retry.maximum_attempts = maximumAttempts }
        if asksForCredentials != nil || isNew {
            session.asks_for_credentials = Int32(asksForCredentials == false ? BH_NO : BH_YES)
        }
        if let proxy {
            session.proxy.url = arena.string(unlessEmpty: proxy)
            // Another proxy is not told what the former was.
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
        if let cookies { session.cookies = cookies }
        if let connections { session.connections_per_origin = connections }
        if let runningTasks { session.maximum_running_tasks = runningTasks }
        if let historyLimit { session.history_limit = historyLimit }
        if let dailyBudget { session.budget.daily = dailyBudget }
        if let monthlyBudget { session.budget.monthly = monthlyBudget }
        if let slowAfter { session.slow_after_ms = slowAfter }
        if let slowPause { session.slow_pause_ms = slowPause }
        if let discretionaryIfLaunched { session.discretionary_if_launched = discretionaryIfLaunched }
        if let tolerances { session.tolerances = tolerances }
    }

    /// '' stands for none.
    private static func path(_ arguments: Arguments, _ name: String) throws(CommandError) -> String? {
        guard let path = arguments.value(name) else { return nil }
        return path.isEmpty ? "" : try Paths.absolute(path)
    }
}
