import Backhaul

struct Conditions: DescribedCommand {
    static let description = CommandDescription(
        name: "conditions", operands: "",
        summary: "show the conditions of the machine, and which transfers wait",
        examples: ["backhaul conditions", "backhaul conditions --json"],
        details: """
            Lists power, battery, heat, pressure and network as the engine sees them, with their sources and the time of
            their last change. Below are the transfers of all sessions of the store that are held by a condition. A
            condition that cannot be read holds no transfer. `backhaul why` shows what to do. With --json one document:
            {"conditions": [...], "holds": [...]}.
            """, storeUse: .makes, usesSession: false)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`conditions` takes no arguments; see `backhaul why`") }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let conditions = try application.run(.conditions)
            let holds = try application.run(.holds)
            if context.output.isJSON {
                try context.output.result(
                    .object([
                        ("conditions", .array(conditions.map { $0.json })), ("holds", .array(holds.map { $0.json })),
                    ]))
            } else {
                let now = Clock.wallMilliseconds
                try context.output.result(
                    lines: Conditions.table(conditions, now: now) + [""]
                        + Conditions.heldBack(holds, of: context.applicationName, now: now))
            }
            return .done
        }
    }

    static func table(_ conditions: [Condition], now: Int64) -> [String] {
        let rows = conditions.map { condition in
            [
                condition.title, condition.isKnown ? condition.text : unknown(condition),
                condition.isKnown && condition.sinceMilliseconds > 0
                    ? Text.dateAndTime(condition.sinceMilliseconds, now: now) : "-",
                condition.source,
            ]
        }
        return Text.table([["CONDITION", "NOW", "SINCE", "READ FROM"]] + rows)
    }

    private static func unknown(_ condition: Condition) -> String {
        condition.kind == .throughput
            ? "nothing is transferred" : "cannot be read: holds no transfer"
    }

    static func heldBack(_ holds: [Hold], of application: String, now: Int64) -> [String] {
        if holds.isEmpty { return ["No transfer is held."] }
        let rows = holds.map { hold in
            [
                (hold.application == application ? "" : hold.application + "/") + hold.session,
                hold.reason.code.word, String(hold.tasks),
                hold.beganMilliseconds > 0 ? Text.dateAndTime(hold.beganMilliseconds, now: now) : "-",
                hold.reason.nextAttemptMilliseconds.map { Text.dateAndTime($0, now: now) } ?? "by itself",
                (hold.origin.map { $0 + ": " } ?? "") + hold.reason.text,
            ]
        }
        return Text.table([["HELD", "REASON", "TRANSFERS", "SINCE", "GOES ON", "WHY"]] + rows)
    }
}
