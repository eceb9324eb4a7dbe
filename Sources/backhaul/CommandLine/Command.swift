/// What the help tells about a command.
struct CommandDescription {
    let name: String
    /// What stands after the options, as "URL...".
    let operands: String
    let summary: String
    let examples: [String]
    var options: [OptionDescription] = []
    /// Those that are remembered with the session.
    var sessionOptions: [OptionDescription] = []
    /// Paragraphs below the options, if any.
    var details = ""
    /// Whether it acts for the application: the application is told instead of launched while such a command runs.
    /// All others look on.
    var isHost = false
    var storeUse = StoreUse.needs
    /// Whether it is about one session.
    var usesSession = true
    /// Whether its operands are a program and its arguments, so that options end where they begin.
    var takesProgram = false
}

/// What a command does where there is no store.
enum StoreUse {
    /// Makes it.
    case makes
    /// Has nothing to list, unless the session was named.
    case lists
    /// Does not find what it is about.
    case needs
}

/// One command: takes its arguments apart before anything is opened, then does its work.
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
