/// Decides the next step in the launch of one application. A launch is the start of the application's program (the
/// *host*) by the engine, because sessions (named collections of downloads and uploads) need their host. Times are
/// milliseconds since boot.
public enum LaunchDecision {
    /// How long a launched host may take to end after SIGTERM, in milliseconds.
    public static let endMilliseconds: Int64 = 10_000

    /// The state of the host that was launched last.
    public enum Run: Equatable, Sendable {
        /// No host was launched, or the engine has handled the end of the last launched host.
        case none
        case starting
        /// A process of the launched host runs, or is connected.
        case living(Living)
        case ended
    }

    public struct Living: Equatable, Sendable {
        /// Whether the host has become the consumer (the reader of the events) of a session for which it was launched.
        public var hasAttached: Bool
        public var attachBy: Int64
        /// When the engine sent SIGTERM to the host; nil if it has not sent SIGTERM.
        public var terminatedAt: Int64?
        public var isKilled = false

        public init(hasAttached: Bool, attachBy: Int64) {
            self.hasAttached = hasAttached
            self.attachBy = attachBy
        }
    }

    public struct Facts: Equatable, Sendable {
        public var policy: LaunchPolicy
        public var backoff: LaunchBackoff
        public var run: Run
        /// Whether a launch is in progress. A host belongs to the launch if its environment has the token (a secret) of
        /// the launch.
        public var hasLaunch: Bool
        /// Whether a session for which the host was launched is still not completed. A session is completed when a host
        /// has stated that it has processed the session's events.
        public var isOutstanding: Bool
        /// Whether a session needs its host, because all its tasks have ended or because it has an open challenge.
        public var isNeeded: Bool
        /// Whether each session that needs a host already has a running host outside of the launch.
        public var isCovered: Bool
        /// When `isCovered` may become false without an event; nil if only an event can make it false.
        public var coverEndsAt: Int64?
        /// Whether the launched host has completed a session that needed the host for one reason only: a server had
        /// rejected earlier credentials. If so, the count of launches does not restart.
        public var onlyRepeatedChallenges: Bool
        public var now: Int64

        public init(
            policy: LaunchPolicy, backoff: LaunchBackoff, run: Run, hasLaunch: Bool, isOutstanding: Bool,
            isNeeded: Bool, isCovered: Bool, coverEndsAt: Int64?, onlyRepeatedChallenges: Bool = false, now: Int64
        ) {
            self.policy = policy
            self.backoff = backoff
            self.run = run
            self.hasLaunch = hasLaunch
            self.isOutstanding = isOutstanding
            self.isNeeded = isNeeded
            self.isCovered = isCovered
            self.coverEndsAt = coverEndsAt
            self.onlyRepeatedChallenges = onlyRepeatedChallenges
            self.now = now
        }
    }

    public enum Step: Equatable, Sendable {
        /// Do nothing until a fact changes.
        case rest
        case wait(until: Int64)
        case launch
        /// Do not launch again, because too many launches in a row have failed. Launches resume when a host that the
        /// engine did not launch connects.
        case giveUp
        /// Send SIGTERM.
        case terminate
        /// Send SIGKILL.
        case kill
        /// Give the launched host more time to attach (open) a session, because the host did not cause the delay.
        case extendAttachTime
        /// End the launch, because it had success or is not needed any more. The count of launches restarts at zero,
        /// except if `onlyRepeatedChallenges` is set.
        case over
        /// Count the launch as failed, because its host has ended although a session still needs a host. Then the delay
        /// before the next launch begins.
        case failed
    }

    public static func next(_ facts: Facts) -> Step {
        switch facts.run {
        case .none: withoutHost(facts)
        case .starting: .rest
        case .living(let host): with(host, facts)
        case .ended: facts.isNeeded && facts.isOutstanding ? .failed : .over
        }
    }

    private static func withoutHost(_ facts: Facts) -> Step {
        guard facts.isNeeded else {
            return facts.hasLaunch || facts.backoff != LaunchBackoff() && !facts.onlyRepeatedChallenges ? .over : .rest
        }
        if facts.backoff.launches >= facts.policy.maximumLaunches { return .giveUp }
        if facts.isCovered { return facts.coverEndsAt.map { .wait(until: $0) } ?? .rest }
        if let dueAt = facts.backoff.dueAt, dueAt > facts.now { return .wait(until: dueAt) }
        return .launch
    }

    private static func with(_ host: Living, _ facts: Facts) -> Step {
        guard facts.isOutstanding else { return .over }
        if host.hasAttached || host.isKilled { return .rest }
        if let terminatedAt = host.terminatedAt {
            let killAt = terminatedAt + endMilliseconds
            return killAt > facts.now ? .wait(until: killAt) : .kill
        }
        guard host.attachBy <= facts.now else { return .wait(until: host.attachBy) }
        // If another host uses the sessions, or no session needs a host any more, the launched host is not at fault and
        // gets more time.
        return facts.isCovered || !facts.isNeeded ? .extendAttachTime : .terminate
    }

    /// The state that listings show, with the time of the next launch.
    public static func state(_ facts: Facts) -> (state: LaunchState, nextAt: Int64?) {
        switch facts.run {
        case .starting, .living: return (.running, nil)
        case .none, .ended: break
        }
        guard facts.isNeeded else { return (.none, nil) }
        if facts.backoff.launches >= facts.policy.maximumLaunches { return (.gaveUp, nil) }
        if facts.isCovered { return facts.coverEndsAt.map { (.due, $0) } ?? (.none, nil) }
        return (.due, max(facts.now, facts.backoff.dueAt ?? facts.now))
    }
}
