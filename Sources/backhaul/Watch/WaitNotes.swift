import Backhaul

/// Notes for the user about transfers that wait for conditions of the machine or for the pause of a server. Each reason
/// is reported one time.
struct WaitNotes {
    private var reported: Set<Reason?> = []

    /// Finds waiting tasks in a list of tasks.
    /// - Returns: Sentences about the reasons that were not reported before.
    mutating func newSentences(for tasks: [TaskInfo], _ context: Context) -> [String] {
        tasks.compactMap { task in
            guard !task.hasEnded,
                WaitPhrases.isConstraint(task.waitsFor) || [.origin, .clock].contains(task.waitsFor),
                reported.insert(task.waitsFor).inserted
            else { return nil }
            let why = [task.reasonText, WaitPhrases.next(task)].compactMap { $0 }.joined(separator: "; ")
            return "\(task.url) waits \(WaitPhrases.waits(task.waitsFor)): \(why). "
                + "What to do: \(context.command("why", "\(task.id)"))"
        }
    }
}
