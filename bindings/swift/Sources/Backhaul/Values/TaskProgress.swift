internal import CBackhaul

/// A reading of the live progress of a running task. A new reading replaces an earlier reading that the host has not
/// received yet.
public struct TaskProgress: Hashable, Sendable {
    /// The task of the reading.
    public let taskID: TaskID
    /// The task's state. `.waiting` if the state is from a newer version of the library.
    public let state: TaskState
    /// Why the task does not progress. Nil if the task progresses, or if the reason is from a newer version of the
    /// library.
    public let reason: WaitingReason.Code?
    /// The number of the file's bytes that are stored.
    public let offset: UInt64
    /// The size of the whole file in bytes. Nil until a response has stated it.
    public let size: UInt64?
    /// The average rate of the last seconds, in both directions together.
    public let bytesPerSecond: UInt64
    /// The bytes of the request's body that were sent in the present attempt.
    public let bodySent: UInt64
    /// The size of the request's body in bytes. 0 if the request has no body.
    public let bodySize: UInt64

    init(_ task: TaskInfo) {
        taskID = task.id
        state = task.state
        reason = task.reason?.code
        offset = task.offset
        size = task.size
        bytesPerSecond = task.bytesPerSecond
        bodySent = task.bodySent
        bodySize = task.bodySize
    }

    init(_ progress: bh_progress) {
        taskID = TaskID(rawValue: progress.task_id)
        state = TaskState(rawValue: progress.state) ?? .waiting
        reason = WaitingReason.Code(rawValue: progress.reason)
        offset = progress.offset
        size = progress.size == BH_SIZE_UNKNOWN ? nil : progress.size
        bytesPerSecond = progress.bytes_per_second
        bodySent = progress.body_sent
        bodySize = progress.body_size
    }
}
