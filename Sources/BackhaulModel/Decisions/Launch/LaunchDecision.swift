/// Decides the next step in the launch of one application. Times are milliseconds since boot.
public enum LaunchDecision {
    /// How long a launched host may take to end after SIGTERM, in milliseconds.
    public static let endMilliseconds: Int64 = 10_000

    /// The state of the host that was launched last.
    public enum Run: Equatable, Sendable {
        /// No launched host runs, or its end was handled.
        case none
        case starting
        /// A process of the launched host runs, or is connected.
        case living(Living)
        case ended
    }

    public struct Living: Equatable, Sendable {
        /// Whether the host has attached, as consumer, to a session for which it was launched.
        public var hasAttached: Bool
        public var attachBy: Int64
        /// When the host got SIGTERM; nil: not yet.
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
        /// Whether a launch is in progress. Hosts with its token belong to it.
        public var hasLaunch: Bool
        /// Whether the launch lists sessions that are not completed.
        public var isOutstanding: Bool
        /// Whether a session has finished a round or has an open challenge.
        public var isNeeded: Bool
        /// Whether each of these sessions has a connected host that does not belong to the launch.
        public var isCovered: Bool
        /// When `isCovered` may become false without an event; nil: never.
        public var coverEndsAt: Int64?
        /// Whether the last launch was completed, but was needed only because earlier credentials had not worked. Then
        /// the count of launches stays.
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
        /// Do not launch again after too many launches without success, until a host connects without a launch.
        case giveUp
        /// Send SIGTERM.
        case terminate
        /// Send SIGKILL.
        case kill
        /// Restart the attach time of the launched host, because it could not attach for reasons outside of it.
        case extendAttachTime
        /// End the launch, which had success or is not needed any more, and count from zero again.
        case over
        /// Count the launch as failed, because its host has ended and is still needed. The delay begins.
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
        // If another host has the sessions, or no session needs a host any more, the launched host is not at fault and
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
