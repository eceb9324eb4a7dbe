import CBackhaul

struct Constrain: Command {
    static let description = CommandDescription(
        name: "constrain", operands: ControlOptions.operands, summary: "say anew what transfers themselves wait for",
        examples: ["backhaul constrain 12 --none", "backhaul constrain --all --session photos --external-power yes"],
        options: [OptionDescription("none", nil, nil, "they wait for nothing of their own any more")]
            + ConstraintOptions.descriptions + ControlOptions.descriptions,
        details: """
            What is given takes the place of all that the transfers were handed over with; what has come is kept. What
            their session asks for holds besides, and is changed with `backhaul configure`.
            """ + " " + ControlOptions.details)

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
        try options.run(.constraints(constraints), "changed", context)
    }
}
