/// Finds out whether each session that needs its host has a running host. If so, the engine need not launch the
/// application. Times are milliseconds since boot.
public struct LaunchCoverage: Equatable, Sendable {
    /// A session that needs its host, because all its tasks have ended or because it has an open challenge.
    public struct Waiting: Equatable, Sendable {
        /// Whether the session has a consumer (a process that reads the session's events), and this process runs. The
        /// process is connected, or it will connect soon because the former engine has died. A process of the present
        /// launch does not count.
        public var hasConsumer: Bool
        /// When the engine first saw that the process is stopped (SIGSTOP); nil if it is not stopped.
        public var consumerStoppedAt: Int64?
        /// For how many milliseconds the process may be stopped before the engine launches a host nevertheless; 0 if
        /// there is no limit.
        public var launchIfStopped: UInt32

        public init(hasConsumer: Bool, consumerStoppedAt: Int64?, launchIfStopped: UInt32) {
            self.hasConsumer = hasConsumer
            self.consumerStoppedAt = consumerStoppedAt
            self.launchIfStopped = launchIfStopped
        }
    }

    /// Whether all waiting sessions have a host.
    public private(set) var isWhole = true
    /// When the sessions must be checked again, because a consumer's process may have been stopped for too long by
    /// then. Nil if no further check is necessary.
    public private(set) var endsAt: Int64?

    /// Checks all waiting sessions. `hasHost`: whether the application has a connected host that does not belong to the
    /// present launch.
    public init(_ sessions: [Waiting], hasHost: Bool, now: Int64) {
        for session in sessions {
            guard hasHost || session.hasConsumer else {
                isWhole = false
                continue
            }
            guard session.hasConsumer, session.launchIfStopped > 0 else { continue }
            let end = (session.consumerStoppedAt ?? now) + Int64(session.launchIfStopped)
            if end <= now { isWhole = false } else { endsAt = min(endsAt ?? end, end) }
        }
        if !isWhole { endsAt = nil }
    }
}
