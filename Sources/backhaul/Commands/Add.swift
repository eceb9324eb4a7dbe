import CBackhaul

struct Add: Command {
    static let description = CommandDescription(
        name: "add", operands: "URL...", summary: "hand transfers over and leave",
        examples: [
            "backhaul add -d ~/Music https://example.org/a.flac https://example.org/b.flac", "backhaul wait",
        ],
        options: DownloadOptions.descriptions + [
            OptionDescription("suspended", nil, nil, "do not start before `backhaul resume`")
        ],
        sessionOptions: SessionOptions.descriptions,
        details: DownloadOptions.naming + "\n\n" + """
            Transfers are durable when the command ends, and go on in the background. With --embedded they run only
            while some process has the store open: `backhaul wait` is one. With --json each transfer is one line:
            task_id, url, destination, disposition ("new" or "existing"), task_state and event_id: the event of its
            end, while nobody has acknowledged that.
            """, isHost: true, storeUse: .makes)

    private let options: DownloadOptions

    init(_ arguments: Arguments) throws(CommandError) {
        options = try DownloadOptions(arguments, startsSuspended: arguments.has("suspended"))
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.create(options.settings(context.sessionName), role: BH_ROLE_PRODUCE)
            let transfers = try options.wanted(session, context.output)
            let results = try DownloadList(transfers, session).results
            try context.output.result(
                lines: zip(transfers, results).map { transfer, result in
                    context.output.isJSON
                        ? result.json(transfer).text
                        : "\(result.taskID)\t" + Text.visible(transfer.destination ?? transfer.url)
                })
            for (transfer, result) in zip(transfers, results) {
                if let found = Add.found(result) {
                    context.output.note("\(transfer.destination ?? transfer.url): transfer \(result.taskID) \(found).")
                }
            }
            let living = results.count { !$0.hasEnded }
            if living == 0 { return .done }
            context.output.note(
                "\(Text.count(living, "transfer")) handed over, safe on disk. "
                    + (context.isEmbedded
                        ? "Transfers run while a process has the store open: run `\(context.waitCommand)`."
                        : "They go on in the background: `\(context.waitCommand)` shows them."))
            return .done
        }
    }

    /// Of one that was there already.
    private static func found(_ result: HandedOver) -> String? {
        guard let state = result.state else { return nil }
        if result.isOver { return "has fetched it before, and its end was read" }
        if result.hasEnded { return "has fetched it before, and its end waits to be read" }
        return "was handed over before, and is \(Names.taskState(state))"
    }
}
