import Backhaul

struct History: DescribedCommand {
    static let description = CommandDescription(
        name: "history", operands: "", summary: "list transfers whose end was acknowledged",
        examples: ["backhaul history", "backhaul history --after 120 --json"],
        options: [OptionDescription("after", nil, "TASK", "only tasks with greater numbers")],
        details: """
            A session keeps the newest 1000 transfers; `backhaul configure --history-limit` changes that. ENDED is the
            time at which the transfer ended. With --json each transfer is one line, with the same members as in
            `backhaul tasks`.
            """, storeUse: .lists)

    private let after: TaskID?

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`history` takes no arguments") }
        after = try arguments.number("after", in: 0...Int64.max).map { TaskID(rawValue: UInt64($0)) }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            guard let session = try context.attach(application, role: .observe) else { return .done }
            var isFirstPage = true
            try session.forEachPageOfHistory(after: after) { (tasks) throws(CommandError) in
                var lines = tasks.map { context.output.isJSON ? $0.json.text : History.line($0) }
                if isFirstPage && !tasks.isEmpty && !context.output.isJSON { lines.insert(History.header, at: 0) }
                try context.output.result(lines: lines)
                isFirstPage = isFirstPage && tasks.isEmpty
            }
            if isFirstPage {
                context.output.noteOnTerminal("The history of session \(context.sessionName) has no transfers.")
            }
            return .done
        }
    }

    private static var header: String { Tasks.header(ended: "ENDED") }

    private static func line(_ task: TaskInfo) -> String {
        let line = Tasks.line(task, ended: Text.dateAndTime(task.endedMilliseconds ?? 0))
        guard let message = task.errorMessage else { return line }
        return line + ": " + Text.visible(message)
    }
}
