/// An option of a command, for getopt and for the help.
struct OptionDescription {
    let name: String
    /// The one-letter form of the option, if it has one.
    let letter: Character?
    /// The word for the option's argument in the help; nil if the option has no argument.
    let argument: String?
    let help: String
    /// Whether the help lists the option. If the user gives an option that is not listed, the command refuses it and
    /// states what to use instead.
    let isShown: Bool

    init(
        _ name: String, _ letter: Character? = nil, _ argument: String? = nil, _ help: String, isShown: Bool = true
    ) {
        self.name = name
        self.isShown = isShown
        self.letter = letter
        self.argument = argument
        self.help = help
    }

    /// The same option, for a command that refuses it.
    var hidden: OptionDescription { OptionDescription(name, letter, argument, help, isShown: false) }

    /// The option as the help shows it, such as "-o, --output FILE".
    var synopsis: String {
        let letterPart = letter.map { "-\($0), " } ?? "    "
        return letterPart + "--" + name + (argument.map { " " + $0 } ?? "")
    }

    static let common = [
        OptionDescription(
            "store", nil, "DIRECTORY",
            "the store's directory ($BACKHAUL_STORE, $XDG_STATE_HOME/backhaul or ~/.local/state/backhaul)"),
        OptionDescription("session", "s", "NAME", "the session (default)"),
        OptionDescription("application", nil, "NAME", "the application that the session belongs to (backhaul)"),
        OptionDescription(
            "embedded", nil, nil, "transfer in this process, and only while it runs, instead of in the daemon"),
        OptionDescription("daemon", nil, "FILE", "the daemon's program (backhauld of this installation)"),
        OptionDescription("json", nil, nil, "write JSON, one line for each item"),
        OptionDescription("quiet", "q", nil, "show no progress and no notes"),
        OptionDescription("help", "h", nil, "show this help"),
    ]
}
