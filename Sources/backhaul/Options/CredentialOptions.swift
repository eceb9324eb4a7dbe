import Backhaul

/// Options with credentials for servers that ask for one. The command gives them in response to the challenge, so they
/// are sent only to a server that has asked, and only with a scheme that this server offers.
struct CredentialOptions {
    static let userOptions = [
        OptionDescription(
            "user", "u", "USER[:PASSWORD]",
            "for servers that ask for a credential. The password is asked for now; other users may see it on a "
                + "command line"),
        OptionDescription(
            "password-file", nil, "FILE",
            "the password is the first line of FILE, which has mode 0600; '-' is standard input"),
    ].map { $0.section(.request) }
    static let netrcOptions = [
        OptionDescription(
            "netrc", "n", nil, "for servers that ask for a credential: take it from $NETRC or ~/.netrc, as curl does"),
        OptionDescription("netrc-file", nil, "FILE", "the same, but from FILE"),
        OptionDescription("netrc-optional", nil, nil, "the same as --netrc, but the file may be missing"),
    ].map { $0.section(.request) }
    /// The options in a command that refuses them.
    static let refused = (userOptions + netrcOptions).map(\.hidden)

    private let user: String?
    /// The password of the user. Nil if the command asks for it.
    private let password: String?
    private let netrc: NetrcFile?
    /// The option that has given the credentials.
    private let option: String

    init(_ arguments: Arguments) throws(CommandError) {
        let netrcOption = CredentialOptions.netrcOptions.map(\.name).first(where: arguments.has)
        if let netrcOption, arguments.has("user") { throw .usage("--user and --\(netrcOption) exclude each other") }
        if let option = netrcOption ?? (arguments.has("user") ? "user" : nil), arguments.value("credentials") == "fail"
        {
            throw .usage("--\(option) and --credentials fail exclude each other")
        }
        let words = arguments.value("user")?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        user = words.map { String($0[0]) }
        self.option = "--" + (netrcOption ?? "user")
        if user == "" { throw .usage("--user has no name; write --user NAME") }
        let file = arguments.value("password-file")
        if file != nil && words?.count != 1 { throw .usage("--password-file goes with --user that has no password") }
        password = if let file { try InputFile.password(file) } else { words?.dropFirst().first.map(String.init) }
        guard netrcOption != nil else {
            netrc = nil
            return
        }
        let path = if let file = arguments.value("netrc-file") { file } else { try NetrcFile.defaultPath() }
        netrc = try NetrcFile(path, isOptional: arguments.has("netrc-optional"))
    }

    /// Throws if one of the options is given to a command that ends before a server can ask.
    static func refuse(_ arguments: Arguments, for command: String) throws(CommandError) {
        guard let option = (userOptions + netrcOptions).first(where: { arguments.has($0.name) }) else { return }
        throw .usage(
            "`\(command)` ends before a server asks for a credential, so it takes no --\(option.name); `backhaul wait "
                + "--netrc` gives the credential later, or `backhaul respond CHALLENGE --user NAME` when a server has "
                + "asked")
    }

    /// The credentials of the options. Asks for the password at the terminal, if it is not given.
    func credentials(_ signals: Signals) throws(CommandError) -> GivenCredentials {
        guard let user else { return GivenCredentials(user: nil, netrc: netrc, option: option) }
        let password = if let password { password } else { try Prompt.password(of: user, signals) }
        return GivenCredentials(user: (user, password), netrc: nil, option: option)
    }
}

/// Credentials that the user has given before a server asks for one.
struct GivenCredentials {
    static let none = GivenCredentials(user: nil, netrc: nil, option: "--user")

    let user: (name: String, password: String)?
    let netrc: NetrcFile?
    /// The option that has given the credentials, for notes.
    let option: String

    var isEmpty: Bool { user == nil && netrc == nil }

    /// The users whose names the command sends to the servers of these URLs, if the servers ask.
    func users(for urls: [String]) -> [String] {
        if let user { return [user.name] }
        let hosts = Set(urls.map { GivenCredentials.host(of: ConcernedChallenges.origin(of: $0)) })
        return Set(hosts.compactMap { netrc?.credential(for: $0)?.user }).sorted()
    }

    /// The response to a challenge of a server. Nil if there is no credential for this server.
    func response(to challenge: Challenge) -> ChallengeResponse? {
        guard !challenge.isRefresh, !challenge.isProxy, challenge.takesPassword else { return nil }
        if let user { return .credential(user: user.name, password: user.password) }
        let host = GivenCredentials.host(of: challenge.origin)
        return netrc?.credential(for: host).map { .credential(user: $0.user, password: $0.password) }
    }

    /// The host of an origin such as "https://example.org:443" or "https://[::1]:443".
    private static func host(of origin: String) -> String {
        let server = TransferName.host(of: origin)
        if server.hasPrefix("[") { return String(server.dropFirst().prefix { $0 != "]" }) }
        return String(server.prefix { $0 != ":" })
    }
}
