import Backhaul
import Glibc

/// Writes a line for each change of a transfer, where there is no terminal for the live screen.
final class ChangeLines {
    private static let interval: Int64 = 1000

    private let context: Context
    private let reader: StoreReader
    private var known: [RowKey: ChangeState] = [:]
    /// The time at which the last successful reading began, in Unix milliseconds. Nil before the first one.
    private var lastReading: Int64?
    private var lastProblem: String?
    private var lastAbsence: String?
    private var hasReportedOmission = false

    init(_ context: Context, _ application: Application) {
        self.context = context
        reader = StoreReader(context, application)
    }

    /// Runs until a signal arrives, or until the reader of standard output is gone.
    func run() throws(CommandError) {
        while true {
            let start = Clock.wallMilliseconds
            try reader.read()
            if let problem = reader.snapshot.problem, problem != lastProblem { context.output.note(problem) }
            lastProblem = reader.snapshot.problem
            // A later session may have the name.
            if let absence = reader.snapshot.absence, lastAbsence == nil { context.output.note(absence) }
            lastAbsence = reader.snapshot.absence
            if let omission = reader.omission, !hasReportedOmission {
                context.output.note(omission)
                hasReportedOmission = true
            }
            if reader.isRead {
                try write()
                if reader.snapshot.problem == nil { lastReading = start }
            }
            let output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            if try context.signals.wait(for: [output], ChangeLines.interval)[0] != 0 { return }
        }
    }

    private func write() throws(CommandError) {
        let rows = reader.snapshot.rows
        var present: [RowKey: ChangeState] = [:]
        var lines: [String] = []
        for row in rows {
            let state = ChangeState(row.task)
            present[row.key] = state
            // A transfer that first appears after its end is reported if it has ended since the last reading.
            let isChange = known[row.key] != nil || !row.task.hasEnded || hasJustEnded(row.task)
            if known[row.key] != state && isChange { lines.append(line(row.key, row.task)) }
        }
        for (key, state) in known where present[key] == nil && !state.hasEnded {
            if let task = try reader.ended(key) { lines.append(line(key, task)) }
        }
        known = present
        try context.output.result(lines: lines)
    }

    private func hasJustEnded(_ task: TaskInfo) -> Bool {
        guard let lastReading, let ended = task.endedMilliseconds else { return false }
        return ended >= lastReading
    }

    private func line(_ key: RowKey, _ task: TaskInfo) -> String {
        let now = reader.snapshot.now
        if context.output.isJSON {
            return JSON.object([
                ("time_ms", .number(now)), ("application", .string(key.session.application)),
                ("session", .string(key.session.name)), ("task", task.json),
            ]).text
        }
        let row = TransferRow(task, session: key.session)
        let application = context.isApplicationNamed ? [] : [key.session.application]
        return
            ([Text.clockWithSeconds(now)] + application
            + [Text.visible(key.session.name), "\(key.id)", row.name, Text.visible(row.stateText(now: now))])
            .joined(separator: "  ")
    }
}

/// The state and the reason of a transfer. A change of them is worth a line.
struct ChangeState: Equatable {
    private let state: TaskState
    private let reason: Reason?

    init(_ task: TaskInfo) {
        state = task.state
        reason = task.state == .waiting ? task.waitsFor : nil
    }

    var hasEnded: Bool { state.hasEnded }
}
