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
            task_id, url, destination and disposition, which is "new" or "existing".
            """, isHost: true, storeUse: .makes)

    private let options: DownloadOptions

    init(_ arguments: Arguments) throws(CommandError) {
        options = try DownloadOptions(arguments, startsSuspended: arguments.has("suspended"))
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.create(options.settings(context.sessionName), role: BH_ROLE_PRODUCE)
            let results = try session.enqueue(options.transfers)
            var lines: [String] = []
            for (transfer, result) in zip(options.transfers, results) {
                let isNew = Int(result.disposition) == BH_ENQUEUE_NEW
                if context.output.isJSON {
                    lines.append(
                        JSON.object([
                            ("task_id", .unsigned(result.task_id)), ("url", .string(transfer.url)),
                            ("destination", .optional(transfer.destination)),
                            ("disposition", .string(isNew ? "new" : "existing")),
                        ]).text)
                } else {
                    lines.append("\(result.task_id)\t" + Text.visible(transfer.destination ?? transfer.url))
                }
            }
            try context.output.result(lines: lines)
            context.output.note(
                "\(Text.count(results.count, "transfer")) handed over, safe on disk. "
                    + (context.isEmbedded
                        ? "Transfers run while a process has the store open: run `\(context.waitCommand)`."
                        : "They go on in the background: `\(context.waitCommand)` shows them."))
            return .done
        }
    }
}
