import CBackhaul

struct Priority: Command {
    static let description = CommandDescription(
        name: "priority", operands: "NUMBER|now " + ControlOptions.operands, summary: "set which transfers run first",
        examples: ["backhaul priority now 12", "backhaul priority --group photos -- -5"],
        options: ControlOptions.descriptions,
        details: """
            Within the session, transfers with a higher number (-100 to 100) run first. With `now` they start
            immediately, beyond the session's limits. If the store's limits are reached too, the running transfer with
            the lowest priority is stopped until there is room.
            """ + " " + ControlOptions.details)

    private let priority: Int32
    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) {
        let first = arguments.operands.first
        guard let priority = first == "now" ? Int32(BH_PRIORITY_NOW) : first.flatMap({ Int32($0) }),
            first == "now" || (-100...100).contains(priority)
        else { throw .usage("`priority` takes a number from -100 to 100, or `now`, and the numbers of tasks.") }
        self.priority = priority
        options = try ControlOptions(arguments, "priority", operands: arguments.operands.dropFirst())
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try options.run(.priority(priority), priority == Int32(BH_PRIORITY_NOW) ? "first of all" : "changed", context)
    }
}
