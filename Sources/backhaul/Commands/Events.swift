import Backhaul

/// The command `events`: lists the events of a session, and acknowledges them if the user wants this.
struct Events: DescribedCommand {
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
    private let through: EventID?
    private let after: EventID?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`events` takes no arguments") }
        acknowledges = arguments.has("acknowledge")
        through = try arguments.number("acknowledge-through", in: 1...Int64.max).map { EventID(rawValue: UInt64($0)) }
        if through != nil && (acknowledges || arguments.has("after")) {
            throw .usage("--acknowledge-through goes with neither --acknowledge nor --after")
        }
        after = try arguments.number("after", in: 0...Int64.max).map { EventID(rawValue: UInt64($0)) }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: .consume) else { return .done }
            if let through { return try acknowledge(session, through, context.output) }
            var cursor = after
            while true {
                let (events, more) = try session.run(.poll(after: cursor, maximum: 1000))
                try context.output.result(
                    lines: events.map { context.output.isJSON ? $0.json.text : Events.line($0) })
                // The command first prints the events and then acknowledges them, so that no event is lost if the
                // output fails.
                if acknowledges { try session.run(.acknowledge(events.map(\.id))) }
                cursor = events.last?.id ?? cursor
                if !more { break }
            }
            return .done
        }
    }

    private func acknowledge(
        _ session: Session, _ through: EventID, _ output: Output
    ) throws(CommandError) -> ExitCode {
        let count = try session.run(.acknowledge(through: through))
        if output.isJSON {
            try output.result(.object([("acknowledged", .unsigned(count))]))
        } else {
            output.note("\(Text.count(Int(clamping: count), "event")) acknowledged.")
        }
        return .done
    }

    private static func line(_ event: Event) -> String {
        let id = Text.padded(left: "\(event.id)", columns: 6) + "  "
        switch event {
        case .challenge(let event):
            return id + "challenge  " + Text.visible(event.challenge?.sentence ?? "responded to meanwhile")
        case .activity(let event): return id + "due        activity " + Text.visible(event.activity)
        case .groupFinished(let ending):
            return id + "finished   group " + Text.visible(ending.group) + ": \(ending.succeeded) succeeded, "
                + "\(ending.failed) failed, \(ending.cancelled) cancelled"
        case .sessionFinished(let ending): return id + "finished   round \(ending.round)"
        case .unknown(_, let kind): return id + "unknown    kind \(kind)"
        case .taskEnded(let ending):
            var text = id + Text.padded(ending.state.word, columns: 11) + Text.visible(ending.url)
            if let source = ending.source { text += " (\(source))" }
            if let path = ending.path ?? ending.bodyPath { text += " -> " + Text.visible(path) }
            if let error = ending.error { text += ": " + Text.visible(error.spoken.message) }
            return text
        }
    }
}
