struct Resume: Command {
    static let description = CommandDescription(
        name: "resume", operands: "TASK... | --group NAME | --all",
        summary: "resume suspended transfers, and retry waiting ones immediately",
        examples: ["backhaul resume 12 13", "backhaul resume --all --session photos"],
        options: ControlOptions.descriptions, details: ControlOptions.details)

    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) { options = try ControlOptions(arguments, "resume") }

    func run(_ context: Context) throws(CommandError) -> ExitCode { try options.run(.resume, "resumed", context) }
}
