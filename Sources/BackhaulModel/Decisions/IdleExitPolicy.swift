/// Decides when a daemon, which is an engine in its own process, exits by itself.
public enum IdleExitPolicy {
    /// The work that an engine has, or that may start without a command.
    public struct Facts: Equatable, Sendable {
        /// The number of connected clients. A process has one client for each application that it has opened. The
        /// clients of tools that only observe are included.
        public var connections = 0
        /// The number of tasks that run or are being finished.
        public var runningTasks = 0
        /// Whether files of ended tasks are being removed.
        public var isCleaning = false
        /// Whether a waiting task will start without a command, now or after a delay.
        public var tasksWait = false
        /// Whether the store has an activity: work that a host has scheduled, and that the engine will start later.
        public var activitiesWait = false
        /// Whether the engine watches a program that it has launched, or will launch a program now or after a delay, or
        /// has not released the claims of an earlier engine's clients yet, which may need a launch.
        public var launchesWait = false

        public init() {}
    }

    /// Whether the daemon has nothing to do until a client connects.
    public static func mayExit(_ facts: Facts) -> Bool { facts == Facts() }
}
