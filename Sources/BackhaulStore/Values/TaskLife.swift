internal import BackhaulModel

/// What the row of a task, or of its history, says about when it could not run.
struct TaskLife {
    var enqueued: Int64
    var ended: Int64?
    var constraints: ConstraintsID
    var lane: LaneID
    var earliestStart: Int64?
    var latestStart: Int64?
    var suspendedSince: Int64?
    /// Of the delay that lasts.
    var dueReason: WaitReason?
    var challengeOpened: Int64?
    /// Since when it has waited for an earliest start that was set later; nil: since its enqueue.
    var startDelayed: Int64?
}
