import Backhaul

struct Sessions: DescribedCommand {
    static let description = CommandDescription(
        name: "sessions", operands: "", summary: "list the sessions of the application",
        examples: ["backhaul sessions", "backhaul sessions --json"],
        details: "With --json each session is one line.", storeUse: .lists, usesSession: false)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`sessions` takes no arguments") }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let sessions = try application.run(.sessions)
            if context.output.isJSON {
                try context.output.result(lines: sessions.map { $0.json.text })
            } else if !sessions.isEmpty {
                let rows =
                    [("SESSION", "LIVE", "EVENTS", "REMARKS")]
                    + sessions.map {
                        (Text.visible($0.identifier), String($0.liveTasks), String($0.events), $0.remarks)
                    }
                try context.output.result(
                    lines: rows.map {
                        Text.padded($0.0, columns: 32) + Text.padded(left: $0.1, columns: 8)
                            + Text.padded(left: $0.2, columns: 8) + "  " + $0.3
                    })
            }
            return .done
        }
    }
}
