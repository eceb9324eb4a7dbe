import Backhaul

/// Counts the transfers that have ended so far, by their results.
struct Tally {
    private(set) var ended = 0
    /// The number of failed transfers, without the cancelled ones.
    private(set) var failed = 0
    private(set) var cancelled = 0
    /// The number of transfers that failed because their destination cannot be used.
    private(set) var refused = 0
    /// The number of transfers that count as failed because another process acknowledged the events about their ends.
    private(set) var unknown = 0
    private(set) var bytes: UInt64 = 0

    mutating func add(_ ending: Ending) {
        ended += 1
        if ending.succeeded {
            bytes = bytes.addingReportingOverflow(ending.size).partialValue
        } else if ending.isCancelled {
            cancelled += 1
        } else {
            failed += 1
            if ending.state == nil { unknown += 1 } else if ending.error?.exitCode == .refused { refused += 1 }
        }
    }

    var exitCode: ExitCode {
        if failed + cancelled == 0 { return .done }
        if cancelled > 0 { return .transferFailed }
        return failed == refused ? .refused : failed == unknown ? .endUnknown : .transferFailed
    }

    func sentence(seconds: Int64) -> String {
        let files = Text.count(ended - failed - cancelled, "file")
        let done = "\(files), \(Text.size(bytes)) in \(Text.duration(seconds: seconds))"
        return ([done] + unsuccessful).joined(separator: ", ") + "."
    }

    /// The counts of failed and of cancelled transfers, in words: "2 failed", "1 cancelled".
    var unsuccessful: [String] {
        (failed > 0 ? ["\(failed) failed"] : []) + (cancelled > 0 ? ["\(cancelled) cancelled"] : [])
    }
}

/// The progress of the transfers at one moment, and the lines that show it.
struct ProgressReading {
    /// The tasks for which a line is drawn.
    let shown: [TaskInfo]
    let running: [TaskInfo]
    /// The number of tasks that have not ended.
    let live: Int
    let tally: Tally

    func lines(columns: Int, terminal: Terminal) -> [String] {
        var lines = shown.map { ProgressReading.line($0, columns: columns, terminal: terminal) }
        if live + tally.ended > 1 { lines.append(Text.fitted(summary, columns: columns)) }
        return lines
    }

    private var summary: String {
        var parts = ["\(tally.ended) of \(tally.ended + live) done"]
        parts += tally.unsuccessful
        if running.count > 0 { parts.append("\(running.count) running") }
        let bytes = running.reduce(tally.bytes) { $0.addingReportingOverflow($1.done).partialValue }
        parts.append(Text.size(bytes))
        let rate = running.reduce(UInt64(0)) { $0.addingReportingOverflow($1.bytesPerSecond).partialValue }
        if rate > 0 { parts.append(Text.size(rate) + "/s") }
        return parts.joined(separator: ", ")
    }

    private static func line(_ task: TaskInfo, columns: Int, terminal: Terminal) -> String {
        let name = TransferName.file(of: task)
        // A transfer below a rate limit moves bytes, although it waits between them.
        guard task.state == .running, task.reason == nil || task.waitsFor == .rate else {
            return waitingLine(task, name, columns)
        }
        let rate = task.bytesPerSecond > 0 ? Text.size(task.bytesPerSecond) + "/s" : ""
        guard let size = task.total, size > 0 else {
            return row(name, [Text.size(task.done), rate], [10, 11], columns)
        }
        let offset = min(task.done, size)
        let share = Double(offset) / Double(size)
        let percent = "\(Int(share * 100))%"
        let seconds = task.bytesPerSecond > 0 ? Int64(clamping: (size - offset) / task.bytesPerSecond) : 0
        let left = task.bytesPerSecond > 0 ? Text.duration(seconds: seconds) + " left" : ""
        let amount = Text.size(offset) + " of " + Text.size(size)
        if columns < 60 { return row(name, [percent, rate], [5, 11], columns) }
        if columns < 100 { return row(name, [percent, amount, rate], [5, 20, 11], columns) }
        let barColumns = 20
        let filled = Int(share * Double(barColumns))
        let bar =
            "[" + terminal.colored(String(repeating: "=", count: filled), 32)
            + String(repeating: " ", count: barColumns - filled) + "]"
        let rest = row(name, [percent, amount, rate, left], [5, 20, 11, 16], columns - barColumns - 3)
        return rest + " " + bar
    }

    /// The line of a task that moves no bytes. The line shows why the task waits.
    private static func waitingLine(_ task: TaskInfo, _ name: String, _ columns: Int) -> String {
        // After a failed attempt, the error of the attempt is more useful than the reason "retry".
        let isRetry = task.waitsFor == .retry
        var reason = Text.visible((isRetry ? task.errorMessage : nil) ?? task.reasonText ?? "")
        if let next = WaitPhrases.next(task) { reason += " (\(next))" }
        if reason.isEmpty { reason = task.state.word }
        let nameColumns = min(Text.width(name), max(8, columns / 3))
        return Text.fitted(name, columns: nameColumns) + "  "
            + Text.fitted(reason, columns: max(0, columns - nameColumns - 2))
    }

    /// A line with a name and numbers. The name gets all columns that the numbers do not need.
    private static func row(_ name: String, _ cells: [String], _ widths: [Int], _ columns: Int) -> String {
        let right = zip(cells, widths).map { Text.padded(left: $0, columns: $1 + 1) }.joined()
        let room = max(3, columns - Text.width(right))
        return Text.fitted(Text.padded(Text.fitted(name, columns: room), columns: room) + right, columns: columns)
    }
}
