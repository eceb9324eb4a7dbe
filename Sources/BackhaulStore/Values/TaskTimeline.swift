internal import BackhaulModel

/// The times in a task's row, or in its history row, from which its waits follow.
struct TaskTimeline {
    var enqueued: Int64
    var ended: Int64?
    var constraints: ConstraintsID
    var lane: LaneID
    var earliestStart: Int64?
    var latestStart: Int64?
    var suspendedSince: Int64?
    /// The reason of the current delay; nil if there is none.
    var dueReason: WaitReason?
    var challengeOpened: Int64?
    /// The time since which it has waited for a start that was set later; nil: since its enqueue.
    var startDelayed: Int64?
}
