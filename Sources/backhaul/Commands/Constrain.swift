import CBackhaul

struct Constrain: Command {
    static let description = CommandDescription(
        name: "constrain", operands: ControlOptions.operands, summary: "say anew what transfers themselves wait for",
        examples: [
            "backhaul constrain 12 --external-power default", "backhaul constrain 12 --none",
            "backhaul constrain --all --session photos --unmetered yes",
        ],
        options: [OptionDescription("none", nil, nil, "they wait for nothing of their own any more")]
            + ConstraintOptions.descriptions + ControlOptions.descriptions,
        details: """
            What is not given stays as the transfers were handed over, and what has come is kept. The word default
            takes a wish back: --external-power default. What their session asks for holds besides, and is changed with
            `backhaul configure`.
            """ + " " + ControlOptions.details)

    /// Of tasks that are named in one call: they fit in a message.
    private static let callLimit = 100_000

    private let constraints: ConstraintOptions
    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) {
        options = try ControlOptions(arguments, "constrain")
        constraints = try ConstraintOptions(arguments)
        guard constraints.isGiven != arguments.has("none") else {
            throw .usage(
                constraints.isGiven
                    ? "--none and what is to be waited for exclude each other."
                    : "`constrain` takes what is to be waited for, such as --external-power yes, or --none.")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try options.run("changed", context) { (session, named) throws(CommandError) in
            guard constraints.isGiven else {
                return ControlOptions.Change(
                    affected: try session.control(.constraints(ConstraintsRecord()), options.selection))
            }
            var affected: UInt64 = 0
            for (wanted, ids) in try changes(session, named) {
                for start in stride(from: 0, to: ids.count, by: Constrain.callLimit) {
                    let some = Array(ids[start..<min(start + Constrain.callLimit, ids.count)])
                    affected += try session.control(.constraints(wanted), TaskSelection(ids: some))
                }
            }
            return ControlOptions.Change(affected: affected)
        }
    }

    /// Those that come to state the same, together.
    private func changes(
        _ session: Session, _ named: [TaskRecord]
    ) throws(CommandError) -> [ConstraintsRecord: [UInt64]] {
        var changes: [ConstraintsRecord: [UInt64]] = [:]
        func gather(_ task: TaskRecord) {
            guard !task.hasEnded else { return }
            let stated = task.constraints ?? ConstraintsRecord()
            var wanted = stated
            constraints.change(&wanted)
            if wanted != stated { changes[wanted, default: []].append(task.id) }
        }
        if !named.isEmpty {
            for task in named { gather(task) }
            return changes
        }
        var selection = options.selection
        selection.states = TaskSelection.live
        var cursor: UInt64 = 0
        while true {
            let (tasks, more) = try session.tasks(selection, after: cursor)
            for task in tasks { gather(task) }
            cursor = tasks.last?.id ?? cursor
            if !more { return changes }
        }
    }
}
