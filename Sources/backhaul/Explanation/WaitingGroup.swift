import CBackhaul

/// Transfers of a session that do not move for the same reason. However many they are, a few are kept.
struct WaitingGroup {
    struct Key: Hashable {
        let reason: Int32
        let text: String
    }

    static let keptTransfers = 10
    /// Beyond it sentences are told apart no more.
    static let groupLimit = 50

    let reason: Int32
    let text: String
    private(set) var count = 0
    private(set) var first: [TaskRecord] = []
    /// The earliest of them, in Unix milliseconds; 0: when something changes.
    private(set) var nextLook: Int64 = 0
    private(set) var isRunning = true

    /// Groups in the order in which they were first seen.
    static func gather(_ task: TaskRecord, into groups: inout [Key: WaitingGroup], order: inout [Key]) {
        guard !task.hasEnded, Int(task.reason) != BH_REASON_NONE else { return }
        // Each failed try, and each server, may have a sentence of its own, and they would be as many groups.
        let isSaid = Int(task.reason) != BH_REASON_RETRY && groups.count < groupLimit
        let key = Key(reason: task.reason, text: isSaid ? task.reasonText ?? "" : "")
        if groups[key] == nil { order.append(key) }
        groups[key, default: WaitingGroup(reason: task.reason, text: task.reasonText ?? "")].add(task)
    }

    private mutating func add(_ task: TaskRecord) {
        count += 1
        if first.count < WaitingGroup.keptTransfers { first.append(task) }
        if task.nextAttempt > 0, nextLook == 0 || task.nextAttempt < nextLook { nextLook = task.nextAttempt }
        isRunning = isRunning && Int(task.state) == BH_TASK_RUNNING
    }

    /// - Parameter began: Since when, in Unix milliseconds; nil when that is not kept.
    func story(
        _ facts: WaitFacts, session: String, began: Int64?, now: Int64, command: @escaping ([String]) -> String
    ) -> WaitStory {
        WaitStory(
            reason: reason, text: text, nextLook: nextLook, isRunning: isRunning, transfers: first, count: count,
            session: session, facts: facts, began: began, now: now, command: command)
    }

    func json(_ story: WaitStory) -> JSON {
        .excerpt(of: bh_hold.self, [
            ("reason_text", text.isEmpty ? .null : .string(text)), ("reason", .string(Names.reason(reason))),
            ("began_ms", story.began.map { .integer($0) } ?? .null),
            ("next_look_ms", .number(unlessZero: nextLook)), ("tasks", .number(count)),
            ("first_tasks", .array(first.map { .number($0.id) })),
            ("advice", .array(story.advice.map { $0.json })),
        ])
    }
}
