/// The properties of a command, and the texts with which the help describes the command.
struct CommandDescription {
    let name: String
    /// The arguments after the options, such as "URL...".
    let operands: String
    let summary: String
    let examples: [String]
    var options: [OptionDescription] = []
    /// Options for settings of the session, a named collection of transfers.
    var sessionOptions: [OptionDescription] = []
    /// Options for settings of a session that apply only to the transfers of the command (`SessionVariant`).
    var variantOptions: [OptionDescription] = []
    /// Paragraphs below the options, if any.
    var details = ""
    /// Whether the command acts as a host of the application. A host is a program that embeds the library. While such a
    /// command runs, the engine (the process that runs the transfers) does not launch the application's registered
    /// program. While one of the other commands runs, the engine may launch this program.
    var isHost = false
    var storeUse = StoreUse.needs
    /// Whether the command concerns one session.
    var usesSession = true
    /// Whether the operands are a program and its arguments. If so, all words after the first operand are operands,
    /// including words that begin with a hyphen.
    var takesProgram = false

    var allOptions: [OptionDescription] {
        OptionDescription.common + options + sessionOptions + variantOptions
    }
}

/// What a command does if the store, the directory with all data, does not exist.
enum StoreUse {
    /// The command creates the store.
    case makes
    /// The command lists nothing and succeeds. If the user gave `--session`, the command fails.
    case lists
    /// The command fails, because its task or session does not exist.
    case needs
}

/// A command such as `get`. Its initializer checks the arguments, before the store is opened.
protocol Command {
    static var description: CommandDescription { get }
    init(_ arguments: Arguments) throws(CommandError)
    func run(_ context: Context) throws(CommandError) -> ExitCode
}

enum Commands {
    static var all: [any Command.Type] {
        [
            Get.self, Put.self, Add.self, Wait.self, Tasks.self, Why.self, Info.self, Attempts.self, History.self,
            Events.self, Sessions.self, Configure.self, Conditions.self, Networks.self, Activities.self, Limits.self,
            Cancel.self, Suspend.self, Resume.self, Priority.self, Rate.self, Constrain.self, Reschedule.self,
            Claim.self, Challenges.self, Respond.self, Launches.self, Register.self, Unregister.self, Complete.self,
            Service.self, Doctor.self,
        ]
    }

    static func named(_ name: String) -> (any Command.Type)? { all.first { $0.description.name == name } }
}
