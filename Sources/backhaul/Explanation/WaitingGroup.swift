import CBackhaul

/// The transfers that wait for the same reason, in one session (a named collection of transfers). The group counts all
/// of these transfers, and stores the first few.
struct WaitingGroup {
    struct Key: Hashable {
        let reason: Int32
        let text: String
    }

    static let storedTransferLimit = 10
    /// Up to this number of groups, tasks are grouped by their reason and by the sentence about it (`text`). When there
    /// are this many groups, further tasks are grouped by their reason alone.
    static let groupLimit = 50

    let reason: Int32
    let text: String
    private(set) var count = 0
    private(set) var first: [TaskRecord] = []
    /// The earliest time of a next check or of a next attempt (run of a task), in Unix milliseconds. 0 if there is no
    /// such time, because the group waits for a change.
    private(set) var nextCheck: Int64 = 0
    private(set) var isRunning = true

    /// Adds a task to its group. `order` has the keys of the groups, oldest group first.
    static func gather(_ task: TaskRecord, into groups: inout [Key: WaitingGroup], order: inout [Key]) {
        guard !task.hasEnded, Int(task.reason) != BH_REASON_NONE else { return }
        // Tasks that wait for a retry form one group, because each failed attempt may have a different sentence.
        let hasOwnSentence = Int(task.reason) != BH_REASON_RETRY && groups.count < groupLimit
        let key = Key(reason: task.reason, text: hasOwnSentence ? task.reasonText ?? "" : "")
        if groups[key] == nil { order.append(key) }
        groups[key, default: WaitingGroup(reason: task.reason, text: task.reasonText ?? "")].add(task)
    }

    private mutating func add(_ task: TaskRecord) {
        count += 1
        if first.count < WaitingGroup.storedTransferLimit { first.append(task) }
        if task.nextAttempt > 0, nextCheck == 0 || task.nextAttempt < nextCheck { nextCheck = task.nextAttempt }
        isRunning = isRunning && Int(task.state) == BH_TASK_RUNNING
    }

    /// - Parameter began: The start of the wait in Unix milliseconds. Nil if the start is not known.
    func waitExplanation(
        _ facts: WaitFacts, session: String, began: Int64?, now: Int64, command: @escaping ([String]) -> String
    ) -> WaitExplanation {
        WaitExplanation(
            reason: reason, text: text, nextCheck: nextCheck, isRunning: isRunning, transfers: first, count: count,
            session: session, facts: facts, began: began, now: now, command: command)
    }

    func json(_ waitExplanation: WaitExplanation) -> JSON {
        .excerpt(of: bh_hold.self, [
            ("reason_text", text.isEmpty ? .null : .string(text)), ("reason", .string(Names.reason(reason))),
            ("began_ms", waitExplanation.began.map { .integer($0) } ?? .null),
            ("next_check_ms", .number(unlessZero: nextCheck)), ("tasks", .number(count)),
            ("first_tasks", .array(first.map { .number($0.id) })),
            ("advice", .array(waitExplanation.advice.map { $0.json })),
        ])
    }
}
