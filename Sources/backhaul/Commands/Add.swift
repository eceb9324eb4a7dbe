import Backhaul

/// The command `add`: enqueues downloads, and exits before they have ended.
struct Add: DescribedCommand {
    static let description = CommandDescription(
        name: "add", operands: "URL...", summary: "enqueue downloads and exit",
        examples: [
            "backhaul add -d ~/Music https://example.org/a.flac https://example.org/b.flac", "backhaul wait",
        ],
        mainOptions: DownloadOptions.main,
        options: DownloadOptions.descriptions + [
            OptionDescription("suspended", nil, nil, "do not start before `backhaul resume`")
        ] + CredentialOptions.refused,
        variantOptions: Setting.variantOptions,
        details: DownloadOptions.naming + "\n\n" + """
            When the command ends, the transfers are stored durably, and they run in the background. With --embedded
            they run only while a process has the store open, such as `backhaul wait`. With --json each transfer is one
            line: task_id, url, destination, disposition ("new" or "existing"), task_state and event_id, the event of
            its end until that is acknowledged.
            """, isHost: true, storeUse: .makes)

    private let options: DownloadOptions

    init(_ arguments: Arguments) throws(CommandError) {
        try CredentialOptions.refuse(arguments, for: "add")
        options = try DownloadOptions(arguments, startsSuspended: arguments.has("suspended"))
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.create(context.settings(options.session), role: .produce)
            try ProxyEnvironment.noteDifference(session, application, context)
            var options = options
            try session.removedIfRefused { () throws(CommandError) in try options.prepare(application, context) }
            let (transfers, skipped) = try options.wanted(session, context.output)
            if context.output.isJSON {
                try context.output.result(lines: skipped.map { Enqueued.json(skipped: $0).text })
            }
            let list = try DownloadList(transfers, session, context, application)
            let enqueued = zip(transfers, list.results).compactMap { transfer, result in result.map { (transfer, $0) } }
            let code: ExitCode = !options.hasInvalidLine && !list.hasInvalidLine ? .done : .usage
            try context.output.result(
                lines: enqueued.map { transfer, result in
                    context.output.isJSON
                        ? result.json(transfer).text
                        : "\(result.taskID)\t" + Text.visible(transfer.destination ?? transfer.url)
                })
            for (transfer, result) in enqueued {
                if let found = Add.found(result) {
                    context.output.note("\(transfer.destination ?? transfer.url): transfer \(result.taskID) \(found).")
                }
            }
            list.noteFound(context)
            let living = enqueued.map(\.1).filter { !$0.hasEnded }
            if !living.isEmpty { Add.note(living, context) }
            return code
        }
    }

    private static func note(_ living: [Enqueued], _ context: Context) {
        let new = living.count { $0.isNew }
        let found = living.count - new
        let counts =
            new == 0
            ? "\(Text.count(found, "transfer")) found"
            : "\(Text.count(new, "transfer")) enqueued" + (found > 0 ? ", \(found) found" : "")
        let continuation =
            living.count == 1
            ? "It continues in the background: `\(context.waitCommand)` shows its progress."
            : "They continue in the background: `\(context.waitCommand)` shows their progress."
        context.output.note(
            counts + ", safe on disk. "
                + (context.isEmbedded
                    ? "Transfers run while a process has the store open: run `\(context.waitCommand)`." : continuation))
    }

    /// A phrase about the state of a transfer that existed before this command. Nil if the transfer is new.
    private static func found(_ result: Enqueued) -> String? {
        guard let state = result.state else { return nil }
        if result.isAcknowledged { return "has downloaded it before, and its end is acknowledged" }
        if result.hasEnded { return "has downloaded it before, and its end is not acknowledged yet" }
        return "was enqueued before, and is \(state.word)"
    }
}
