struct Cancel: Command {
    static let description = CommandDescription(
        name: "cancel", operands: ControlOptions.operands,
        summary: "cancel transfers and remove the bytes received so far",
        examples: ["backhaul cancel 12 13", "backhaul cancel --all --session photos"],
        options: ControlOptions.descriptions, details: ControlOptions.details)

    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) { options = try ControlOptions(arguments, "cancel") }

    func run(_ context: Context) throws(CommandError) -> ExitCode { try options.run(.cancel, "cancelled", context) }
}
