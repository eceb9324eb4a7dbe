import Backhaul

/// The command `respond`: responds to a challenge. A challenge demands a credential, new headers or a new URL.
struct Respond: DescribedCommand {
    static let description = CommandDescription(
        name: "respond", operands: "CHALLENGE", summary: "give a credential to a server that asks for it",
        examples: [
            "backhaul respond 3 --user ann", "backhaul respond 3 --header-file ~/.config/example-token",
            "backhaul respond 3 --refuse",
        ],
        options: [
            OptionDescription(
                "user", "u", "NAME", "send this user name, and a password that is asked for at the terminal"),
            OptionDescription(
                "password-file", nil, "FILE",
                "the password is the first line of FILE, which has mode 0600; '-' is standard input"),
            OptionDescription(
                "header", "H", "'NAME: VALUE'",
                "send this header instead; may be repeated. Other users may see a command line: see --header-file"),
            OptionDescription("header-file", nil, "FILE", "the same, one a line; '-' is standard input"),
            OptionDescription("negotiate", nil, nil, "use your own Kerberos ticket"),
            OptionDescription("url", nil, "URL", "the new URL of a transfer whose URL expired"),
            OptionDescription("refuse", nil, nil, "give no credential; the transfers that wait for it fail"),
            OptionDescription(
                "default", nil, nil,
                "continue without a credential: 401 and 407 end the transfers; expired requests are sent unchanged"),
            OptionDescription("keep", nil, nil, "keep the credential in the store, too (mode 0600)"),
            OptionDescription("expires-in", nil, "SECONDS", "ask again before requests that start after this time"),
        ],
        details: """
            The credential is kept in the daemon's memory only, unless --keep is given: after a restart of the daemon it
            is asked for again. With --json one document: {"challenge_id": NUMBER}.
            """)

    private let challenge: ChallengeID
    private let user: String?
    /// The password that `--password-file` gives.
    private let password: String?
    /// The response that the options give. Nil if the response is a user name with a password. If no option names a
    /// file with the password, the command prompts for the password.
    private let given: ChallengeResponse?
    private let isKept: Bool
    private let expires: Int64?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count == 1, let id = UInt64(arguments.operands[0]), id > 0 else {
            throw .usage("`respond` takes the number of a challenge; `backhaul challenges` shows them")
        }
        challenge = ChallengeID(rawValue: id)
        user = arguments.value("user")
        let passwordFile = arguments.value("password-file")
        if passwordFile != nil && user == nil { throw .usage("--password-file goes with --user") }
        var headers: [Header] = []
        for text in arguments.all("header") { headers.append(try InputFile.header(text)) }
        for file in arguments.all("header-file") { headers += try InputFile.headers(file) }
        var responses: [ChallengeResponse] = headers.isEmpty ? [] : [.headers(headers)]
        if arguments.has("negotiate") { responses.append(.credential(user: "", password: "")) }
        if let url = arguments.value("url") { responses.append(.url(url)) }
        if arguments.has("refuse") { responses.append(.refuse) }
        if arguments.has("default") { responses.append(.defaultHandling) }
        guard responses.count == (user == nil ? 1 : 0) else {
            throw .usage(
                "`respond` takes one of --user, --header or --header-file, --negotiate, --url, --refuse and --default")
        }
        password = try passwordFile.map { file throws(CommandError) in try InputFile.password(file) }
        given = responses.first
        isKept = arguments.has("keep")
        expires = try arguments.futureTime(after: "expires-in")
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        // The prompt comes before the store is opened, because the user may need a long time to reply. A challenge that
        // does not exist needs no prompt.
        if given == nil && password == nil {
            _ = try context.withApplication { (application) throws(CommandError) in
                _ = try session(application, context, role: .observe)
                return .done
            }
        }
        let response = try response(context.signals)
        return try context.withApplication { (application) throws(CommandError) in
            let session = try session(application, context, role: .produce)
            let waiting = try session.run(.challenges).first { $0.id == challenge }?.waitingTasks ?? 0
            try session.run(
                .respond(challenge, response, isKept: isKept, expiresMilliseconds: expires))
            if context.output.isJSON {
                try context.output.result(.object([("challenge_id", .id(challenge))]))
            } else {
                context.output.note(Respond.sentence(response, waiting: Int(clamping: waiting)))
            }
            return .done
        }
    }

    /// Opens the session or variant that has the challenge.
    private func session(
        _ application: Application, _ context: Context, role: Role
    ) throws(CommandError) -> Session {
        var isThere = false
        let session = try context.attach(application, role: role) { (session) throws(CommandError) in
            isThere = try session.run(.challenges).contains { $0.id == challenge }
            return isThere
        }
        guard isThere else {
            throw .stopped(
                .notFound, "there is no open challenge \(challenge); `backhaul challenges` lists the open ones")
        }
        return session
    }

    private static func sentence(_ response: ChallengeResponse, waiting: Int) -> String {
        let count = Text.count(waiting, "transfer")
        if case .defaultHandling = response {
            return "Done; \(count) \(waiting == 1 ? "goes" : "go") on without a credential."
        }
        if case .refuse = response {
            return "Refused; \(count) that waited for it \(waiting == 1 ? "fails" : "fail")."
        }
        return "Done; \(count) \(waiting == 1 ? "is" : "are") retried. If the server rejects the credential, there "
            + "is a new challenge with another number: `backhaul challenges` lists it."
    }

    private func response(_ signals: Signals) throws(CommandError) -> ChallengeResponse {
        if let given { return given }
        let password = if let password { password } else { try Prompt.password(of: user ?? "", signals) }
        return .credential(user: user ?? "", password: password)
    }
}
