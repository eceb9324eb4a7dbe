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
            try session.control(control, selection)
        }
    }

    /// - Parameter control: Given the tasks that were named by their numbers; how many have changed.
    func run(
        _ participle: String, _ context: Context,
        _ control: (Session, [TaskRecord]) throws(CommandError) -> UInt64
    ) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.attach(context.sessionName, role: BH_ROLE_PRODUCE)
            // A selection passes over numbers that are nobody's; a person who types one wants to know.
            var named: [TaskRecord] = []
            for id in ids { named.append(try session.task(id)) }
            let affected = try control(session, named)
            if context.output.isJSON {
                try context.output.result(.object([("affected", .unsigned(affected))]))
            } else {
                context.output.note("\(Text.count(Int(clamping: affected), "transfer")) \(participle).")
            }
            return .done
        }
    }
}
