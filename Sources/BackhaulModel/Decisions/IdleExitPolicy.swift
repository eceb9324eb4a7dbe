/// Decides when a daemon exits by itself.
public enum IdleExitPolicy {
    /// The work that exists, or may come by itself.
    public struct Facts: Equatable, Sendable {
        /// Open application handles of all processes, including those of tools that only observe.
        public var connections = 0
        /// Tasks that run or are being finished.
        public var runningTasks = 0
        /// Whether files are being removed that ended tasks have left.
        public var isCleaning = false
        /// Whether a task waits that starts without a command, now or after a delay.
        public var tasksWait = false
        /// Whether an activity is set that has a next window.
        public var activitiesWait = false
        /// Whether a launched host is watched, or an application will be launched, now or after a delay.
        public var launchesWait = false

        public init() {}
    }

    /// Whether nothing can happen until a client connects.
    public static func mayExit(_ facts: Facts) -> Bool { facts == Facts() }
}
