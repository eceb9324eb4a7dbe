internal import CBackhaul

/// An application of a store, with counts of all its sessions together.
public struct ApplicationInfo: Hashable, Sendable {
    /// The identifier of the application.
    public let identifier: String
    /// The number of sessions.
    public let sessions: UInt64
    /// The number of tasks that have not ended.
    public let liveTasks: UInt64
    /// The number of tasks that run. They are a part of `liveTasks`.
    public let runningTasks: UInt64
    /// The number of events that are not acknowledged.
    public let events: UInt64
    /// The number of connected hosts: processes with an open handle of the application. Handles that only observe do
    /// not count.
    public let hosts: Int
    /// Whether a launch command is registered.
    public let hasLaunchCommand: Bool

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
    init(_ info: bh_application_info) {
        identifier = text(info.identifier) ?? ""
        sessions = info.sessions
        liveTasks = info.live_tasks
        runningTasks = info.running_tasks
        events = info.events
        hosts = Int(info.hosts)
        hasLaunchCommand = info.has_launch_command
    }
}
