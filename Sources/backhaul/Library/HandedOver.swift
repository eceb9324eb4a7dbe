import CBackhaul

/// What the library did with a transfer that was handed over.
struct HandedOver {
    let taskID: UInt64
    /// Of a transfer that was there already, BH_TASK_…; nil: it is new.
    var state: Int32?
    /// The event of its end until that is acknowledged; otherwise 0.
    var event: UInt64 = 0

    init(_ enqueued: bh_enqueued) {
        taskID = enqueued.task_id
        state = Int(enqueued.disposition) == BH_ENQUEUE_EXISTING ? enqueued.task_state : nil
        event = enqueued.event_id
    }

    var isNew: Bool { state == nil }
    var hasEnded: Bool { state.map { Int($0) >= BH_TASK_SUCCEEDED } ?? false }
    var hasSucceeded: Bool { state.map { Int($0) == BH_TASK_SUCCEEDED } ?? false }
    /// Its end was acknowledged: no event of it comes any more.
    var isOver: Bool { hasEnded && event == 0 }

    /// - Parameter transfer: What was handed over.
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
