internal import CBackhaul

/// The live progress of a running task. It is not an event: a newer reading replaces one that was not read.
public struct TaskProgress: Hashable, Sendable {
    public let taskID: TaskID
    /// The task's state. A state that only a newer version of the library has is `.waiting`.
    public let state: TaskState
    /// Why the task does not progress. Nil while it runs, and for a reason that only a newer version of the library
    /// has.
    public let reason: WaitingReason.Code?
    /// The bytes of the file that were received and kept.
    public let offset: UInt64
    /// The size of the whole file in bytes; nil until a response has stated it.
    public let size: UInt64?
    /// The rate over the last seconds, both directions together.
    public let bytesPerSecond: UInt64
    /// The bytes of the request's body that were sent in this attempt.
    public let bodySent: UInt64
    /// The size of the request's body in bytes; 0 without one.
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
