import CBackhaul

/// The result of enqueueing a transfer.
struct EnqueueResult {
    let taskID: UInt64
    /// The state (`BH_TASK_…`) of the task if it existed before the enqueue. Nil if the task is new.
    var state: Int32?
    /// The id of the event that reports the task's end. 0 if there is no such event, or if the event was acknowledged
    /// (deleted).
    var event: UInt64 = 0

    init(_ enqueued: bh_enqueued) {
        taskID = enqueued.task_id
        state = Int(enqueued.disposition) == BH_ENQUEUE_EXISTING ? enqueued.task_state : nil
        event = enqueued.event_id
    }

    /// The result for a download that succeeded before, and whose end was acknowledged.
    init(former id: UInt64) {
        taskID = id
        state = Int32(BH_TASK_SUCCEEDED)
    }

    var isNew: Bool { state == nil }
    var hasEnded: Bool { state.map { Int($0) >= BH_TASK_SUCCEEDED } ?? false }
    var hasSucceeded: Bool { state.map { Int($0) == BH_TASK_SUCCEEDED } ?? false }
    /// Whether the task's end was acknowledged. If so, no event will report this end.
    var isAcknowledged: Bool { hasEnded && event == 0 }

    /// - Parameter transfer: The enqueued transfer.
    func json(_ transfer: Transfer) -> JSON {
        let startState = Int32(transfer.startsSuspended ? BH_TASK_SUSPENDED : BH_TASK_WAITING)
        return .record(of: bh_enqueued.self, [
            ("task_id", .number(taskID)), ("url", .string(transfer.url)),
            ("destination", .optional(transfer.destination)), ("event_id", .number(unlessZero: event)),
            ("disposition", .string(isNew ? "new" : "existing")),
            ("task_state", .string(Names.taskState(state ?? startState))),
        ])
    }
}
