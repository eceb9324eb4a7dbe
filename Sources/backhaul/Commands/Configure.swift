import Backhaul

/// The command `configure`: shows or changes the settings of a session.
struct Configure: DescribedCommand {
    static let description = CommandDescription(
        name: "configure", operands: "", summary: "show or change the settings of a session",
        examples: ["backhaul configure", "backhaul configure --proxy socks5h://127.0.0.1:9050 --limit-rate 1M"],
        options: [
            OptionDescription(
                "header", "H", "'NAME: VALUE'",
                "send this header with each request; replaces all headers of the session"),
            OptionDescription("header-file", nil, "FILE", "the same, one a line; '-' is standard input"),
            OptionDescription("no-headers", nil, nil, "remove all headers of the session"),
            resetOption,
        ] + Setting.options(Setting.transferSettings) + Setting.options(Setting.sessionSettings),
        details: """
            Without options the command shows the settings. The given options change the session, and create it if it
            does not exist; other settings stay. The value '' resets a setting to its default, and --reset does the
            same for options without a value. Passwords and the values of headers are never shown. With --json one
            document.
            """, storeUse: .makes)

    private static let resetOption = OptionDescription(
        "reset", nil, "OPTION,...", "set these options to their defaults, such as proxy,http2; all: every option")

    private let settings: SettingOptions
    private let headers: [Header]?
    private let resetsAll: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`configure` takes no arguments; name a session with --session")
        }
        var arguments = arguments
        let resets = arguments.all("reset").flatMap { $0.split(separator: ",").map(String.init) }
        resetsAll = resets.contains("all")
        for name in resets where name != "all" { arguments.reset(try Configure.option(name)) }
        settings = try SettingOptions(arguments, Setting.all)
        headers = try Configure.headers(arguments)
    }

    private static func option(_ name: String) throws(CommandError) -> OptionDescription {
        let options = description.options.filter { $0.name != resetOption.name }
        guard let option = options.first(where: { $0.name == name }) else {
            let nearest = Suggestion.nearest(to: name, among: options.map(\.name)).map { "; did you mean '\($0)'?" }
            throw .usage(
                "--reset takes names of options without '--', such as proxy, or all; not '\(name)'" + (nearest ?? ""))
        }
        return option
    }

    /// The new headers of the session. Nil if they do not change.
    private static func headers(_ arguments: Arguments) throws(CommandError) -> [Header]? {
        guard ["header", "header-file", "no-headers"].contains(where: arguments.changes) else { return nil }
        var headers: [Header] = []
        for text in arguments.all("header") where !text.isEmpty { headers.append(try InputFile.header(text)) }
        for file in arguments.all("header-file") where !file.isEmpty { headers += try InputFile.headers(file) }
        guard headers.isEmpty || !arguments.has("no-headers") else {
            throw .usage("--no-headers and --header exclude each other")
        }
        return headers
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let settings = SessionSettings(
                identifier: context.sessionName, options: settings, headers: headers, resetsAll: resetsAll)
            let attached: Session
            if settings.hasChanges {
                attached = try application.create(settings, role: .produce)
            } else {
                guard let found = try context.attach(application, role: .observe) else { return .done }
                attached = found
            }
            if settings.hasChanges && context.output.isQuiet { return .done }
            let configuration = try attached.configuration()
            if context.output.isJSON {
                try context.output.result(configuration.json)
            } else {
                try context.output.result(
                    lines: Setting.all.compactMap { $0.listed(configuration) }.map {
                        Text.padded($0.name + ":", columns: 32) + Text.visible($0.value)
                    })
            }
            return .done
        }
    }
}
