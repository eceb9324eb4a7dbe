struct Suspend: Command {
    static let description = CommandDescription(
        name: "suspend", operands: ControlOptions.operands,
        summary: "suspend transfers and keep the bytes received so far",
        examples: ["backhaul suspend 12 13", "backhaul suspend --all --session photos"],
        options: ControlOptions.descriptions, details: ControlOptions.details)

    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) { options = try ControlOptions(arguments, "suspend") }

    func run(_ context: Context) throws(CommandError) -> ExitCode { try options.run(.suspend, "suspended", context) }
}
