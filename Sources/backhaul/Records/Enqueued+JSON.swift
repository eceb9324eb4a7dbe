import Backhaul

extension Enqueued {
    /// The result for a download that succeeded before, and whose end was acknowledged.
    init(former id: TaskID) { self.init(taskID: id, isNew: false, state: .succeeded, eventID: nil) }

    var hasEnded: Bool { state?.hasEnded ?? false }

    /// - Parameter transfer: The enqueued transfer.
    func json(_ transfer: Transfer) -> JSON {
        let state = state ?? (transfer.request.startsSuspended ? .suspended : .waiting)
        return Enqueued.json(transfer, taskID, eventID, isNew ? "new" : "existing", state)
    }

    /// - Parameter transfer: A transfer that was not enqueued, because its file exists.
    static func json(skipped transfer: Transfer) -> JSON { json(transfer, nil, nil, "skipped", nil) }

    private static func json(
        _ transfer: Transfer, _ id: TaskID?, _ event: EventID?, _ disposition: String, _ state: TaskState?
    ) -> JSON {
        .record(
            "bh_enqueued",
            [
                ("task_id", .id(id)), ("url", .string(transfer.url)),
                ("destination", .optional(transfer.destination)), ("event_id", .id(event)),
                ("disposition", .string(disposition)), ("task_state", .word(unlessNil: state)),
            ])
    }
}
