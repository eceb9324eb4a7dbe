import CBackhaul

struct Get: Command {
    static let description = CommandDescription(
        name: "get", operands: "URL...", summary: "fetch files and wait for them",
        examples: [
            "backhaul get https://example.org/large.iso",
            "backhaul get -d ~/Downloads https://example.org/a.gz https://example.org/b.gz",
        ],
        options: DownloadOptions.descriptions + [Watch.timeoutOption],
        sessionOptions: SessionOptions.descriptions,
        details: DownloadOptions.naming + "\n\n" + """
            Prints the path of each file when it is whole. Ctrl-C leaves at once and loses nothing: the transfers stay,
            and the same command or `backhaul wait` goes on with them. With --json each transfer is one line when it has
            ended. A server that asks for a credential is answered on the terminal, or with `backhaul respond`; without
            either the command ends with 8 when nothing else is left to do.
            """, isHost: true, storeUse: .makes)

    private let options: DownloadOptions
    private let timeout: Int64?

    init(_ arguments: Arguments) throws(CommandError) {
        options = try DownloadOptions(arguments)
        timeout = try Watch.timeout(arguments)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let (session, isConsumer) = try Watch.join(application, options.settings(context.sessionName))
            if isConsumer { try acknowledgeFormerEnds(session) }
            let results = try session.enqueue(options.transfers)
            let pairs = zip(results.map { $0.task_id }, options.transfers)
            let handedOver = Dictionary(pairs) { first, _ in first }
            let watch = try Watch(
                context, application, session, isConsumer: isConsumer, scope: .tasks(handedOver), timeout: timeout)
            return try watch.run()
        }
    }

    /// An earlier transfer to the same file that nobody has read the end of would answer for the new one. It may do so
    /// only when its file is there and was not to be replaced.
    private func acknowledgeFormerEnds(_ session: Session) throws(CommandError) {
        let replaces = options.transfers.contains { $0.replaces }
        let keys = Set(options.transfers.compactMap { $0.key })
        var cursor: UInt64 = 0
        while true {
            let (events, more) = try session.poll(after: cursor)
            var former: [UInt64] = []
            for event in events where event.isEndOfTask && event.key.map(keys.contains) == true {
                let isThere = event.succeeded && event.path.map { Paths.isRegularFile($0, size: event.size) } == true
                if !isThere || replaces { former.append(event.id) }
            }
            try session.acknowledge(former)
            cursor = events.last?.id ?? cursor
            if !more { return }
        }
    }
}
