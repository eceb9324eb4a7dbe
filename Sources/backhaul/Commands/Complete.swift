import Backhaul

struct Complete: DescribedCommand {
    static let description = CommandDescription(
        name: "complete", operands: "", summary: "report that all events of a session are processed",
        examples: ["backhaul complete --session photos"],
        details: """
            This is for a program that Backhaul started for its session (`backhaul register`) and that reads the events
            with `backhaul events`: the command ends the launch. Without a launch it does nothing. `backhaul wait` needs
            no `complete` after it.
            """, isHost: true, storeUse: .makes)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`complete` takes no arguments; name a session with --session")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: .consume) else { return .done }
            try session.run(.complete)
            return .done
        }
    }
}
