public import BackhaulModel

/// The lane and the constraints of a task, which decide when it gets a slot.
public struct TaskPlace: Equatable, Sendable {
    public var lane: LaneID
    public var constraints: ConstraintsID
    /// Size of its file in bytes, as the host stated.
    public var expectedSize: UInt64?
}

/// A task that waits for a time of its own, although other tasks of its lane may run.
public struct DelayedTask: Equatable, Sendable {
    public var task: TaskID
    public var session: SessionID
    public var lane: LaneID
    /// Until when the task waits, by the boot clock.
    public var due: Int64
    /// Bytes to transfer, as the host stated; nil without a statement, or when a part of the file is stored.
    public var statedBytes: UInt64?
}

/// The result of one batch of judged delays.
public struct EvaluatedDelays: Equatable, Sendable {
    /// Lanes of tasks whose delay ended.
    public var lanes: Set<LaneID> = []
    /// When the first of the other tasks is due, by the boot clock.
    public var next: Int64?
    /// The last judged task; nil if no more tasks follow.
    public var last: DelayedTask?
}

extension TaskInfo {
    /// Reads the last columns of a listing.
    mutating func readStarts(_ row: inout Row) {
        earliestStartMilliseconds = row.optionalInteger()
        latestStartMilliseconds = row.optionalInteger()
        expectedBytesReceived = row.optionalBits()
        expectedBytesSent = row.optionalBits()
    }
}
