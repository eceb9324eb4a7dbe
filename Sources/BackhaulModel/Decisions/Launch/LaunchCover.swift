/// Whether the sessions of an application that need their host have one to tell, so that nobody is launched. Times are
/// milliseconds of the clock that starts with a boot.
public struct LaunchCover: Equatable, Sendable {
    /// A session that has finished a round or has an open challenge.
    public struct Waiting: Equatable, Sendable {
        /// Its consumer's process lives, connected or, after the death of an engine, about to be.
        public var hasConsumer: Bool
        /// Since when that process is seen to be stopped.
        public var consumerStoppedAt: Int64?
        /// 0: never.
        public var launchIfStopped: UInt32

        public init(hasConsumer: Bool, consumerStoppedAt: Int64?, launchIfStopped: UInt32) {
            self.hasConsumer = hasConsumer
            self.consumerStoppedAt = consumerStoppedAt
            self.launchIfStopped = launchIfStopped
        }
    }

    /// All have one.
    public private(set) var isWhole = true
    /// When to look again, because a host that is there may be stopped for too long by then.
    public private(set) var endsAt: Int64?

    /// `hasHost`: a host of the application is connected that is not of its launch.
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
