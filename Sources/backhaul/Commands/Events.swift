import CBackhaul

/// The command `events`: lists the events of a session (a named collection of transfers), and acknowledges (deletes)
/// them if the user wants this. An *event* is a stored message of the engine (the process that runs the transfers), for
/// example that a transfer has ended.
struct Events: Command {
    static let description = CommandDescription(
        name: "events", operands: "", summary: "list the events that are not acknowledged",
        examples: [
            "backhaul events", "backhaul events --acknowledge --json", "backhaul events --acknowledge-through 12",
        ],
        options: [
            OptionDescription(
                "acknowledge", "a", nil, "acknowledge the printed events and no others; they are not listed again"),
            OptionDescription(
                "acknowledge-through", nil, "EVENT",
                "print nothing, and acknowledge the events up to this one: the last that an earlier `events` printed"),
            OptionDescription("after", nil, "EVENT", "only events after this one"),
        ],
        details: """
            With --json each event is one line. A session has one consumer at a time: while another process is the
            consumer, the command ends with 5. With --acknowledge the output is the acknowledged events, which include
            events that are newer than an earlier `events`; with --acknowledge-through and --json it is
            {"acknowledged": NUMBER}. Acknowledging an event deletes its kept file unless that was claimed
            (`backhaul claim`).
            """, storeUse: .lists)

    private let acknowledges: Bool
    private let through: UInt64?
    private let after: UInt64

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`events` takes no arguments.") }
        acknowledges = arguments.has("acknowledge")
        through = try arguments.number("acknowledge-through", in: 1...Int64.max).map { UInt64($0) }
        if through != nil && (acknowledges || arguments.has("after")) {
            throw .usage("--acknowledge-through goes with neither --acknowledge nor --after.")
        }
        after = UInt64(try arguments.number("after", in: 0...Int64.max) ?? 0)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: BH_ROLE_CONSUME) else { return .done }
            if let through { return try acknowledge(session, through, context.output) }
            var cursor = after
            while true {
                let (events, more) = try session.poll(after: cursor)
                try context.output.result(
                    lines: events.map { context.output.isJSON ? $0.json.text : Events.line($0) })
                // The command first prints the events and then acknowledges them, so that no event is lost if the
                // output fails.
                if acknowledges { try session.acknowledge(events.map { $0.id }) }
                cursor = events.last?.id ?? cursor
                if !more { break }
            }
            return .done
        }
    }

    private func acknowledge(
        _ session: Session, _ through: UInt64, _ output: Output
    ) throws(CommandError) -> ExitCode {
        let count = try session.acknowledge(through: through)
        if output.isJSON {
            try output.result(.object([("acknowledged", .unsigned(count))]))
        } else {
            output.note("\(Text.count(Int(clamping: count), "event")) acknowledged.")
        }
        return .done
    }

    private static func line(_ event: EventRecord) -> String {
        let id = Text.padded(left: String(event.id), columns: 6) + "  "
        if event.isChallenge {
            return id + "challenge  " + Text.visible(event.challenge?.sentence ?? "responded to meanwhile")
        }
        if event.isActivity { return id + "due        activity " + Text.visible(event.activity ?? "") }
        if event.isEndOfGroup {
            return id + "finished   group " + Text.visible(event.group ?? "") + ": \(event.groupSucceeded) succeeded, "
                + "\(event.groupFailed) failed, \(event.groupCancelled) cancelled"
        }
        guard event.isEndOfTask else { return id + "finished   round \(event.round)" }
        var text = id + Text.padded(Names.taskState(event.state), columns: 11) + Text.visible(event.url)
        if let source = event.source { text += " (\(source))" }
        if let path = event.path { text += " -> " + Text.visible(path) }
        if let message = event.error.sentence { text += ": " + Text.visible(message) }
        return text
    }
}
