internal import CBackhaul

/// A live reading of a running task. It is no event: a newer reading replaces one that was not read.
public struct TaskProgress: Hashable, Sendable {
    public let taskID: TaskID
    /// `.waiting` also for a state that only a newer library has.
    public let state: TaskState
    /// Nil while it runs, and for a reason that only a newer library has.
    public let reason: WaitingReason.Code?
    /// Bytes of the file that are here.
    public let offset: UInt64
    /// Bytes of the whole file; nil until a response has said it.
    public let size: UInt64?
    /// Over the last seconds, both directions.
    public let bytesPerSecond: UInt64
    /// Bytes of the request's body that were sent in this attempt.
    public let bodySent: UInt64
    /// Of the request's body; 0 without one.
    public let bodySize: UInt64

    init(_ progress: bh_progress) {
        taskID = progress.task_id
        state = TaskState(rawValue: progress.state) ?? .waiting
        reason = WaitingReason.Code(rawValue: progress.reason)
        offset = progress.offset
        size = progress.size == BH_SIZE_UNKNOWN ? nil : progress.size
        bytesPerSecond = progress.bytes_per_second
        bodySent = progress.body_sent
        bodySize = progress.body_size
    }
}
