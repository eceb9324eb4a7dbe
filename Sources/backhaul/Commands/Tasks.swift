import CBackhaul

/// The command `tasks`: lists the tasks (downloads and uploads) of a session (a named collection of tasks).
struct Tasks: Command {
    static let description = CommandDescription(
        name: "tasks", operands: "", summary: "list the transfers of a session",
        examples: ["backhaul tasks", "backhaul tasks --state running,waiting --json"],
        options: [
            OptionDescription(
                "state", nil, "STATE,...",
                "only tasks in these states: waiting, running, suspended, succeeded, failed, cancelled"),
            OptionDescription("group", nil, "NAME", "only tasks of this group"),
        ],
        details: """
            Ended transfers are listed until their end is acknowledged. With --json each transfer is one line.
            """, storeUse: .lists)

    private let selection: TaskSelection

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`tasks` takes no arguments; see `backhaul info`.") }
        var states: [Int] = []
        for word in arguments.all("state").flatMap({ $0.split(separator: ",") }) {
            guard let state = Names.taskStates.first(where: { $0.1 == word }) else {
                throw .usage("There is no state '\(word)'; `backhaul tasks --help` lists the states.")
            }
            states.append(state.0)
        }
        selection = TaskSelection(states: states, group: arguments.value("group"))
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var isFirstPage = true
            try context.forEachSession(application, role: BH_ROLE_OBSERVE) { (session) throws(CommandError) in
                try session.forEachPage(selection) { (tasks) throws(CommandError) in
                    var lines = tasks.map { context.output.isJSON ? $0.json.text : Tasks.line($0) }
                    if isFirstPage && !tasks.isEmpty && !context.output.isJSON { lines.insert(Tasks.header(), at: 0) }
                    try context.output.result(lines: lines)
                    isFirstPage = isFirstPage && tasks.isEmpty
                    return true
                }
            }
            return .done
        }
    }

    /// - Parameter ended: The title of the column with the times of the ends. Nil means that there is no such column.
    static func header(ended: String? = nil) -> String { row("TASK", ended, "STATE", "DONE", "OF", "URL") }

    static func line(_ task: TaskRecord, ended: String? = nil) -> String {
        var state = Names.taskState(task.state)
        if let source = task.source { state += " (\(source))" }
        if !task.hasEnded && Int(task.reason) != BH_REASON_NONE && Int(task.reason) != BH_REASON_SUSPENDED {
            state += " (" + Names.reason(task.reason) + ")"
        }
        return row(
            String(task.id), ended, state, Text.size(task.done), task.total.map { Text.size($0) } ?? "?",
            Text.visible(task.url + (remark(task).map { " (\($0))" } ?? "")))
    }

    /// A phrase with the reason why the task waits, and with the time of the next attempt (run of the task) or of the
    /// next check. The reason is the error of the last attempt, or the condition that is not met. Nil if the task has
    /// ended, or waits for anything else.
    private static func remark(_ task: TaskRecord) -> String? {
        let isRetry = Int(task.reason) == BH_REASON_RETRY
        guard !task.hasEnded, isRetry || Int(task.reason) >= BH_REASON_POWER else { return nil }
        let text = isRetry ? task.errorMessage ?? task.reasonText : task.reasonText
        return [text, WaitPhrases.next(task)].compactMap { $0 }.joined(separator: "; ")
    }

    private static func row(
        _ id: String, _ ended: String?, _ state: String, _ done: String, _ size: String, _ url: String
    ) -> String {
        Text.padded(left: id, columns: 6) + "  " + (ended.map { Text.padded($0, columns: 19) } ?? "")
            + Text.padded(state, columns: 25) + Text.padded(left: done, columns: 9)
            + Text.padded(left: size, columns: 10) + "  " + url
    }
}
