import Backhaul

/// The command `attempts`: shows the measurements of each attempt of a task.
struct Attempts: DescribedCommand {
    static let description = CommandDescription(
        name: "attempts", operands: "TASK...", summary: "show the measurements of each attempt of transfers",
        examples: ["backhaul attempts 12", "backhaul attempts --json 12"],
        details: """
            Ended transfers are included while `backhaul history` lists them. Times are milliseconds from the start of
            the attempt: until the name was resolved (LOOKUP), the connection was made (CONNECT) and encrypted (TLS),
            and the first byte (FIRST) and the last byte (TOTAL) of the response arrived. '-' means that the attempt
            ended before this, or that it used an existing connection. BYTES is the size of the response's body, or of
            the request's body if that is larger. RESULT is "running" while the attempt runs, and "stopped" if it
            neither succeeded nor failed: the transfer was suspended or cancelled, or waited again, or its engine ended.
            A terminal with less than \(Terminal.wide) columns does not show LOOKUP, CONNECT and TLS.
            With --json each attempt is one line, with times in microseconds.
            """, storeUse: .needs)

    private let ids: [TaskID]

    init(_ arguments: Arguments) throws(CommandError) {
        ids = try arguments.taskIDs()
        guard !ids.isEmpty else {
            throw .usage("`attempts` needs the number of a task; `backhaul tasks` and `history` show the numbers")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var isFirst = true
            for id in ids {
                let session = try context.attach(application, role: .observe, task: id)
                let attempts = try session.run(.attempts(id))
                let columns = context.output.columns
                var lines = attempts.map { attempt in
                    context.output.isJSON
                        ? attempt.json.text
                        : Attempts.line(attempt, isLast: attempt.number == attempts.last?.number, columns: columns)
                }
                if isFirst && !lines.isEmpty && !context.output.isJSON { lines.insert(Attempts.header(columns), at: 0) }
                try context.output.result(lines: lines)
                isFirst = isFirst && attempts.isEmpty
                if attempts.isEmpty { context.output.noteOnTerminal("Transfer \(id) has no attempts.") }
            }
            return .done
        }
    }

    /// - Parameter columns: The width of the terminal. Nil means that a line may have any length.
    static func header(_ columns: Int?) -> String {
        row(
            ["TASK", "NO.", "STATUS", "LOOKUP ms", "CONNECT ms", "TLS ms", "FIRST ms", "TOTAL ms", "BYTES"],
            "PROTOCOL  RESULT", columns)
    }

    static func line(_ attempt: Attempt, isLast: Bool, columns: Int?) -> String {
        let bytes = max(attempt.responseBodyBytes, attempt.requestBodyBytes)
        var remarks = Text.padded(Text.visible(attempt.networkProtocol ?? "-"), columns: 8) + "  "
        remarks += attempt.errorMessage.map { Text.visible($0) } ?? result(attempt)
        if let retry = retry(attempt, isLast: isLast) { remarks += "; " + retry }
        if attempt.error != nil && attempt.next == .challenge { remarks += "; asked for a credential" }
        if attempt.isReusedConnection { remarks += "; connection used again" }
        if attempt.isProxyConnection { remarks += "; through a proxy" }
        return row(
            [
                "\(attempt.taskID)", String(attempt.number),
                attempt.httpStatus.map { String($0) } ?? "-", milliseconds(attempt.domainLookup),
                milliseconds(attempt.connect), milliseconds(attempt.secureConnection),
                milliseconds(attempt.responseStart), milliseconds(attempt.responseEnd), Text.size(bytes),
            ], remarks, columns)
    }

    /// The result of an attempt without an error.
    private static func result(_ attempt: Attempt) -> String {
        switch attempt.next {
        case .running: return "running"
        case .stopped: return "stopped"
        case .challenge: return "asked for a credential"
        default: return attempt.httpStatus == 304 ? "ok, unchanged" : "ok"
        }
    }

    /// A phrase about the next attempt, such as "next attempt in 4 s" or "retried after 2 s". Nil if no retry follows,
    /// or if the next attempt is due now. Also nil if the next attempt has already started, but this attempt got no
    /// complete response. Then the end of this attempt was not measured, so the pause after this attempt is not known.
    private static func retry(_ attempt: Attempt, isLast: Bool) -> String? {
        guard let next = attempt.nextAttempt, next > 0 else { return nil }
        if isLast {
            return next > Clock.wallMilliseconds ? "next attempt \(Text.time(until: next))" : nil
        }
        guard let duration = attempt.responseEnd else { return nil }
        let pause = next.subtractingReportingOverflow(attempt.startedMilliseconds).partialValue
            .subtractingReportingOverflow(duration.microseconds / 1000).partialValue
        if pause <= 0 { return "retried immediately" }
        return "retried after " + (pause < 1000 ? "\(pause) ms" : Text.duration(seconds: (pause + 500) / 1000))
    }

    private static func milliseconds(_ duration: Duration?) -> String {
        guard let microseconds = duration?.microseconds else { return "-" }
        return "\(microseconds / 1000).\(microseconds % 1000 / 100)"
    }

    /// The columns of the steps before the first byte, which a narrow terminal does not show.
    private static let steps = 3...5

    private static func row(_ cells: [String], _ rest: String, _ columns: Int?) -> String {
        var cells = zip(cells, [6, 5, 8, 11, 12, 10, 10, 10, 11]).map { Text.padded(left: $0, columns: $1) }
        guard let columns else { return cells.joined() + "  " + rest }
        if columns < Terminal.wide { cells.removeSubrange(steps) }
        let start = cells.joined() + "  "
        return start + ScreenText.fitted(start: rest, columns: max(0, columns - Text.width(start)))
    }
}
