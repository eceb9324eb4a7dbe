public import BackhaulModel

/// The stored facts of a task from which the engine explains in a listing why the task waits. The lane and the
/// constraints identify its hold, and the size decides whether it fits its budgets.
public struct StoredWaitFacts: Equatable, Sendable {
    public var lane: LaneID
    public var constraints: ConstraintsID
    /// The size of the task's file in bytes, as the host stated it at the enqueue.
    public var expectedSize: UInt64?
}
