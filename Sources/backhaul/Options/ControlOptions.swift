import Backhaul

/// The selection of tasks in commands that control tasks, such as `cancel`, `suspend` and `resume`.
struct ControlOptions {
    static let operands = "TASK... | --group NAME | --all"
    static let descriptions = [
        OptionDescription("all", nil, nil, "all transfers of the session"),
        OptionDescription("group", nil, "NAME", "all transfers of this group", kind: .group),
    ]
    static let details = """
        Transfers that have ended, or are in this state already, are skipped. An ended transfer whose event was
        acknowledged is no task of the session any more: its number ends the command with 3. With --json one document:
        {"affected": NUMBER}.
        """

    private let ids: [TaskID]
    private let group: String?

    /// - Parameter operands: The operands that are numbers of tasks. Nil means all operands.
    init(_ arguments: Arguments, _ name: String, operands: ArraySlice<String>? = nil) throws(CommandError) {
        ids = try arguments.taskIDs(operands)
        group = arguments.value("group")
        guard [!ids.isEmpty, arguments.has("all"), group != nil].filter({ $0 }).count == 1 else {
            throw .usage(
                "`\(name)` takes either the numbers of tasks (`backhaul tasks` shows them), or --group, or --all")
        }
    }

    var selection: TaskSelection { TaskSelection(ids: ids.isEmpty ? nil : ids, group: group) }

    /// - Parameters:
    ///   - participle: The word for the changed tasks, such as "cancelled".
    ///   - verb: The verb that changes the selected tasks.
    func run(
        _ participle: String, _ context: Context,
        _ verb: (TaskSelection) throws(BackhaulError) -> Verb<Backhaul.Session, UInt64>
    ) throws(CommandError) -> ExitCode {
        try run(participle, context) { (session, _) throws(CommandError) in
            Change(affected: try session.run(try verb(selection)))
        }
    }

    /// The result of a control command.
    struct Change {
        /// The number of changed tasks.
        var affected: UInt64
        /// The number of selected tasks that are running. Nil if the command does not report this number.
        var running: Int?
        /// A sentence about the running tasks.
        var remark: String?

        fileprivate mutating func add(_ other: Change) {
            affected += other.affected
            running = running == nil && other.running == nil ? nil : (running ?? 0) + (other.running ?? 0)
            let remarks = [remark, other.remark].compactMap { $0 }
            remark = remarks.isEmpty ? nil : remarks.joined(separator: " ")
        }
    }

    /// The session of the command and its variants, if they have selected tasks. Each session comes with those of its
    /// tasks that the operands name.
    private func sessions(
        _ application: Application, _ context: Context
    ) throws(CommandError) -> [(Session, named: [TaskInfo])] {
        var sessions: [(Session, named: [TaskInfo])] = []
        var missing = Set(ids)
        try context.forEachSession(application, role: .produce) { (session) throws(CommandError) in
            var named: [TaskInfo] = []
            if !ids.isEmpty {
                try session.forEachPage(TaskSelection(ids: ids)) {
                    named += $0; return true
                }
            }
            missing.subtract(named.map { $0.id })
            if ids.isEmpty || !named.isEmpty { sessions.append((session, named)) }
        }
        // The engine, which runs the tasks, ignores a number that no task has. Here such a number is an error, because
        // the user typed it. The call reports the error of the engine.
        if let id = missing.min() { _ = try application.attach(context.sessionName, role: .observe).task(id) }
        if sessions.isEmpty { _ = try application.attach(context.sessionName, role: .observe) }
        return sessions
    }

    /// - Parameter control: The function that performs the command. It gets the session, and the tasks that the
    ///   operands name.
    func run(
        _ participle: String, _ context: Context,
        _ control: (Session, [TaskInfo]) throws(CommandError) -> Change
    ) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let sessions = try sessions(application, context)
            var change = Change(affected: 0)
            for (session, named) in sessions { change.add(try control(session, named)) }
            if context.output.isJSON {
                let running: [(String, JSON)] = change.running.map { [("running", .unsigned(UInt64($0)))] } ?? []
                try context.output.result(.object([("affected", .unsigned(change.affected))] + running))
            } else {
                let sentence = "\(Text.count(Int(clamping: change.affected), "transfer")) \(participle)."
                context.output.note([sentence, change.remark].compactMap { $0 }.joined(separator: " "))
            }
            return .done
        }
    }
}
