/// The properties of a command, and the texts with which the help describes the command.
struct CommandDescription {
    let name: String
    /// The arguments after the options, such as "URL...".
    let operands: String
    let summary: String
    let examples: [String]
    /// The names of the options with which the help begins. Empty means all options that are in no other section.
    var mainOptions: [String] = []
    var options: [OptionDescription] = []
    /// Options for settings of a session that apply only to the transfers of the command (`SessionVariant`).
    var variantOptions: [OptionDescription] = []
    /// Paragraphs below the options, if any.
    var details = ""
    /// Whether the command acts as a host of the application. While such a command runs, the engine does not launch the
    /// application's registered program. While one of the other commands runs, the engine may launch this program.
    var isHost = false
    var storeUse = StoreUse.needs
    /// Whether the command concerns one session.
    var usesSession = true
    /// What the command lists if no option limits it.
    var listing = Listing.one
    /// Whether the operands are a program and its arguments. If so, all words after the first operand are operands,
    /// including words that begin with a hyphen.
    var takesProgram = false

    var allOptions: [OptionDescription] { OptionDescription.common + options + variantOptions }

    /// The options of the help, in its order.
    var sections: [(section: OptionSection, options: [OptionDescription])] {
        let shown = options.filter(\.isShown)
        let first = mainOptions.compactMap { name in shown.first { $0.name == name } }
        let own = OptionSection.allCases.map { section in
            (section, shown.filter { $0.section == section && !mainOptions.contains($0.name) })
        }
        let others: [(OptionSection, [OptionDescription])] = [
            (.variant, variantOptions.filter(\.isShown)), (.common, OptionDescription.common.map(listing.described)),
        ]
        return ([(.main, first)] + own.map { ($0 == .main && !first.isEmpty ? .other : $0, $1) } + others)
            .filter { !$0.1.isEmpty }
    }

    var operandGrammar: OperandGrammar { OperandGrammar(operands) }
}

/// What a command lists without `--session` and `--application`.
enum Listing {
    /// The session of the command, or nothing.
    case one
    /// All sessions of all applications. `--session` does not limit the list.
    case applications
    /// All sessions of all applications.
    case sessions

    /// The option as the help of the command describes it.
    func described(_ option: OptionDescription) -> OptionDescription {
        switch (self, option.name) {
        case (.sessions, "session"): option.described("only sessions with this name, and their variants (all sessions)")
        case (.sessions, "application"), (.applications, "application"):
            option.described("only this application (all applications)")
        default: option
        }
    }
}

/// What a command does if the store does not exist.
enum StoreUse {
    /// The command creates the store.
    case makes
    /// The command lists nothing and succeeds. If the user gave `--session`, the command fails.
    case lists
    /// The command fails, because its task or session does not exist.
    case needs
}

/// A command with its parsed arguments.
protocol Command {
    func run(_ context: Context) throws(CommandError) -> ExitCode
}

/// A command such as `get`. Its initializer checks the arguments, before the store is opened.
protocol DescribedCommand: Command, SendableMetatype {
    static var description: CommandDescription { get }
    init(_ arguments: Arguments) throws(CommandError)
}

/// A command by its name in the command line.
struct CommandEntry: Sendable {
    private let describe: @Sendable () -> CommandDescription
    var description: CommandDescription { describe() }
    /// Checks the arguments, before the store is opened.
    let parse: @Sendable (Arguments) throws(CommandError) -> any Command

    init(
        description: @autoclosure @escaping @Sendable () -> CommandDescription,
        parse: @escaping @Sendable (Arguments) throws(CommandError) -> any Command
    ) {
        describe = description
        self.parse = parse
    }

    fileprivate init<Described: DescribedCommand>(_: Described.Type) {
        self.init(description: Described.description) { (arguments) throws(CommandError) in
            try Described(arguments)
        }
    }
}

enum Commands {
    static let all: [CommandEntry] =
        [
            CommandEntry(Get.self), CommandEntry(Put.self), CommandEntry(Add.self), CommandEntry(Wait.self),
            CommandEntry(LiveScreen.self), CommandEntry(Tasks.self), CommandEntry(Why.self), CommandEntry(Info.self),
            CommandEntry(Attempts.self), CommandEntry(History.self), CommandEntry(Report.self),
            CommandEntry(Events.self), CommandEntry(Sessions.self), CommandEntry(Applications.self),
            CommandEntry(Configure.self),
            CommandEntry(Conditions.self), CommandEntry(Networks.self), CommandEntry(Activities.self),
            CommandEntry(Limits.self), CommandEntry(Metrics.self), Control.cancel, Control.suspend, Control.resume,
            Control.priority, Control.rate, CommandEntry(Constrain.self), CommandEntry(Reschedule.self),
            CommandEntry(Claim.self), CommandEntry(Challenges.self), CommandEntry(Respond.self),
            CommandEntry(Launches.self), CommandEntry(Register.self), CommandEntry(Unregister.self),
            CommandEntry(Complete.self), CommandEntry(Service.self), CommandEntry(Desktop.self),
            CommandEntry(Doctor.self),
        ] + fleet

    #if FLEET
    private static let fleet = [CommandEntry(Fleet.self), CommandEntry(FleetWorker.self)]
    #else
    private static let fleet: [CommandEntry] = []
    #endif

    static func named(_ name: String) -> CommandEntry? { all.first { $0.description.name == name } }
}
