public import BackhaulModel

/// What `WaitExplainer` needs of a listed task to explain why it waits. The lane and the constraints identify its hold,
/// and the size decides whether it fits its budgets.
public struct ListedTaskFacts: Equatable, Sendable {
    public var lane: LaneID
    public var constraints: ConstraintsID
    /// The size of the task's file in bytes, as the host stated it at the enqueue.
    public var expectedSize: UInt64?
}
