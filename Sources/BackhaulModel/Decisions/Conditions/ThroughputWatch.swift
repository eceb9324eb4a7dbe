/// Holds back lanes whose transfers are too slow to be worth their time: when less than their minimum has come from an
/// origin, or from all together, they pause, and one task at a time, of all lanes, tries whether it is better.
///
/// It is fed once a second with what the transfers of each running lane have moved. Of them only those count that are
/// older than `youngest` and were waiting for the network alone, not for a rate of our own, a disk, or an answer's
/// first byte: so many small files are never slow, and neither is a server that thinks. Transfers from this machine are
/// not fed.
///
/// All times are those of the clock that starts with the boot, in milliseconds.
public struct ThroughputWatch<Lane: Hashable & Sendable>: Sendable {
    /// What holds for a lane: `minimum_bytes_per_second`, `slow_after_ms`, `slow_pause_ms`.
    public struct Terms: Hashable, Sendable {
        public var minimumBytesPerSecond: UInt64
        public var slowAfterMilliseconds: Int64
        public var slowPauseMilliseconds: Int64

        public init(minimumBytesPerSecond: UInt64, slowAfterMilliseconds: UInt32, slowPauseMilliseconds: UInt32) {
            self.minimumBytesPerSecond = minimumBytesPerSecond
            self.slowAfterMilliseconds = max(1_000, Int64(slowAfterMilliseconds))
            self.slowPauseMilliseconds = max(1_000, Int64(slowPauseMilliseconds))
        }
    }

    /// What the transfers of one lane that count have moved since the last time, both ways. A lane without such
    /// transfers is not fed.
    public struct Sample: Sendable {
        public var lane: Lane
        public var origin: Origin
        /// Nil: it has no minimum, and counts for what the origin and all together give.
        public var terms: Terms?
        public var bytes: UInt64

        public init(_ lane: Lane, _ origin: Origin, terms: Terms?, bytes: UInt64) {
            self.lane = lane
            self.origin = origin
            self.terms = terms
            self.bytes = bytes
        }
    }

    /// What a lane may do.
    public enum Permission: Equatable, Sendable {
        case open
        /// One task may start, if `probe(among:now:)` says so.
        case probe
        /// Until then, or until the probe that is under way has ended.
        case held(until: Int64?)
    }

    /// A transfer that is younger does not count.
    public static var youngest: Int64 { 5_000 }
    /// What decides a probe.
    public static var probeMilliseconds: Int64 { 10_000 }
    public static var probeBytes: UInt64 { 262_144 }
    /// When a probe is over that was not decided, and when others need not wait for one any more of which nothing is
    /// heard.
    public static var probeLimit: Int64 { 60_000 }
    public static var lostAfter: Int64 { 120_000 }
    /// How long all wait when no task was found for one.
    static var vainProbePause: Int64 { 1_000 }
    /// What is remembered: more lanes than run at once. Of more the oldest are forgotten, which lets them go.
    static var limit: Int { 4_096 }

    enum Scope: Hashable, Sendable {
        case lane(Lane)
        /// All lanes with these terms, of any origin.
        case everything(Terms)
    }

    var paces: [Scope: ThroughputPace] = [:]
    var pauses: [Scope: ThroughputPause] = [:]
    var probe: Probe?
    /// When lanes were given the probe last.
    var triedAt: [Lane: Int64] = [:]
    /// No probe begins before.
    var restsUntil: Int64 = 0
    private var lastTake: Int64?
    private var total: ThroughputPace?

    public init() {}

    /// Of all transfers that were fed, over the last seconds; nil: none was.
    public func bytesPerSecond(now: Int64) -> UInt64? {
        guard let total, Self.bounded(now) - total.lastAt <= Self.youngest, total.measured > 0 else { return nil }
        return total.bytesPerSecond
    }

    /// True: some lane is held that was not, or is not any more, and all are to be asked again.
    public mutating func take(_ samples: [Sample], now: Int64) -> Bool {
        let now = Self.bounded(now)
        let since = lastTake.map { now - $0 } ?? 1_000
        // After a break it is the first second again.
        let passed = since > Self.youngest ? 1_000 : since
        lastTake = now
        guard passed > 0 else { return false }
        var origins: [Origin: UInt64] = [:]
        for sample in samples { origins[sample.origin] = (origins[sample.origin] ?? 0).saturatingAdd(sample.bytes) }
        let all = origins.values.reduce(UInt64(0)) { $0.saturatingAdd($1) }
        if !samples.isEmpty {
            var sum = total ?? ThroughputPace(window: Self.youngest, now: now)
            sum.add(all, milliseconds: passed, now: now)
            total = sum
        }
        var hasChanged = false
        var seen: Set<Scope> = []
        func measure(_ scope: Scope, _ bytes: UInt64, _ terms: Terms) {
            guard seen.insert(scope).inserted, pauses[scope]?.isOpen ?? true else { return }
            var pace = paces[scope] ?? ThroughputPace(window: terms.slowAfterMilliseconds, now: now)
            pace.add(bytes, milliseconds: passed, now: now)
            guard pace.isSlow(terms.minimumBytesPerSecond) else {
                paces[scope] = pace
                return
            }
            paces[scope] = nil
            hasChanged = true
            let former = pauses[scope] ?? ThroughputPause()
            pauses[scope] = former.slow(pace.bytesPerSecond, terms.slowPauseMilliseconds, now: now)
        }
        for sample in samples {
            guard let terms = sample.terms else { continue }
            measure(.lane(sample.lane), origins[sample.origin] ?? 0, terms)
            if origins.count >= 2 { measure(.everything(terms), all, terms) }
        }
        if prune(now: now) { hasChanged = true }
        return hasChanged
    }

    /// Another network: what was measured is void, and all are let go. True: some were held.
    public mutating func networkChanged() -> Bool {
        let hadHeld = pauses.values.contains { !$0.isOpen }
        self = Self()
        return hadHeld
    }

    /// The lane has no tasks any more.
    public mutating func forget(_ lane: Lane) {
        paces[.lane(lane)] = nil
        pauses[.lane(lane)] = nil
        triedAt[lane] = nil
        if probe?.lane == lane { probe = nil }
    }

    /// Far from overflows.
    static func bounded(_ now: Int64) -> Int64 { min(max(now, 0), 1 << 53) }

    func scopes(_ lane: Lane, _ terms: Terms?) -> [Scope] {
        terms.map { [.lane(lane), .everything($0)] } ?? []
    }

    /// Of those that hold it, the one that is over last.
    func closed(_ lane: Lane, _ terms: Terms?) -> ThroughputPause? {
        scopes(lane, terms).compactMap { pauses[$0] }.filter { !$0.isOpen }
            .max { ($0.probeAt ?? .max) < ($1.probeAt ?? .max) }
    }

    /// True: some are let go by it.
    private mutating func prune(now: Int64) -> Bool {
        let held = pauses.values.count { !$0.isOpen }
        paces = paces.filter { now - $0.value.lastAt <= 3_600_000 }
        pauses = pauses.filter { !$0.value.isForgotten(now: now) }
        if paces.count > Self.limit {
            for (scope, _) in paces.sorted(by: { $0.value.lastAt < $1.value.lastAt }).prefix(paces.count - Self.limit) {
                paces[scope] = nil
            }
        }
        if pauses.count > Self.limit {
            for (scope, _) in pauses.sorted(by: { $0.value.since < $1.value.since }).prefix(pauses.count - Self.limit) {
                pauses[scope] = nil
            }
        }
        return pauses.values.count { !$0.isOpen } < held
    }
}
