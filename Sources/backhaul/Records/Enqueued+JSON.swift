import Backhaul

extension Enqueued {
    /// The result for a download that succeeded before, and whose end was acknowledged.
    init(former id: TaskID) { self.init(taskID: id, isNew: false, state: .succeeded, eventID: nil) }

    var hasEnded: Bool { state?.hasEnded ?? false }

    /// - Parameter transfer: The enqueued transfer.
    func json(_ transfer: Transfer) -> JSON {
        .record(
            "bh_enqueued",
            [
                ("task_id", .id(taskID)), ("url", .string(transfer.url)),
                ("destination", .optional(transfer.destination)), ("event_id", .id(eventID)),
                ("disposition", .string(isNew ? "new" : "existing")),
                ("task_state", .word(state ?? (transfer.request.startsSuspended ? .suspended : .waiting))),
            ])
    }
}
