import CBackhaul

struct Rate: Command {
    static let description = CommandDescription(
        name: "rate", operands: "BYTES " + ControlOptions.operands, summary: "limit the bytes per second of transfers",
        examples: ["backhaul rate 500k 12", "backhaul rate 0 --all"],
        options: ControlOptions.descriptions,
        details: """
            The limit is for each transfer, and counts sent and received bytes. 0 removes it; the limits of the session
            (`backhaul configure --limit-rate`) and of the store (`backhaul limits`) remain.
            """ + " " + ControlOptions.details)

    private let rate: UInt64
    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) {
        guard let first = arguments.operands.first, let rate = Arguments.bytes(first) else {
            throw .usage("`rate` takes bytes per second, such as 500k, 2M or 0, and the numbers of tasks.")
        }
        self.rate = rate
        options = try ControlOptions(arguments, "rate", operands: arguments.operands.dropFirst())
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try options.run(.rate(rate), rate == 0 ? "not limited any more" : "limited", context)
    }
}
