import CBackhaul

struct Wait: Command {
    static let description = CommandDescription(
        name: "wait", operands: "", summary: "run what is left of a session until nothing is",
        examples: ["backhaul wait", "backhaul wait --session photos --timeout 3600"],
        options: [Watch.timeoutOption],
        details: """
            Prints the path of each file that has become whole, since the last time too, and acknowledges it. With
            --json each transfer is one line when it has ended. Ends with 5 when only suspended transfers are left.
            """)

    private let timeout: Int64?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`wait` takes no arguments; name a session with --session.")
        }
        timeout = try Watch.timeout(arguments)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: BH_ROLE_CONSUME) else { return .done }
            let watch = try Watch(
                context, application, session, isConsumer: true, scope: .session, timeout: timeout)
            return try watch.run()
        }
    }
}
