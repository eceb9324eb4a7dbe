import CBackhaul

/// What `cancel`, `suspend` and `resume` share.
struct ControlOptions {
    static let operands = "TASK... | --group NAME | --all"
    static let descriptions = [
        OptionDescription("all", nil, nil, "all transfers of the session"),
        OptionDescription("group", nil, "NAME", "all transfers of this group"),
    ]
    static let details = """
        Transfers that have ended or already are so are passed over. With --json one document: {"affected": NUMBER}.
        """

    private let ids: [UInt64]
    private let group: String?

    /// - Parameter operands: Those that are numbers of tasks.
    init(_ arguments: Arguments, _ name: String, operands: ArraySlice<String>? = nil) throws(CommandError) {
        ids = try arguments.taskIDs(operands)
        group = arguments.value("group")
        guard [!ids.isEmpty, arguments.has("all"), group != nil].filter({ $0 }).count == 1 else {
            throw .usage(
                "`\(name)` takes either the numbers of tasks (`backhaul tasks` shows them), or --group, or --all.")
        }
    }

    var selection: TaskSelection { TaskSelection(ids: ids, group: group) }

    func run(_ control: Session.Control, _ participle: String, _ context: Context) throws(CommandError) -> ExitCode {
        try run(participle, context) { (session, _) throws(CommandError) in
            Change(affected: try session.control(control, selection))
        }
    }

    /// What a control has done.
    struct Change {
        /// How many transfers have changed.
        var affected: UInt64
        /// How many of them are under way, where that matters, and what it means for those, as a sentence.
        var running: Int?
        var remark: String?
    }

    /// - Parameter control: Given the tasks that were named by their numbers.
    func run(
        _ participle: String, _ context: Context,
        _ control: (Session, [TaskRecord]) throws(CommandError) -> Change
    ) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.attach(context.sessionName, role: BH_ROLE_PRODUCE)
            // A selection passes over numbers that are nobody's; a person who types one wants to know.
            var named: [TaskRecord] = []
            for id in ids { named.append(try session.task(id)) }
            let change = try control(session, named)
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
