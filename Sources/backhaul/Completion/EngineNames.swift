import Backhaul

/// The names and numbers that the running engine of the store knows, each with a description.
struct EngineNames {
    private let context: Context
    private let application: Application

    /// Throws if no engine runs. Does not start one, and does not create a store.
    init(_ arguments: Arguments, _ command: CommandDescription?) throws(CommandError) {
        guard let command = command ?? Commands.named("tasks")?.description else { throw .usage("there is no command") }
        var arguments = arguments
        try ConfigurationFile.addDefaults(to: &arguments, of: command)
        let signals = Signals()
        context = try Context(arguments, command, output: Output(isJSON: false, isQuiet: true), signals: signals)
        let store = try context.storePath(making: false)
        guard StoreLock.isHeld(in: store) else { throw .stopped(.storeUnusable, "no engine runs") }
        application = try Application(observing: store, identifier: context.applicationName, signals: signals)
        // The process exits soon, so the connection needs no orderly end.
        application.leaveOpen()
    }

    /// The most tasks that are listed. A person does not find a task in a longer list.
    private static let mostTasks = 500

    func all(_ kind: ValueKind) throws(CommandError) -> [(String, String)] {
        switch kind {
        case .session:
            return try application.run(.sessions).map { ($0.identifier, Text.count(Int($0.liveTasks), "transfer")) }
        case .application:
            return try application.run(.applications).map { ($0.identifier, Text.count(Int($0.liveTasks), "transfer")) }
        case .network: return try application.run(.networks).map { ($0.name, "") }
        case .task: return try tasks().map { ("\($0.id)", "\($0.state.word) \($0.url)") }
        case .group: return unique(try tasks().compactMap { task in task.group.map { ($0, "") } })
        case .challenge:
            return try inSessions { (session) throws(CommandError) in
                try session.run(.challenges).map { ("\($0.id)", $0.sentence) }
            }
        case .activity:
            return try inSessions { (session) throws(CommandError) in
                try session.run(.activities).map { ($0.identifier, $0.url ?? "") }
            }
        default: return []
        }
    }

    private func tasks() throws(CommandError) -> [TaskInfo] {
        try inSessions { (session) throws(CommandError) in try session.tasks(maximum: EngineNames.mostTasks) }
    }

    /// The results of `body` for the session of the command and its variants.
    private func inSessions<Result>(
        _ body: (Session) throws(CommandError) -> [Result]
    ) throws(CommandError) -> [Result] {
        var results: [Result] = []
        try context.forEachSession(application, role: .observe) { (session) throws(CommandError) in
            results += try body(session)
        }
        return results
    }

    private func unique(_ names: [(String, String)]) -> [(String, String)] {
        var known: Set<String> = []
        return names.filter { known.insert($0.0).inserted }
    }
}
