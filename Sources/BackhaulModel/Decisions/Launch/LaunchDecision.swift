/// The launch of one application: what is to be done next, from what is known. Times are milliseconds of the clock that
/// starts with a boot.
public enum LaunchDecision {
    /// How long a launched host that was asked to end may take.
    public static let endMilliseconds: Int64 = 10_000

    /// The host that was launched last.
    public enum Run: Equatable, Sendable {
        /// There is none, or its end was dealt with.
        case none
        case starting
        /// One of its processes lives, or is connected.
        case living(Living)
        case ended
    }

    public struct Living: Equatable, Sendable {
        /// As consumer, a session that it was launched for.
        public var hasAttached: Bool
        public var attachBy: Int64
        /// It was asked to end (SIGTERM).
        public var askedAt: Int64?
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
        /// A launch is not over: hosts with its token are its own.
        public var hasLaunch: Bool
        /// It lists sessions that were not completed.
        public var isOutstanding: Bool
        /// A session has finished a round or has an open challenge.
        public var isNeeded: Bool
        /// Every such session has a host to tell, which is connected and not of the launch.
        public var isCovered: Bool
        /// When the answer to that changes by itself.
        public var coverEndsAt: Int64?
        /// The last launch was completed, and was there only because earlier answers had not served: its count stays.
        public var wasInVain: Bool
        public var now: Int64

        public init(
            policy: LaunchPolicy, backoff: LaunchBackoff, run: Run, hasLaunch: Bool, isOutstanding: Bool,
            isNeeded: Bool, isCovered: Bool, coverEndsAt: Int64?, wasInVain: Bool = false, now: Int64
        ) {
            self.policy = policy
            self.backoff = backoff
            self.run = run
            self.hasLaunch = hasLaunch
            self.isOutstanding = isOutstanding
            self.isNeeded = isNeeded
            self.isCovered = isCovered
            self.coverEndsAt = coverEndsAt
            self.wasInVain = wasInVain
            self.now = now
        }
    }

    public enum Step: Equatable, Sendable {
        /// Until something changes.
        case rest
        case wait(until: Int64)
        case launch
        /// Too many launches were in vain: until a host connects of itself.
        case leaveAlone
        /// SIGTERM.
        case askToEnd
        /// SIGKILL.
        case kill
        /// The launched host is not to blame that it has not attached: its time begins anew.
        case extendAttachTime
        /// Nothing is left of the launch; its count begins anew.
        case over
        /// The launched host has ended and is needed still; it counts, and the delay begins.
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
            return facts.hasLaunch || facts.backoff != LaunchBackoff() && !facts.wasInVain ? .over : .rest
        }
        if facts.backoff.launches >= facts.policy.maximumLaunches { return .leaveAlone }
        if facts.isCovered { return facts.coverEndsAt.map { .wait(until: $0) } ?? .rest }
        if let dueAt = facts.backoff.dueAt, dueAt > facts.now { return .wait(until: dueAt) }
        return .launch
    }

    private static func with(_ host: Living, _ facts: Facts) -> Step {
        guard facts.isOutstanding else { return .over }
        if host.hasAttached || host.isKilled { return .rest }
        if let askedAt = host.askedAt {
            let killAt = askedAt + endMilliseconds
            return killAt > facts.now ? .wait(until: killAt) : .kill
        }
        guard host.attachBy <= facts.now else { return .wait(until: host.attachBy) }
        // Somebody else has what it waits for, or nothing is left to attach for.
        return facts.isCovered || !facts.isNeeded ? .extendAttachTime : .askToEnd
    }

    /// What listings say, with the time of the next launch.
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
