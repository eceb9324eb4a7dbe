/// An option as getopt and the help show it.
struct OptionDescription {
    let name: String
    /// The one-letter form, if there is one.
    let letter: Character?
    /// The word for its argument in the help; nil when it takes none.
    let argument: String?
    let help: String
    /// False: known only to be refused with advice.
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

    /// "-o, --output FILE"
    var synopsis: String {
        let letterPart = letter.map { "-\($0), " } ?? "    "
        return letterPart + "--" + name + (argument.map { " " + $0 } ?? "")
    }

    static let common = [
        OptionDescription(
            "store", nil, "DIRECTORY",
            "where everything durable is ($BACKHAUL_STORE, $XDG_STATE_HOME/backhaul or ~/.local/state/backhaul)"),
        OptionDescription("session", "s", "NAME", "the session (default)"),
        OptionDescription("application", nil, "NAME", "the application that the session belongs to (backhaul)"),
        OptionDescription(
            "embedded", nil, nil, "transfer in this process, and only while it runs, instead of in the daemon"),
        OptionDescription("daemon", nil, "FILE", "the program of the daemon (found beside this one)"),
        OptionDescription("json", nil, nil, "write JSON, one document or line for each item"),
        OptionDescription("quiet", "q", nil, "no progress and no notes"),
        OptionDescription("help", "h", nil, "show this help"),
    ]
}
