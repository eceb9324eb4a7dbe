import Backhaul

/// The command `tasks`: lists the tasks of a session.
struct Tasks: DescribedCommand {
    static let description = CommandDescription(
        name: "tasks", operands: "", summary: "list the transfers of a session",
        examples: ["backhaul tasks", "backhaul tasks --state running,waiting --json"],
        options: [
            OptionDescription(
                "state", nil, "STATE,...",
                "only tasks in these states: waiting, running, suspended, succeeded, failed, cancelled",
                words: TaskState.words.map(\.word)),
            OptionDescription("group", nil, "NAME", "only tasks of this group", kind: .group),
        ],
        details: """
            Ended transfers are listed until their end is acknowledged. With --json each transfer is one line.
            """, storeUse: .lists)

    private let selection: TaskSelection

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`tasks` takes no arguments; see `backhaul info`") }
        var states: Set<TaskState> = []
        for word in arguments.all("state").flatMap({ $0.split(separator: ",") }) {
            guard let state = TaskState.words.first(where: { $0.word == word }) else {
                let states = TaskState.words.map(\.word)
                throw .usage("there is no state '\(word)'" + Suggestion.phrase(for: String(word), among: states))
            }
            states.insert(state.value)
        }
        selection = TaskSelection(states: states.isEmpty ? nil : states, group: arguments.value("group"))
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var isFirstPage = true
            try context.forEachSession(application, role: .observe) { (session) throws(CommandError) in
                try session.forEachPage(selection) { (tasks) throws(CommandError) in
                    let columns = context.output.columns
                    var lines = tasks.map { context.output.isJSON ? $0.json.text : Tasks.line($0, columns: columns) }
                    if isFirstPage && !tasks.isEmpty && !context.output.isJSON {
                        lines.insert(Tasks.header(columns: columns), at: 0)
                    }
                    try context.output.result(lines: lines)
                    isFirstPage = isFirstPage && tasks.isEmpty
                    return true
                }
            }
            if isFirstPage {
                let what = selection == .all ? "no transfers" : "no such transfers"
                context.output.noteOnTerminal("Session \(context.baseName) has \(what).")
            }
            return .done
        }
    }

    /// - Parameters:
    ///   - ended: The title of the column with the times of the ends. Nil means that there is no such column.
    ///   - columns: The width of the terminal. Nil means that a line may have any length.
    static func header(ended: String? = nil, columns: Int?) -> String {
        row("TASK", ended, "STATE", "DONE", "OF", columns) + "URL"
    }

    /// - Parameters:
    ///   - ended: The time of the end. Nil if there is no such column.
    ///   - remark: A phrase that follows the URL. Nil means a phrase about why the transfer waits or has failed.
    ///   - columns: The width of the terminal. Nil means that a line may have any length.
    static func line(_ task: TaskInfo, ended: String? = nil, remark: String? = nil, columns: Int?) -> String {
        var state = task.state.word
        if let source = task.source { state += " (\(source))" }
        if let reason = task.reason, !task.hasEnded, reason.code != .suspended {
            state += " (" + reason.code.word + ")"
        }
        let start = row(
            "\(task.id)", ended, state, Text.size(task.done), task.total.map { Text.size($0) } ?? "?", columns)
        let remark = remark ?? Tasks.remark(task, showsError: ended == nil).map { " (\($0))" } ?? ""
        return start
            + ScreenText.fitted(
                task.url + file(task), remark, columns: columns.map { max(0, $0 - Text.width(start)) })
    }

    /// The name of the file, if the URL does not show it.
    private static func file(_ task: TaskInfo) -> String {
        let name = TransferName.file(of: task)
        return task.isUpload || task.destination == nil || name == TransferName.file(of: task.url) ? "" : " -> " + name
    }

    /// A phrase with the reason why the task waits, and with the time of the next attempt or of the next check. The
    /// reason is the error of the last attempt, or the condition that is not met. Nil for any other task.
    /// - Parameter showsError: Whether the phrase about a failed task is its error.
    private static func remark(_ task: TaskInfo, showsError: Bool) -> String? {
        if task.state == .failed { return showsError ? task.errorMessage : nil }
        let isRetry = task.waitsFor == .retry || task.waitsFor == .origin
        guard !task.hasEnded, isRetry || WaitPhrases.isConstraint(task.waitsFor) else { return nil }
        let text = isRetry ? task.errorMessage ?? task.reasonText : task.reasonText
        return [text, WaitPhrases.next(task)].compactMap { $0 }.joined(separator: "; ")
    }

    /// The columns before the URL. On a narrow terminal, the column with the times of the ends takes the place of the
    /// sizes.
    private static func row(
        _ id: String, _ ended: String?, _ state: String, _ done: String, _ size: String, _ columns: Int?
    ) -> String {
        let start =
            Text.padded(left: id, columns: 6) + "  " + (ended.map { Text.padded($0, columns: 19) } ?? "")
            + Text.padded(state, columns: 25)
        if ended != nil, let columns, columns < Terminal.wide { return start }
        return start + Text.padded(left: done, columns: 9) + Text.padded(left: size, columns: 10) + "  "
    }
}
