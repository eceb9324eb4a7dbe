/// An option of a command, for getopt and for the help.
struct OptionDescription {
    let name: String
    /// The one-letter form of the option, if it has one.
    let letter: Character?
    /// The word for the option's argument in the help; nil if the option has no argument.
    let argument: String?
    /// What the argument can be. Nil if the option has no argument.
    let value: OptionValue?
    private(set) var help: String
    /// Whether the help lists the option. A command refuses an option that is not listed, and states what to use
    /// instead, or accepts it as another program's word for what it does anyway.
    private(set) var isShown: Bool
    /// The group of options in the help.
    private(set) var section = OptionSection.main

    /// - Parameters:
    ///   - kind: The kind of the argument, if the word for the argument does not name it.
    ///   - words: The words of which the argument is a list.
    init(
        _ name: String, _ letter: Character? = nil, _ argument: String? = nil, _ help: String,
        kind: ValueKind? = nil, words: [String] = [], isShown: Bool = true
    ) {
        self.name = name
        self.isShown = isShown
        self.letter = letter
        self.argument = argument
        self.help = help
        value = argument.map { OptionValue($0, kind: kind, words: words) }
    }

    /// The same option, for a command that refuses it.
    var hidden: OptionDescription {
        var copy = self
        copy.isShown = false
        return copy
    }

    func described(_ help: String) -> OptionDescription {
        var copy = self
        copy.help = help
        return copy
    }

    func section(_ section: OptionSection) -> OptionDescription {
        var copy = self
        copy.section = section
        return copy
    }

    /// The option as the help shows it, such as "-o, --output FILE".
    var synopsis: String {
        let letterPart = letter.map { "-\($0), " } ?? "    "
        return letterPart + "--" + name + (argument.map { " " + $0 } ?? "")
    }

    static let common = [
        OptionDescription(
            "store", nil, "DIRECTORY",
            "the store's directory ($BACKHAUL_STORE, $XDG_STATE_HOME/backhaul or ~/.local/state/backhaul)"),
        OptionDescription("session", nil, "NAME", "the session (default)", kind: .session),
        OptionDescription(
            "application", nil, "NAME", "the application that the session belongs to (backhaul)", kind: .application),
        OptionDescription(
            "embedded", nil, nil, "transfer in this process, and only while it runs, instead of in the daemon"),
        OptionDescription("daemon", nil, "FILE", "the daemon's program (backhauld of this installation)"),
        OptionDescription("json", nil, nil, "write JSON, one line for each item"),
        OptionDescription("quiet", "q", nil, "show no progress and no notes"),
        ConfigurationFile.option,
        OptionDescription("help", "h", nil, "show this help"),
    ]

    static let version = OptionDescription("version", "V", nil, "show the version of the library")
}

/// A group of options in the help.
enum OptionSection: CaseIterable {
    case main, other, request, body, start, constraints, retry, http, rates, proxy, tls, session, variant, common

    var title: String {
        switch self {
        case .main: "Options"
        case .other: "Other options"
        case .request: "The request"
        case .body: "The request's body"
        case .start: "When it starts"
        case .constraints: "Conditions under which it runs"
        case .retry: "Retries"
        case .http: "Limits and rules of HTTP"
        case .rates: "Rates and connections"
        case .proxy: "The proxy"
        case .tls: "TLS"
        case .session: "The session"
        case .variant: "Options with which these transfers run in a session of their own"
        case .common: "Options of every command"
        }
    }
}
