public import BackhaulModel

/// A delayed task: it waits until a due time, while other tasks of its lane may run.
public struct DelayedTask: Equatable, Sendable {
    public var task: TaskID
    public var session: SessionID
    public var lane: LaneID
    /// Until when the task waits, in milliseconds of the boot clock.
    public var due: Int64
    /// How many bytes the task will transfer, as the host stated. Nil if the host stated no number, or if a part of the
    /// file is already stored.
    public var statedBytes: UInt64?
}

/// The result after the store has evaluated a batch of delayed tasks: each of them stays delayed, or its delay ends.
public struct EvaluatedDelays: Equatable, Sendable {
    /// The lanes of the tasks whose delay ended.
    public var lanes: Set<LaneID> = []
    /// The earliest due time of the tasks that are still delayed, in milliseconds of the boot clock.
    public var next: Int64?
    /// The last evaluated task, after which the next batch begins. Nil if no batch follows.
    public var last: DelayedTask?
}

/// The tasks whose delays have ended.
public struct ReleasedTasks: Sendable {
    /// The lanes of the tasks that wait for a slot now.
    public var lanes: Set<LaneID> = []
    /// The highest priority of these tasks.
    public var priority = Int32.min
    /// The tasks with a finish intent. Their files only have to get their final names, so they need no request.
    public var complete: [StoredTask] = []
}
