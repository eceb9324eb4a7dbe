import Backhaul

/// Writes the notes and draws the progress while a command follows transfers.
extension Watch {
    func noteRemaining(_ beginning: String) {
        let count: String
        var verb = "continues"
        if case .tasks = scope {
            if remaining.isEmpty { return }
            count = Text.count(remaining.count, "transfer") + (remaining.count == 1 ? " is" : " are")
            if remaining.count != 1 { verb = "continue" }
        } else {
            count = "Each transfer that has not ended is"
        }
        let place = "\(beginning)\(count) left in session \(context.sessionName)"
        context.output.note(
            context.isEmbedded
                ? "\(place), and the received bytes are kept. Continue with: \(context.waitCommand)"
                : "\(place), and \(verb) in the background. Follow it with: \(context.waitCommand)")
    }

    /// Writes a note about an activity that is due. The program that does the work acknowledges the event.
    func noteDueActivity(_ event: ActivityEvent) {
        context.output.note(
            "Activity \(event.activity) is due; the program that does its work acknowledges the event: "
                + context.command("events"))
    }

    func draw() throws(CommandError) {
        guard let terminal = context.output.progressTerminal else { return }
        let (columns, rows) = terminal.size
        let ids: [TaskID]?
        let live: Int
        if case .tasks = scope {
            ids = remaining.count <= 500 ? remaining.sorted() : nil
            live = remaining.count
        } else {
            ids = nil
            let name = context.sessionName
            live = Int(clamping: try application.run(.sessions).first { $0.identifier == name }?.liveTasks ?? 0)
        }
        let visible = max(1, min(8, rows - 4))
        let running = try session.tasks(TaskSelection(ids: ids, states: [.running]), maximum: 256)
        var shown = Array(running.prefix(visible))
        if shown.count < visible {
            let waiting = try session.tasks(
                TaskSelection(ids: ids, states: [.waiting, .suspended]), maximum: 32)
            // A waiting task is shown if something delays it. If there is no such task and no running task, the tasks
            // that are suspended or wait for a free slot are shown.
            let notable = waiting.filter { $0.waitsFor != .slot && $0.waitsFor != .suspended }
            shown += (shown.isEmpty && notable.isEmpty ? Array(waiting.prefix(3)) : notable)
                .prefix(visible - shown.count)
        }
        let reading = ProgressReading(shown: shown, running: running, live: live, tally: tally)
        context.output.draw(reading.lines(columns: columns - 1, terminal: terminal))
    }
}
