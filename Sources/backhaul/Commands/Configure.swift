import CBackhaul

/// The command `configure`: shows or changes the settings of a session, a named collection of transfers.
struct Configure: Command {
    static let description = CommandDescription(
        name: "configure", operands: "", summary: "show or change the settings of a session",
        examples: ["backhaul configure", "backhaul configure --proxy socks5h://127.0.0.1:9050 --limit-rate 1M"],
        options: [
            OptionDescription(
                "header", "H", "'NAME: VALUE'",
                "send this header with each request; replaces all headers of the session"),
            OptionDescription("header-file", nil, "FILE", "the same, one a line; '-' is standard input"),
            OptionDescription("no-headers", nil, nil, "remove all headers of the session"),
        ] + PolicyOptions.descriptions,
        sessionOptions: SessionOptions.descriptions,
        details: """
            Without options the command shows the settings. The given options change the session, and create it if it
            does not exist; other settings stay. '' resets a text to its default, and 0 resets a limit. Passwords and
            the values of headers are never shown. With --json one document.
            """, storeUse: .makes)

    private let session: SessionOptions
    private let policy: PolicyOptions
    private let headers: [(name: String, value: String)]?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`configure` takes no arguments; name a session with --session.")
        }
        session = try SessionOptions(arguments)
        policy = try PolicyOptions(arguments)
        var headers: [(name: String, value: String)] = []
        for text in arguments.all("header") { headers.append(try InputFile.header(text)) }
        for file in arguments.all("header-file") { headers += try InputFile.headers(file) }
        if arguments.has("no-headers") && !headers.isEmpty {
            throw .usage("--no-headers and --header exclude each other.")
        }
        self.headers = headers.isEmpty && !arguments.has("no-headers") ? nil : headers
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let settings = SessionSettings(
                identifier: context.sessionName, options: session, policy: policy, headers: headers)
            let attached: Session
            if settings.hasChanges {
                attached = try application.create(settings, role: BH_ROLE_PRODUCE)
            } else {
                guard let found = try context.attach(application, role: BH_ROLE_OBSERVE) else { return .done }
                attached = found
            }
            let configuration = try attached.configuration()
            if context.output.isJSON {
                try context.output.result(configuration.json)
            } else {
                try context.output.result(
                    lines: configuration.json.lines.map { Text.padded($0.0 + ":", columns: 45) + Text.visible($0.1) })
            }
            return .done
        }
    }
}
