/// Whether the sessions of an application that need their host have a running one, so that no launch is necessary.
/// Times are milliseconds since boot.
public struct LaunchCoverage: Equatable, Sendable {
    /// A session that has finished a round or has an open challenge.
    public struct Waiting: Equatable, Sendable {
        /// Whether its consumer's process runs. It is connected or, after an engine has died, will connect soon.
        public var hasConsumer: Bool
        /// The time at which that process was first seen stopped; nil: it is not.
        public var consumerStoppedAt: Int64?
        /// For how long the process may be stopped before a launch, in milliseconds; 0: no limit.
        public var launchIfStopped: UInt32

        public init(hasConsumer: Bool, consumerStoppedAt: Int64?, launchIfStopped: UInt32) {
            self.hasConsumer = hasConsumer
            self.consumerStoppedAt = consumerStoppedAt
            self.launchIfStopped = launchIfStopped
        }
    }

    /// Whether all these sessions have a host.
    public private(set) var isWhole = true
    /// When to check again, because a host may have been stopped for too long by then.
    public private(set) var endsAt: Int64?

    /// `hasHost`: a host of the application is connected that does not belong to its launch.
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
