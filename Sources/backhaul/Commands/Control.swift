import Backhaul

/// A command that changes the selected tasks by one verb: `cancel`, `suspend`, `resume`, `priority` or `rate`.
struct Control: Command {
    /// The word for the changed tasks, and the verb that changes them.
    private typealias Change = (
        participle: String, verb: (TaskSelection) throws(BackhaulError) -> Verb<Backhaul.Session, UInt64>
    )

    static let cancel = entry(
        "cancel", "cancel transfers and remove the bytes received so far",
        examples: ["backhaul cancel 12 13", "backhaul cancel --all --session photos"]
    ) { _ in ("cancelled", { (tasks) throws(BackhaulError) in try .cancel(tasks) }) }

    static let suspend = entry(
        "suspend", "suspend transfers and keep the bytes received so far",
        examples: ["backhaul suspend 12 13", "backhaul suspend --all --session photos"]
    ) { _ in ("suspended", { (tasks) throws(BackhaulError) in try .suspend(tasks) }) }

    static let resume = entry(
        "resume", "resume suspended transfers, and retry waiting ones immediately",
        examples: ["backhaul resume 12 13", "backhaul resume --all --session photos"]
    ) { _ in ("resumed", { (tasks) throws(BackhaulError) in try .resume(tasks) }) }

    static let priority = entry(
        "priority", value: "NUMBER|now", "set which transfers run first",
        examples: ["backhaul priority now 12", "backhaul priority --group photos -- -5"],
        details: """
            Within the session, transfers with a higher number (-100 to 100) run first. With `now` they start
            immediately, beyond the session's limits. If the store's limits are reached too, the running transfer with
            the lowest priority is stopped until there is room.
            """
    ) { (first) throws(CommandError) in
        guard let priority = first == "now" ? Request.priorityNow : first.flatMap({ Int32($0) }),
            first == "now" || (-100...100).contains(priority)
        else { throw .usage("`priority` takes a number from -100 to 100, or `now`, and the numbers of tasks") }
        return (
            first == "now" ? "first of all" : "changed",
            { (tasks) throws(BackhaulError) in try .setPriority(priority, tasks) }
        )
    }

    static let rate = entry(
        "rate", value: "BYTES", "limit the bytes per second of transfers",
        examples: ["backhaul rate 500k 12", "backhaul rate 0 --all"],
        details: """
            The limit is for each transfer, and counts sent and received bytes. 0 removes it; the limits of the session
            (`backhaul configure --limit-rate`) and of the store (`backhaul limits`) remain.
            """
    ) { (first) throws(CommandError) in
        guard let rate = first.flatMap({ Arguments.bytes($0) }) else {
            throw .usage("`rate` takes bytes per second, such as 500k, 2M or 0, and the numbers of tasks")
        }
        return (
            rate == 0 ? "not limited any more" : "limited",
            { (tasks) throws(BackhaulError) in try .setRate(rate, tasks) }
        )
    }

    private let options: ControlOptions
    private let change: Change

    /// - Parameters:
    ///   - value: The operand before the numbers of the tasks. Nil if there is none.
    ///   - change: Parses the operand `value`.
    private static func entry(
        _ name: String, value: String? = nil, _ summary: String, examples: [String], details: String? = nil,
        _ change: @escaping @Sendable (_ first: String?) throws(CommandError) -> Change
    ) -> CommandEntry {
        let description: @Sendable () -> CommandDescription = {
            CommandDescription(
                name: name, operands: [value, ControlOptions.operands].compactMap { $0 }.joined(separator: " "),
                summary: summary, examples: examples, options: ControlOptions.descriptions,
                details: [details, ControlOptions.details].compactMap { $0 }.joined(separator: " "))
        }
        return CommandEntry(description: description()) { (arguments) throws(CommandError) in
            let change = try change(arguments.operands.first)
            let tasks = arguments.operands.dropFirst(value == nil ? 0 : 1)
            return Control(options: try ControlOptions(arguments, name, operands: tasks), change: change)
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try options.run(change.participle, context, change.verb)
    }
}
