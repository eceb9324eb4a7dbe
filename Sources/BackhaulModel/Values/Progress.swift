/// The present progress of one task: `bh_progress`.
public struct Progress: Equatable, Sendable {
    public var task: TaskID
    public var state: TaskState
    public var reason: WaitReason
    public var offset: UInt64
    public var size: UInt64?
    public var bytesPerSecond: UInt64
    /// How many bytes of the request's body were sent in this attempt.
    public var bodySent: UInt64
    public var bodySize: UInt64

    public init(
        task: TaskID, state: TaskState, reason: WaitReason, offset: UInt64, size: UInt64?, bytesPerSecond: UInt64,
        bodySent: UInt64 = 0, bodySize: UInt64 = 0
    ) {
        self.task = task
        self.state = state
        self.reason = reason
        self.offset = offset
        self.size = size
        self.bytesPerSecond = bytesPerSecond
        self.bodySent = bodySent
        self.bodySize = bodySize
    }
}
