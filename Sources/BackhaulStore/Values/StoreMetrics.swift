public import BackhaulModel

/// The numbers of a store for its metrics.
public struct StoreMetrics: Sendable {
    public var counters = SessionCounters()
    /// The ready tasks: tasks that wait without a delay. The running tasks are among them, because no row states that a
    /// task runs.
    public var ready: [WaitingCount] = []
    /// The number of delayed tasks, by the reason of the delay.
    public var delayed: [WaitReason: UInt64] = [:]
    public var suspended: UInt64 = 0
    /// The number of ended tasks whose event is not acknowledged yet, by their state.
    public var ended: [TaskState: UInt64] = [:]
    /// The time of the oldest event that is not acknowledged, in Unix milliseconds; nil if there is none.
    public var oldestEventMilliseconds: Int64?
    public var files = StoreSizes()
}

/// The counters of all sessions together.
public struct SessionCounters: Sendable {
    public var sessions: UInt64 = 0
    /// The number of tasks that have not ended.
    public var liveTasks: UInt64 = 0
    /// The number of events that are not acknowledged.
    public var events: UInt64 = 0
}

/// The sizes of the store's files in bytes. A size is nil if the disk does not report it.
public struct StoreSizes: Sendable {
    public var database: UInt64?
    public var writeAheadLog: UInt64?
    public var daemonLogs: UInt64?
    /// The bytes that are free for the user on the store's file system.
    public var free: UInt64?
}
