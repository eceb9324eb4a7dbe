import CBackhaul

struct Complete: Command {
    static let description = CommandDescription(
        name: "complete", operands: "", summary: "say that nothing of a session is outstanding",
        examples: ["backhaul complete --session photos"],
        details: """
            For a program that was started for its session (`backhaul register`) and reads its events with `backhaul
            events`: it ends the launch. Without a launch it does nothing. `backhaul wait` completes by itself.
            """, isHost: true, storeUse: .makes)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`complete` takes no arguments; name a session with --session.")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: BH_ROLE_CONSUME) else { return .done }
            try session.complete()
            return .done
        }
    }
}
