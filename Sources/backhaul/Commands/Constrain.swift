import Backhaul

/// The command `constrain`: changes the constraints of tasks.
struct Constrain: DescribedCommand {
    static let description = CommandDescription(
        name: "constrain", operands: ControlOptions.operands, summary: "change the constraints of transfers",
        examples: [
            "backhaul constrain 12 --external-power default", "backhaul constrain 12 --none",
            "backhaul constrain --all --session photos --unmetered yes",
        ],
        options: [OptionDescription("none", nil, nil, "remove all constraints of the transfers")]
            + Setting.options(Setting.constraintSettings) + ControlOptions.descriptions,
        details: """
            Constraints that you do not name stay. The received bytes are kept. The word default removes a
            constraint: --external-power default. The constraints of the session apply as well; `backhaul configure`
            changes them.
            """ + " " + ControlOptions.details)

    /// The maximum number of tasks in one call. The ids of so many tasks fit into one message.
    private static let callLimit = 100_000

    private let constraints: SettingOptions
    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) {
        options = try ControlOptions(arguments, "constrain")
        constraints = try SettingOptions(arguments, Setting.constraintSettings)
        guard constraints.isGiven != arguments.has("none") else {
            throw .usage(
                constraints.isGiven
                    ? "--none and the options for constraints exclude each other"
                    : "`constrain` needs a constraint, such as --external-power yes, or --none")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try options.run("changed", context) { (session, named) throws(CommandError) in
            guard constraints.isGiven else {
                return ControlOptions.Change(
                    affected: try session.run(.setConstraints(Constraints(), options.selection)))
            }
            var affected: UInt64 = 0
            for (wanted, ids) in try changes(session, named) {
                for start in stride(from: 0, to: ids.count, by: Constrain.callLimit) {
                    let some = Array(ids[start..<min(start + Constrain.callLimit, ids.count)])
                    affected += try session.run(.setConstraints(wanted, .ids(some)))
                }
            }
            return ControlOptions.Change(affected: affected)
        }
    }

    /// The tasks whose constraints change, grouped by their new constraints.
    private func changes(
        _ session: Session, _ named: [TaskInfo]
    ) throws(CommandError) -> [Constraints: [TaskID]] {
        var changes: [Constraints: [TaskID]] = [:]
        func gather(_ task: TaskInfo) {
            guard !task.hasEnded else { return }
            var wanted = task.constraints
            constraints.change(&wanted)
            if wanted != task.constraints { changes[wanted, default: []].append(task.id) }
        }
        if !named.isEmpty {
            for task in named { gather(task) }
            return changes
        }
        var selection = options.selection
        selection.states = TaskSelection.live
        try session.forEachPage(selection) { tasks in
            for task in tasks { gather(task) }
            return true
        }
        return changes
    }
}
