import Backhaul

struct Wait: DescribedCommand {
    static let description = CommandDescription(
        name: "wait", operands: "[TASK... | --group NAME]",
        summary: "follow transfers of a session until they have ended",
        examples: [
            "backhaul wait", "backhaul wait 3 4", "backhaul wait --group album",
            "backhaul wait --session photos --timeout 3600",
        ],
        options: CredentialOptions.netrcOptions + [
            Watch.timeoutOption,
            OptionDescription("group", nil, "NAME", "follow the present transfers of this group", kind: .group),
            OptionDescription(
                "when-free", nil, nil,
                "if another process reads the session's events, ask it to stop, and wait until it has stopped"),
        ],
        details: """
            Without numbers of tasks and --group, the command follows all transfers of the session.

            Prints the path of each complete file, and acknowledges the end of each transfer, even if the transfer ended
            before this command. With --json, prints one line for each transfer when it has ended. The exit code is 5
            when only suspended transfers are left. It is 8 when the remaining transfers wait for a credential and there
            is no terminal to ask for it.
            """, isHost: true, storeUse: .makes)

    private let credentials: CredentialOptions
    private let timeout: Int64?
    /// The tasks to follow. Nil for all tasks of the session.
    private let selection: TaskSelection?
    private let role: Role

    init(_ arguments: Arguments) throws(CommandError) {
        let ids = try arguments.taskIDs()
        let group = arguments.value("group")
        guard ids.isEmpty || group == nil else {
            throw .usage("`wait` takes either the numbers of tasks, or --group")
        }
        selection = ids.isEmpty && group == nil ? nil : TaskSelection(ids: ids.isEmpty ? nil : ids, group: group)
        credentials = try CredentialOptions(arguments)
        timeout = try Watch.timeout(arguments)
        role = arguments.has("when-free") ? .consumeWhenFree : .consume
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let deadline = timeout.map { Clock.milliseconds + $0 }
            if let selection { return try follow(selection, application, context, until: deadline) }
            let names = try context.sessionNames(application)
            return try Wait.follow(names, context, until: deadline) { (_) throws(CommandError) in
                try follow(application, context, until: deadline)
            }
        }
    }

    /// Follows the sessions one after the other. Meanwhile, the transfers of all of them continue. An error of one
    /// session is thrown after the other sessions were followed.
    /// - Parameter body: Follows the session with this index.
    private static func follow(
        _ sessions: [String], _ context: Context, until deadline: Int64?,
        _ body: (Int) throws(CommandError) -> ExitCode
    ) throws(CommandError) -> ExitCode {
        var codes: Set<ExitCode> = []
        var errors: [CommandError] = []
        for (index, name) in sessions.enumerated() {
            try context.withSession(name) { () throws(CommandError) in
                do throws(CommandError) {
                    codes.insert(try body(index))
                } catch {
                    if case .interrupted = error { throw error }
                    // Another `wait` follows these sessions. If this command followed the variants, both would fail.
                    if error.status == .inUse { throw error }
                    // After the time-out, one sentence is enough.
                    if case .stopped = error, let deadline, Clock.milliseconds >= deadline, !errors.isEmpty { return }
                    errors.append(error)
                }
            }
        }
        guard let first = errors.first else {
            codes.remove(.done)
            return codes.count > 1 ? .transferFailed : codes.first ?? .done
        }
        for error in errors.dropFirst() { context.output.error(error) }
        throw first
    }

    /// Follows the selected tasks, which may be tasks of the session's variants.
    private func follow(
        _ selection: TaskSelection, _ application: Application, _ context: Context, until deadline: Int64?
    ) throws(CommandError) -> ExitCode {
        var missing = Set(selection.ids ?? [])
        var found: [(session: String, tasks: [TaskID: Transfer], ended: [Ending])] = []
        try context.forEachSession(application, role: .observe) { (session) throws(CommandError) in
            var tasks: [TaskID: Transfer] = [:]
            try session.forEachPage(selection) { page in
                for task in page { tasks[task.id] = Transfer(task) }
                return true
            }
            missing.subtract(tasks.keys)
            var ended: [Ending] = []
            for id in missing.sorted() {
                if let task = try session.taskInHistory(id) { ended.append(Ending(task)) }
            }
            missing.subtract(ended.map(\.taskID))
            if !tasks.isEmpty || !ended.isEmpty { found.append((context.sessionName, tasks, ended)) }
        }
        if found.isEmpty, let group = selection.group {
            throw .stopped(
                .notFound,
                "there is no transfer in the group '\(group)'; `backhaul tasks --json` lists the transfers with their "
                    + "groups")
        }
        // The call reports the error of the engine.
        if let id = missing.min() { _ = try application.attach(context.sessionName, role: .observe).task(id) }
        let credentials = try credentials.credentials(context.signals)
        return try Wait.follow(found.map { $0.session }, context, until: deadline) { (index) throws(CommandError) in
            let (name, tasks, ended) = found[index]
            let (session, isConsumer) = try Watch.join(role: role) { (role) throws(CommandError) in
                try application.attach(name, role: role)
            }
            let watch = try Watch(
                context, application, session, isConsumer: isConsumer, scope: .tasks(tasks),
                timeout: deadline.map { max(0, $0 - Clock.milliseconds) }, credentials: credentials)
            watch.endsIfSuspended = true
            return try watch.run(after: ended)
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
