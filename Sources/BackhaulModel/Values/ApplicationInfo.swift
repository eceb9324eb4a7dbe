/// An application of a store: `bh_application_info`.
public struct ApplicationInfo: Equatable, Sendable {
    public var identifier: String
    public var sessions: UInt64 = 0
    /// The number of tasks that have not ended.
    public var liveTasks: UInt64 = 0
    public var runningTasks: UInt64 = 0
    /// The number of events that are not acknowledged.
    public var events: UInt64 = 0
    /// The number of open application handles. Handles that only observe do not count.
    public var hosts: UInt32 = 0
    public var hasLaunchCommand = false

    public init(identifier: String) { self.identifier = identifier }
}
