/// When a daemon ends by itself.
public enum LeaveDecision {
    /// What there is to do, or may be.
    public struct Facts: Equatable, Sendable {
        /// Open application handles of all processes, those of tools that only look on included.
        public var connections = 0
        /// Tasks that run or are being finished.
        public var runningTasks = 0
        /// Work on files that outlives its task: removing what was left over.
        public var isCleaning = false
        /// A task waits that would start without anybody's command, now or after a delay.
        public var tasksWait = false
        /// An activity is set, whose next window opens at some time.
        public var activitiesWait = false
        /// A launched host is watched, or an application is to be launched, now or after a delay.
        public var launchesWait = false

        public init() {}
    }

    /// True when nothing would ever happen without somebody who connects first.
    public static func mayLeave(_ facts: Facts) -> Bool { facts == Facts() }
}
