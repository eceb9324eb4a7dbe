import CBackhaul

struct Attempts: Command {
    static let description = CommandDescription(
        name: "attempts", operands: "TASK...", summary: "tell what was measured of each try of transfers",
        examples: ["backhaul attempts 12", "backhaul attempts --json 12"],
        details: """
            Also of ended transfers, as long as `backhaul history` has them. Milliseconds from the start of the try
            until the name was resolved (LOOKUP), the connection made (CONNECT) and secured (TLS), the first byte of
            the answer came (FIRST) and the last (TOTAL); '-' where that was not reached, or not needed because a
            connection was used again. BYTES are those of the answer's body, or of the request's where it has one. With
            --json each try is one line, with its times in microseconds.
            """, storeUse: .needs)

    private let ids: [UInt64]

    init(_ arguments: Arguments) throws(CommandError) {
        ids = try arguments.taskIDs()
        guard !ids.isEmpty else { throw .usage("Which task? `backhaul tasks` and `history` show their numbers.") }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let session = try application.attach(context.sessionName, role: BH_ROLE_OBSERVE)
            var isFirst = true
            for id in ids {
                let attempts = try session.attempts(id)
                var lines = attempts.map { attempt in
                    context.output.isJSON
                        ? attempt.json.text : Attempts.line(attempt, isLast: attempt.number == attempts.last?.number)
                }
                if isFirst && !lines.isEmpty && !context.output.isJSON { lines.insert(Attempts.header, at: 0) }
                try context.output.result(lines: lines)
                isFirst = isFirst && attempts.isEmpty
            }
            return .done
        }
    }

    private static var header: String {
        row(
            ["TASK", "TRY", "STATUS", "LOOKUP", "CONNECT", "TLS", "FIRST", "TOTAL", "BYTES"],
            "PROTOCOL  RESULT")
    }

    private static func line(_ attempt: AttemptRecord, isLast: Bool) -> String {
        let bytes = max(attempt.responseBodyBytes, attempt.requestBodyBytes)
        var remarks = Text.padded(Text.visible(attempt.networkProtocol ?? "-"), columns: 8) + "  "
        remarks += attempt.error.sentence.map { Text.visible($0) } ?? "ok"
        if let retry = retry(attempt, isLast: isLast) { remarks += "; " + retry }
        if Int(attempt.next) == BH_NEXT_CHALLENGE { remarks += "; asked for a credential" }
        if attempt.isReused { remarks += "; connection used again" }
        if attempt.isProxied { remarks += "; by way of a proxy" }
        return row(
            [
                String(attempt.task), String(attempt.number),
                attempt.httpStatus == 0 ? "-" : String(attempt.httpStatus), milliseconds(attempt.domainLookup),
                milliseconds(attempt.connect), milliseconds(attempt.secureConnection),
                milliseconds(attempt.responseStart), milliseconds(attempt.responseEnd), Text.size(bytes),
            ], remarks)
    }

    /// "next try in 4 s", or of one that is over "tried again after 2 s". Nil when that is not known: the end of a try
    /// without an answer was not measured, and the last may have been the last for another reason.
    private static func retry(_ attempt: AttemptRecord, isLast: Bool) -> String? {
        guard attempt.nextAttempt > 0, Int(attempt.next) == BH_NEXT_RETRY else { return nil }
        if isLast {
            return attempt.nextAttempt > Clock.wallMilliseconds
                ? "next try \(Text.time(until: attempt.nextAttempt))" : nil
        }
        guard let duration = attempt.responseEnd else { return nil }
        let pause = attempt.nextAttempt.subtractingReportingOverflow(attempt.started).partialValue
            .subtractingReportingOverflow(duration / 1000).partialValue
        if pause <= 0 { return "tried again at once" }
        return "tried again after " + (pause < 1000 ? "\(pause) ms" : Text.duration(seconds: (pause + 500) / 1000))
    }

    private static func milliseconds(_ microseconds: Int64?) -> String {
        guard let microseconds else { return "-" }
        return "\(microseconds / 1000).\(microseconds % 1000 / 100)"
    }

    private static func row(_ cells: [String], _ rest: String) -> String {
        zip(cells, [6, 5, 8, 9, 9, 9, 9, 10, 11]).map { Text.padded(left: $0, columns: $1) }.joined() + "  " + rest
    }
}
