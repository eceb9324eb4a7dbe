import CBackhaul

struct Wait: Command {
    static let description = CommandDescription(
        name: "wait", operands: "", summary: "follow a session's transfers until all have ended",
        examples: ["backhaul wait", "backhaul wait --session photos --timeout 3600"],
        options: [
            Watch.timeoutOption,
            OptionDescription(
                "when-free", nil, nil,
                "if another process reads the session's events, ask it to stop, and wait until it has stopped"),
        ],
        details: """
            Prints the path of each complete file, and acknowledges the end of each transfer, even if the transfer ended
            before this command. With --json, prints one line for each transfer when it has ended. The exit code is 5
            when only suspended transfers are left. It is 8 when the remaining transfers wait for a credential and there
            is no terminal to ask for it.
            """, isHost: true, storeUse: .makes)

    private let timeout: Int64?
    private let role: Int

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`wait` takes no arguments; name a session with --session.")
        }
        timeout = try Watch.timeout(arguments)
        role = arguments.has("when-free") ? BH_ROLE_CONSUME_WHEN_FREE : BH_ROLE_CONSUME
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: role) else { return .done }
            let watch = try Watch(
                context, application, session, isConsumer: true, scope: .session, timeout: timeout)
            return try watch.run()
        }
    }
}
