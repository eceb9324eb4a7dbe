import Backhaul
import CLinux
import Glibc

/// The command `watch`: shows the transfers of all sessions on a live screen.
struct LiveScreen: DescribedCommand {
    static let description = CommandDescription(
        name: "watch", operands: "", summary: "show the transfers of all sessions on a live screen",
        examples: [
            "backhaul watch", "backhaul watch --application org.example.photos", "backhaul watch --session photos",
            "backhaul watch --json | jq .task.state",
        ],
        details: """
            Shows the transfers that run, what the others wait for and until when, and the rate of the last five
            minutes. The key `?` shows the keys, with which you suspend, resume, retry, limit, cancel and explain
            transfers; `q` ends. With --application only the transfers of this application are shown, and with
            --session only those of sessions with this name.

            In a pipe, or on a terminal that cannot move its cursor, each change of a transfer is a line: the time, the
            application (without --application), the session, the number, the name and the state. First come the
            transfers that have not ended. The command ends when the pipe is closed. With --json, on a terminal too,
            each line is a document with time_ms, application, session and task.
            """, storeUse: .lists, listing: .sessions)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`watch` takes no arguments; `backhaul watch --session NAME` shows one session")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let terminalSignals = TerminalSignals()
        return try context.withApplication { (application) throws(CommandError) in
            if !context.output.isJSON, isatty(STDIN_FILENO) == 1, let terminal = Terminal(STDOUT_FILENO) {
                if let screen = CursesScreen(hasColors: terminal.hasColors) {
                    try Monitor(context, application, terminal, screen, terminalSignals).run()
                    return .done
                }
                context.output.note(
                    "The terminal database does not have the terminal '\(environment("TERM") ?? "")' of $TERM, so "
                        + "each change is written as a line.")
            }
            try ChangeLines(context, application).run()
            return .done
        }
    }
}
