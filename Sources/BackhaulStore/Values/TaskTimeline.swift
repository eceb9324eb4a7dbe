internal import BackhaulModel

/// The values from which the waits of a task are computed. They come from the task's row in `tasks` or in `history`.
struct TaskTimeline {
    var enqueued: Int64
    var ended: Int64?
    var constraints: ConstraintsID
    var lane: LaneID
    var earliestStart: Int64?
    var latestStart: Int64?
    var suspendedSince: Int64?
    /// The reason of the task's current delay; nil if the task is not delayed.
    var dueReason: WaitReason?
    var challengeOpened: Int64?
    /// If the earliest start was changed after the enqueue: usually the time at which the task began to wait for the
    /// new earliest start. Nil if the earliest start was never changed. Also nil if the task has waited for an
    /// earliest start since the enqueue. `StartOperations` lists all values of this column (`start_delayed_ms`).
    var startDelayed: Int64?
}
