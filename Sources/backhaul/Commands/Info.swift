import CBackhaul

/// The command `info`: shows the details of tasks. `attempts` and `why` show what this command omits.
struct Info: Command {
    static let description = CommandDescription(
        name: "info", operands: "TASK...", summary: "show the state, times, sizes and last error of transfers",
        examples: ["backhaul info 12"],
        details: """
            Ended transfers are included while `backhaul history` lists them. `backhaul attempts` shows the attempts of
            a transfer, and `backhaul why` its waits. With --json each transfer is one line, with the same members as in
            `backhaul tasks`.
            """)

    private let ids: [UInt64]

    init(_ arguments: Arguments) throws(CommandError) {
        ids = try arguments.taskIDs()
        guard !ids.isEmpty else {
            throw .usage("`info` needs the number of a task; `backhaul tasks` and `history` show the numbers.")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            for id in ids {
                let session = try context.attach(application, role: BH_ROLE_OBSERVE, task: id)
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

    /// Finds a task in the list of tasks. If the event about the task's end was acknowledged (deleted), the task is in
    /// the history, the list of ended tasks.
    static func find(
        _ id: UInt64, _ session: Session, _ context: Context
    ) throws(CommandError) -> TaskRecord {
        do {
            return try session.task(id)
        } catch {
            guard case .failure(let failure) = error, failure.is(BH_NOT_FOUND) else { throw error }
            if let ended = try session.history(after: id - 1, maximum: 1).tasks.first, ended.id == id { return ended }
            throw .failure(
                failure.withMessage(
                    "There is no task \(id) in session \(context.sessionName) or in its history; `backhaul tasks` "
                        + "and `history` list the tasks."))
        }
    }

    /// A constraint as the option that sets it.
    private static func option(_ field: String, _ value: String) -> String {
        let setting = ConstraintsRecord.settings.first { $0.field == field }
        return (setting.map { "--" + $0.option.name } ?? field) + " " + value
    }

    private static func lines(_ task: TaskRecord) -> [String] {
        var fields: [(String, String)] = [
            ("task", String(task.id)),
            ("state", Names.taskState(task.state) + (task.source.map { " (\($0))" } ?? "")), ("url", task.url),
            ("destination", task.isUpload ? "the server" : task.destination ?? "kept in the store"),
            (
                task.isUpload ? "sent" : "received",
                Text.size(task.done) + (task.total.map { " of " + Text.size($0) } ?? "")
            ),
            ("attempts", String(task.attempts)), ("priority", String(task.priority)),
            ("enqueued", Text.dateAndTime(task.enqueued)),
        ]
        if task.ended != 0 { fields.append(("ended", Text.dateAndTime(task.ended))) }
        if let reason = task.reasonText { fields.insert(("why", reason), at: 2) }
        if task.earliestStart != 0 { fields.append(("earliest start", Text.timeWithCountdown(task.earliestStart))) }
        if task.latestStart != 0 { fields.append(("latest start", Text.timeWithCountdown(task.latestStart))) }
        if let asked = task.constraints?.json.lines, !asked.isEmpty {
            fields.append(("asks for", asked.map(Info.option).joined(separator: ", ")))
        }
        if task.nextAttempt != 0 { fields.append(("next attempt", Text.time(until: task.nextAttempt))) }
        if task.rate > 0 { fields.append(("rate", Text.size(task.rate) + "/s")) }
        if let error = task.errorMessage { fields.append(("last error", error)) }
        if task.httpStatus != 0 { fields.append(("HTTP status", String(task.httpStatus))) }
        if let group = task.group { fields.append(("group", group)) }
        if let path = task.path { fields.append(("file", path)) }
        if let key = task.key { fields.append(("key", key)) }
        return fields.map { Text.padded($0.0 + ":", columns: 16) + Text.visible($0.1) } + [""]
    }
}
