internal import BackhaulModel

/// The values from which the waits of a task follow. They come from the task's row, or from its row in the history.
struct TaskTimeline {
    var enqueued: Int64
    var ended: Int64?
    var constraints: ConstraintsID
    var lane: LaneID
    var earliestStart: Int64?
    var latestStart: Int64?
    var suspendedSince: Int64?
    /// The reason of the task's current delay; nil if it is not delayed.
    var dueReason: WaitReason?
    var challengeOpened: Int64?
    /// The time since which the task has waited for an earliest start that was set after its enqueue; nil if its starts
    /// have not changed.
    var startDelayed: Int64?
}
