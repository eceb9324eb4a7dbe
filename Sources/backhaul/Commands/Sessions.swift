import Backhaul

struct Sessions: DescribedCommand {
    static let description = CommandDescription(
        name: "sessions", operands: "[remove SESSION]", summary: "list or remove the sessions of the application",
        examples: ["backhaul sessions", "backhaul sessions remove photos"],
        options: [
            OptionDescription("cancel", nil, nil, "with remove: cancel the session's transfers that have not ended")
        ],
        details: """
            `remove` also removes the settings, the events, the history and the credentials of the session. It is
            refused if a transfer of the session has not ended, unless --cancel is given. With --json each session is
            one line.
            """, storeUse: .lists, usesSession: false)

    /// The session to remove. Nil if the command lists the sessions.
    private let removed: String?
    private let cancels: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        let words = arguments.operands
        guard words.isEmpty || words.count == 2 && words[0] == "remove" else {
            throw .usage("`sessions` takes nothing, or `remove SESSION`")
        }
        removed = words.last
        cancels = arguments.has("cancel")
        if cancels && removed == nil { throw .usage("--cancel goes with `sessions remove SESSION`") }
    }

    private func remove(_ name: String, _ application: Application, _ context: Context) throws(CommandError) {
        let session = try application.attach(name, role: .consume)
        let live = try session.liveTasks()
        guard live == 0 || cancels else {
            throw .stopped(
                .refused,
                "session \(name) has \(Text.count(live, "transfer")) that \(live == 1 ? "has" : "have") not ended; "
                    + "`backhaul wait --session \(Text.quoted(name))` waits for the end, and --cancel cancels "
                    + (live == 1 ? "it" : "them"))
        }
        try session.remove()
        let cancelled = live == 0 ? "" : " \(Text.count(live, "transfer")) cancelled."
        context.output.note("Session \(name) is removed.\(cancelled)")
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            if let removed {
                try remove(removed, application, context)
                return .done
            }
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
