struct Cancel: Command {
    static let description = CommandDescription(
        name: "cancel", operands: ControlOptions.operands, summary: "end transfers and remove what has been received",
        examples: ["backhaul cancel 12 13", "backhaul cancel --all --session photos"],
        options: ControlOptions.descriptions, details: ControlOptions.details)

    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) { options = try ControlOptions(arguments, "cancel") }

    func run(_ context: Context) throws(CommandError) -> ExitCode { try options.run(.cancel, "cancelled", context) }
}
