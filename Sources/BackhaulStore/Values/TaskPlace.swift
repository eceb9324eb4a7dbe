public import BackhaulModel

/// Where a task waits for its turn.
public struct TaskPlace: Equatable, Sendable {
    public var lane: LaneID
    public var constraints: ConstraintsID
    /// Bytes of its file, as the host has stated.
    public var expectedSize: UInt64?
}

/// A task that waits for a time of its own, although others of its lane may run.
public struct DelayedTask: Equatable, Sendable {
    public var task: TaskID
    public var session: SessionID
    public var lane: LaneID
    /// Until then, by the boot clock.
    public var due: Int64
    /// Bytes that it is to move, as the host has stated, while nothing of its file is here.
    public var statedBytes: UInt64?
}

/// Delayed tasks that were judged anew, some thousands at a time.
public struct JudgedDelays: Equatable, Sendable {
    /// Of those that wait for their turn again.
    public var lanes: Set<LaneID> = []
    /// When the first of the others is due, by the boot clock.
    public var next: Int64?
    /// The last that was judged; nil: there are no more.
    public var last: DelayedTask?
}

extension TaskInfo {
    /// The last columns of a listing.
    mutating func readStarts(_ row: inout Row) {
        earliestStartMilliseconds = row.optionalInteger()
        latestStartMilliseconds = row.optionalInteger()
        expectedBytesReceived = row.optionalBits()
        expectedBytesSent = row.optionalBits()
    }
}
