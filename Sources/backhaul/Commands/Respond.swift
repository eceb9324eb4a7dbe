import CBackhaul

struct Respond: Command {
    static let description = CommandDescription(
        name: "respond", operands: "CHALLENGE", summary: "answer a server that asks for a credential",
        examples: [
            "backhaul respond 3 --user ann", "backhaul respond 3 --header-file ~/.config/example-token",
            "backhaul respond 3 --refuse",
        ],
        options: [
            OptionDescription("user", "u", "NAME", "with a password, which is asked for on the terminal"),
            OptionDescription(
                "password-file", nil, "FILE", "the password is the first line of FILE; '-' is standard input"),
            OptionDescription(
                "header", "H", "'NAME: VALUE'",
                "send this header instead; may be repeated. Other users may see a command line: see --header-file"),
            OptionDescription("header-file", nil, "FILE", "the same, one a line; '-' is standard input"),
            OptionDescription("negotiate", nil, nil, "with the user's own Kerberos ticket"),
            OptionDescription("url", nil, "URL", "the new URL of a transfer that needs one"),
            OptionDescription("refuse", nil, nil, "the transfers that wait for it fail"),
            OptionDescription(
                "default", nil, nil, "go on without: they end as their status says, or are sent as they are"),
            OptionDescription("keep", nil, nil, "keep the answer in the store, too (mode 0600)"),
            OptionDescription("expires-in", nil, "SECONDS", "ask again before a request that starts later"),
        ],
        details: """
            The answer is kept in memory only, and is asked for again when the daemon was started anew, unless --keep
            is given. With --json one document: {"challenge_id": NUMBER}.
            """)

    private let challenge: UInt64
    private let user: String?
    private let passwordFile: String?
    /// Nil: the user's password.
    private let given: Response.Kind?
    private let isKept: Bool
    private let expires: Int64?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count == 1, let id = UInt64(arguments.operands[0]), id > 0 else {
            throw .usage("`respond` takes the number of a challenge; `backhaul challenges` shows them.")
        }
        challenge = id
        user = arguments.value("user")
        passwordFile = arguments.value("password-file")
        if passwordFile != nil && user == nil { throw .usage("--password-file goes with --user.") }
        var headers: [(name: String, value: String)] = []
        for text in arguments.all("header") { headers.append(try InputFile.header(text)) }
        for file in arguments.all("header-file") { headers += try InputFile.headers(file) }
        var ways: [Response.Kind] = headers.isEmpty ? [] : [.headers(headers)]
        if arguments.has("negotiate") { ways.append(.password(user: "", password: "")) }
        if let url = arguments.value("url") { ways.append(.url(url)) }
        if arguments.has("refuse") { ways.append(.refuse) }
        if arguments.has("default") { ways.append(.goOnWithout) }
        guard ways.count == (user == nil ? 1 : 0) else {
            throw .usage(
                "`respond` takes one of --user, --header or --header-file, --negotiate, --url, --refuse and --default.")
        }
        given = ways.first
        isKept = arguments.has("keep")
        expires = try arguments.futureTime(after: "expires-in")
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        // Before anything is opened: a person may take long.
        let response = try response(context.signals)
        return try context.withApplication { (application) throws(CommandError) in
            let session = try application.attach(context.sessionName, role: BH_ROLE_PRODUCE)
            // Gone by then: the library says why.
            let waiting = try session.challenges().first { $0.id == challenge }?.waitingTasks ?? 0
            try session.respond(challenge, response)
            if context.output.isJSON {
                try context.output.result(.object([("challenge_id", .unsigned(challenge))]))
            } else {
                context.output.note(Respond.sentence(response, waiting: Int(clamping: waiting)))
            }
            return .done
        }
    }

    private static func sentence(_ response: Response, waiting: Int) -> String {
        let count = Text.count(waiting, "transfer")
        if case .goOnWithout = response.kind {
            return "Answered; \(count) \(waiting == 1 ? "goes" : "go") on without a credential."
        }
        if case .refuse = response.kind {
            return "Refused; \(count) that waited for it \(waiting == 1 ? "fails" : "fail")."
        }
        return "Answered; \(count) \(waiting == 1 ? "is" : "are") tried again. A server that does not take it asks "
            + "anew, under another number: `backhaul challenges` shows it."
    }

    private func response(_ signals: Signals) throws(CommandError) -> Response {
        if let given { return Response(kind: given, isKept: isKept, expires: expires) }
        let password = try password(signals)
        return Response(kind: .password(user: user ?? "", password: password), isKept: isKept, expires: expires)
    }

    private func password(_ signals: Signals) throws(CommandError) -> String {
        if let passwordFile { return try InputFile.firstLine(passwordFile) }
        guard let prompt = Prompt() else {
            throw .usage("There is no terminal to ask for the password on; give --password-file.")
        }
        defer { prompt.end() }
        guard let password = try prompt.ask("Password of \(user ?? ""): ", isSecret: true, signals) else {
            throw .usage("No password was given.")
        }
        return password
    }
}
