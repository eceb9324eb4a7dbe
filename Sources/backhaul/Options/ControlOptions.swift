import CBackhaul

/// What `cancel`, `suspend` and `resume` share.
struct ControlOptions {
    static let descriptions = [OptionDescription("all", nil, nil, "all transfers of the session")]
    static let details = """
        Transfers that have ended or already are so are passed over. With --json one document: {"affected": NUMBER}.
        """

    private let ids: [UInt64]

    init(_ arguments: Arguments, _ name: String) throws(CommandError) {
        ids = try arguments.taskIDs()
        if ids.isEmpty != arguments.has("all") {
            throw .usage("`\(name)` takes either the numbers of tasks (`backhaul tasks` shows them) or --all.")
        }
    }

    func run(_ control: Session.Control, _ participle: String, _ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.attach(context.sessionName, role: BH_ROLE_PRODUCE)
            // A selection passes over numbers that are nobody's; a person who types one wants to know.
            for id in ids { _ = try session.task(id) }
            let affected = try session.control(control, TaskSelection(ids: ids))
            if context.output.isJSON {
                try context.output.result(.object([("affected", .unsigned(affected))]))
            } else {
                context.output.note("\(Text.count(Int(clamping: affected), "transfer")) \(participle).")
            }
            return .done
        }
    }
}
