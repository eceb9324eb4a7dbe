import Backhaul

struct Sessions: DescribedCommand {
    static let description = CommandDescription(
        name: "sessions", operands: "[remove SESSION]", summary: "list or remove sessions",
        examples: [
            "backhaul sessions", "backhaul sessions --application org.example.photos",
            "backhaul sessions remove photos",
        ],
        options: [
            OptionDescription("cancel", nil, nil, "with remove: cancel the session's transfers that have not ended")
        ],
        details: """
            Lists the sessions of all applications of the store, or with --application those of one. `remove` removes a
            session of the application. It also removes the settings, the events, the history and the credentials of
            the session. It is refused if a transfer of the session has not ended, unless --cancel is given. With --json
            each session is one line.
            """, storeUse: .lists, usesSession: false, listing: .applications)

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

    private func list(_ application: Application, _ context: Context) throws(CommandError) {
        var sessions: [(application: String, info: SessionInfo)] = []
        try context.forEachApplication(application) { (one) throws(CommandError) in
            sessions += try one.run(.sessions).map { (one.identifier, $0) }
        }
        if context.output.isJSON {
            return try context.output.result(lines: sessions.map { $0.info.json(application: $0.application).text })
        }
        if sessions.isEmpty { return }
        let rows =
            [("APPLICATION", "SESSION", "LIVE", "EVENTS", "REMARKS")]
            + sessions.map {
                ($0, Text.visible($1.identifier), String($1.liveTasks), String($1.events), $1.remarks)
            }
        try context.output.result(
            lines: rows.map {
                (context.isApplicationNamed ? "" : Text.padded($0.0, columns: 31) + " ")
                    + Text.padded($0.1, columns: 32)
                    + Text.padded(left: $0.2, columns: 8) + Text.padded(left: $0.3, columns: 8) + "  " + $0.4
            })
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            if let removed {
                try remove(removed, application, context)
                return .done
            }
            try list(application, context)
            return .done
        }
    }
}
