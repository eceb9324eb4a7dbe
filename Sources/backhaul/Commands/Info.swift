import Backhaul

/// The command `info`: shows the details of tasks. `attempts` and `why` show what this command omits.
struct Info: DescribedCommand {
    static let description = CommandDescription(
        name: "info", operands: "TASK...", summary: "show the state, times, sizes and last error of transfers",
        examples: ["backhaul info 12"],
        details: """
            Ended transfers are included while `backhaul history` lists them. `backhaul attempts` shows the attempts of
            a transfer, and `backhaul why` its waits. With --json each transfer is one line, with the same members as in
            `backhaul tasks`.
            """)

    private let ids: [TaskID]

    init(_ arguments: Arguments) throws(CommandError) {
        ids = try arguments.taskIDs()
        guard !ids.isEmpty else {
            throw .usage("`info` needs the number of a task; `backhaul tasks` and `history` show the numbers")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            for id in ids {
                let session = try context.attach(application, role: .observe, task: id)
                let task = try Info.find(id, session, context)
                if context.output.isJSON {
                    try context.output.result(task.json)
                } else {
                    try context.output.result(lines: Info.lines(task))
                }
            }
            return .done
        }
    }

    /// Finds a task in the list of tasks. If the event about the task's end was acknowledged, the task is in the
    /// history.
    static func find(
        _ id: TaskID, _ session: Session, _ context: Context
    ) throws(CommandError) -> TaskInfo {
        do {
            return try session.task(id)
        } catch {
            guard error.status == .notFound else { throw error }
            if let ended = try session.taskInHistory(id) { return ended }
            throw error.with(.notFound) { _ in
                "there is no task \(id) in session \(context.sessionName) or in its history; `backhaul tasks` and "
                    + "`history` list the tasks"
            }
        }
    }

    /// A constraint as the option that sets it.
    private static func option(_ field: String, _ value: String) -> String {
        let setting = Setting.constraintSettings.first { $0.field == "constraints." + field }
        return (setting?.words ?? field) + " " + value
    }

    static func lines(_ task: TaskInfo) -> [String] {
        var fields: [(String, String)] = [
            ("task", "\(task.id)"),
            ("state", task.state.word + (task.source.map { " (\($0))" } ?? "")), ("url", task.url),
            ("destination", task.isUpload ? "the server" : task.destination ?? "kept in the store"),
            (
                task.isUpload ? "sent" : task.hasEnded ? "received" : "kept",
                Text.size(task.done) + (task.total.map { " of " + Text.size($0) } ?? "")
            ),
            ("attempts", String(task.attempts)), ("priority", String(task.priority)),
            ("enqueued", Text.dateAndTime(task.enqueuedMilliseconds)),
        ]
        if let time = task.endedMilliseconds { fields.append(("ended", Text.dateAndTime(time))) }
        if let reason = task.reasonText, task.waitsFor != .rate { fields.insert(("why", reason), at: 2) }
        if let time = task.earliestStartMilliseconds { fields.append(("earliest start", Text.timeWithCountdown(time))) }
        if let time = task.latestStartMilliseconds { fields.append(("latest start", Text.timeWithCountdown(time))) }
        let asked = task.constraints.json.lines
        if !asked.isEmpty {
            fields.append(("asks for", asked.map(Info.option).joined(separator: ", ")))
        }
        if let time = task.nextAttempt { fields.append(("next attempt", Text.time(until: time))) }
        if let limit = task.rateLimit { fields.append(("rate limit", Text.size(limit) + "/s")) }
        if task.bytesPerSecond > 0 { fields.append(("rate", Text.size(task.bytesPerSecond) + "/s")) }
        if let error = task.errorMessage { fields.append(("last error", error)) }
        if let status = task.httpStatus { fields.append(("HTTP status", String(status))) }
        if let group = task.group { fields.append(("group", group)) }
        if let path = task.path { fields.append(("file", path)) }
        if let key = task.idempotencyKey { fields.append(("key", key)) }
        return fields.map { Text.padded($0.0 + ":", columns: 16) + Text.visible($0.1) } + [""]
    }
}
