/// Decides when a daemon exits by itself.
public enum IdleExitPolicy {
    /// The work that an engine has, or that may start without a command.
    public struct Facts: Equatable, Sendable {
        /// Open application handles of all processes, including those of tools that only observe.
        public var connections = 0
        /// Tasks that run or are being finished.
        public var runningTasks = 0
        /// Whether files of ended tasks are being removed.
        public var isCleaning = false
        /// Whether a waiting task will start without a command, now or after a delay.
        public var tasksWait = false
        /// Whether an activity has a next window.
        public var activitiesWait = false
        /// Whether the engine watches a launched host, or will launch an application now or after a delay.
        public var launchesWait = false

        public init() {}
    }

    /// Whether the daemon has nothing to do until a client connects.
    public static func mayExit(_ facts: Facts) -> Bool { facts == Facts() }
}
