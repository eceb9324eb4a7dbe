import Backhaul

/// The command `get`: enqueues downloads and waits until they have ended.
struct Get: DescribedCommand {
    static let description = CommandDescription(
        name: "get", operands: "URL...", summary: "download files and wait for them",
        examples: [
            "backhaul get https://example.org/large.iso",
            "backhaul get -d ~/Downloads https://example.org/a.gz https://example.org/b.gz",
        ],
        mainOptions: DownloadOptions.main,
        options: DownloadOptions.descriptions + CredentialOptions.userOptions + CredentialOptions.netrcOptions + [
            Watch.timeoutOption
        ],
        variantOptions: Setting.variantOptions,
        details: DownloadOptions.naming + "\n\n" + """
            Prints the path of each file when it is complete. Ctrl-C exits immediately and loses nothing: the transfers
            continue, and the same command or `backhaul wait` follows them. With --json, prints one line for each
            transfer when it has ended. If a server asks for a credential, the command asks at the terminal; `backhaul
            respond` gives one from elsewhere. Without a terminal, the exit code is 8 when all other transfers have
            ended.
            """, isHost: true, storeUse: .makes)

    private let options: DownloadOptions
    private let credentials: CredentialOptions
    private let timeout: Int64?

    init(_ arguments: Arguments) throws(CommandError) {
        options = try DownloadOptions(arguments)
        credentials = try CredentialOptions(arguments)
        timeout = try Watch.timeout(arguments)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let credentials = try credentials.credentials(context.signals)
        return try context.withApplication { (application) throws(CommandError) in
            let settings = context.settings(try sessionOptions(credentials, application, context))
            let (session, isConsumer) = try Watch.join { (role) throws(CommandError) in
                try application.create(settings, role: role)
            }
            try ProxyEnvironment.noteDifference(session, application, context)
            var options = options
            try session.removedIfRefused { () throws(CommandError) in try options.prepare(application, context) }
            if isConsumer { try acknowledgeFormerEnds(session) }
            let (wanted, skipped) = try options.wanted(session, context.output)
            if context.output.isJSON { try context.output.result(lines: skipped.map { Ending(skipped: $0).json.text }) }
            let list = try DownloadList(wanted, session, context, application)
            list.noteFound(context)
            let watch = try Watch(
                context, application, session, isConsumer: isConsumer, scope: .tasks(list.enqueued),
                timeout: timeout, credentials: credentials)
            let code = try watch.run(after: list.former) {
                "\($0.path ?? $0.url) exists already: transfer \($0.taskID) downloaded it, and its end was "
                    + "acknowledged before."
            }
            let hasInvalidLine = options.hasInvalidLine || list.hasInvalidLine
            return code == .done && hasInvalidLine ? .usage : code
        }
    }

    /// The options that select the session. A user has a variant of the session. But if an earlier command without the
    /// user has enqueued one of the transfers, it may wait for this credential, so all of them belong to its session.
    private func sessionOptions(
        _ credentials: GivenCredentials, _ application: Application, _ context: Context
    ) throws(CommandError) -> SettingOptions {
        let name = SessionVariant.name(of: context.baseName, options.session.given)
        if !credentials.isEmpty, let session = try application.attachIfExists(name) {
            let keys = Set(options.transfers.compactMap(\.key))
            var isFound = false
            try session.forEachPage(.states(TaskSelection.live)) { tasks in
                isFound = tasks.contains {
                    $0.idempotencyKey.map { keys.contains(Transfer.parts(ofKey: $0).first) } ?? false
                }
                return !isFound
            }
            if isFound { return options.session }
        }
        return options.session.of(credentials, for: options.transfers)
    }

    /// Acknowledges the events about the ends of earlier transfers to the same files, so that the new requests start
    /// new transfers. If the file of an earlier transfer is still complete, and the command does not replace files, the
    /// event about that transfer is not acknowledged. Then the request finds the earlier transfer.
    private func acknowledgeFormerEnds(_ session: Session) throws(CommandError) {
        let replaces = options.transfers.contains { $0.replaces }
        let keys = Set(options.transfers.compactMap { $0.key })
        var cursor: EventID?
        while true {
            let (events, more) = try session.run(.poll(after: cursor, maximum: 1000))
            var former: [EventID] = []
            for case .taskEnded(let ending) in events where isOf(ending, keys) {
                let isThere = try ending.path.map { (path) throws(CommandError) in
                    try Paths.isRegularFile(path, size: ending.size)
                }
                if let event = ending.eventID, isThere != true || replaces { former.append(event) }
            }
            try session.run(.acknowledge(former))
            cursor = events.last?.id ?? cursor
            if !more { return }
        }
    }

    private func isOf(_ ending: TaskEnding, _ keys: Set<String>) -> Bool {
        ending.idempotencyKey.map { keys.contains(Transfer.parts(ofKey: $0).first) } ?? false
    }
}
