import Backhaul

struct Wait: DescribedCommand {
    static let description = CommandDescription(
        name: "wait", operands: "", summary: "follow a session's transfers until all have ended",
        examples: ["backhaul wait", "backhaul wait --session photos --timeout 3600"],
        options: CredentialOptions.netrcOptions + [
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

    private let credentials: CredentialOptions
    private let timeout: Int64?
    private let role: Role

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`wait` takes no arguments; name a session with --session")
        }
        credentials = try CredentialOptions(arguments)
        timeout = try Watch.timeout(arguments)
        role = arguments.has("when-free") ? .consumeWhenFree : .consume
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let deadline = timeout.map { Clock.milliseconds + $0 }
            var codes: Set<ExitCode> = []
            var errors: [CommandError] = []
            // The sessions are followed one after the other. Meanwhile, the transfers of all of them continue.
            for name in try context.sessionNames(application) {
                try context.withSession(name) { () throws(CommandError) in
                    do throws(CommandError) {
                        codes.insert(try follow(application, context, until: deadline))
                    } catch {
                        if case .interrupted = error { throw error }
                        // Another `wait` follows these sessions. If this command followed the variants, both would
                        // fail.
                        if error.status == .inUse { throw error }
                        // After the time-out, one sentence is enough.
                        if case .stopped = error, let deadline, Clock.milliseconds >= deadline, !errors.isEmpty {
                            return
                        }
                        errors.append(error)
                    }
                }
            }
            if let first = errors.first {
                for case .stopped(let code, let sentence) in errors.dropFirst() {
                    context.output.error(BackhaulError(code, sentence))
                }
                throw first
            }
            codes.remove(.done)
            return codes.count > 1 ? .transferFailed : codes.first ?? .done
        }
    }

    private func follow(
        _ application: Application, _ context: Context, until deadline: Int64?
    ) throws(CommandError) -> ExitCode {
        guard let session = try context.attach(application, role: role) else { return .done }
        let watch = try Watch(
            context, application, session, isConsumer: true, scope: .session,
            timeout: deadline.map { max(0, $0 - Clock.milliseconds) },
            credentials: credentials.credentials(context.signals))
        return try watch.run()
    }
}
