import Backhaul

struct History: DescribedCommand {
    static let description = CommandDescription(
        name: "history", operands: "", summary: "list transfers whose end was acknowledged",
        examples: ["backhaul history", "backhaul history --after 120 --json"],
        options: [OptionDescription("after", nil, "TASK", "only tasks with greater numbers")],
        details: """
            A session keeps the newest 1000 transfers; `backhaul configure --history-limit` changes that. ENDED is the
            time at which the transfer ended. A terminal with less than \(Terminal.wide) columns does not show the
            sizes. With --json each transfer is one line, with the same members as in `backhaul tasks`.
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
                let columns = context.output.columns
                var lines = tasks.map { context.output.isJSON ? $0.json.text : History.line($0, columns) }
                if isFirstPage && !tasks.isEmpty && !context.output.isJSON {
                    lines.insert(History.header(columns), at: 0)
                }
                try context.output.result(lines: lines)
                isFirstPage = isFirstPage && tasks.isEmpty
            }
            if isFirstPage {
                context.output.noteOnTerminal("The history of session \(context.sessionName) has no transfers.")
            }
            return .done
        }
    }

    private static func header(_ columns: Int?) -> String { Tasks.header(ended: "ENDED", columns: columns) }

    private static func line(_ task: TaskInfo, _ columns: Int?) -> String {
        Tasks.line(
            task, ended: Text.dateAndTime(task.endedMilliseconds ?? 0), remark: task.errorMessage.map { ": " + $0 },
            columns: columns)
    }
}
