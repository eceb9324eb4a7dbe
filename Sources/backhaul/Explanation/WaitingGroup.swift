import Backhaul

/// The transfers that wait for the same reason, in one session. The group counts all of these transfers, and stores the
/// first few.
struct WaitingGroup {
    struct Key: Hashable {
        let reason: Reason?
        let text: String

        /// Returns when the group began to wait, in Unix milliseconds. Nil if the start is not known. If no hold has
        /// the sentence of the group, all holds with its reason count. The hold of a budget has another sentence.
        func began(_ holds: [Hold]) -> Int64? {
            let ofReason = holds.filter { $0.reason.code == reason }
            let ofGroup = ofReason.filter { OptionNaming.spoken($0.reason.text) == text }
            return (ofGroup.isEmpty ? ofReason : ofGroup).map(\.beganMilliseconds).filter { $0 > 0 }.min()
        }
    }

    static let storedTransferLimit = 10
    /// Up to this number of groups, tasks are grouped by their reason and by the sentence about it (`text`). When there
    /// are this many groups, further tasks are grouped by their reason alone.
    static let groupLimit = 50

    let reason: Reason?
    let text: String
    private(set) var count = 0
    private(set) var first: [TaskInfo] = []
    /// The earliest time of a next check or of a next attempt, in Unix milliseconds. Nil if there is no such time,
    /// because the group waits for a change.
    private(set) var nextCheck: Int64?
    private(set) var isRunning = true

    /// Adds a task to its group. `order` has the keys of the groups, oldest group first.
    static func gather(_ task: TaskInfo, into groups: inout [Key: WaitingGroup], order: inout [Key]) {
        guard !task.hasEnded, task.reason != nil else { return }
        // Tasks that wait for a retry form one group, because each failed attempt may have a different sentence.
        let hasOwnSentence = task.waitsFor != .retry && groups.count < groupLimit
        let key = Key(reason: task.waitsFor, text: hasOwnSentence ? task.reasonText ?? "" : "")
        if groups[key] == nil { order.append(key) }
        groups[key, default: WaitingGroup(reason: task.waitsFor, text: task.reasonText ?? "")].add(task)
    }

    private mutating func add(_ task: TaskInfo) {
        count += 1
        if first.count < WaitingGroup.storedTransferLimit { first.append(task) }
        nextCheck = [nextCheck, task.nextAttempt].compactMap { $0 }.min()
        isRunning = isRunning && task.state == .running
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
        .excerpt(
            "bh_hold",
            [
                ("reason_text", text.isEmpty ? .null : .string(text)), ("reason", .word(reason)),
                ("began_ms", .number(waitExplanation.began)),
                ("next_check_ms", .number(nextCheck)), ("tasks", .number(count)),
                ("first_tasks", .array(first.map { .id($0.id) })),
                ("advice", .array(waitExplanation.advice.map { $0.json })),
            ])
    }
}
