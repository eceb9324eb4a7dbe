/// Pauses lanes whose transfers are slower than their minimum rate. A paused lane is *held*. The rate is measured for
/// each origin, and for all origins together. After the pause, one task makes a slow probe: it tests whether the
/// transfers are still slow. Only one task of all lanes makes a slow probe at a time.
///
/// Once a second, the watch gets the number of bytes that the transfers of each running lane have moved. A transfer
/// counts only if it is older than `minimumTransferAge` and has waited only for the network. Time in which it waits for
/// our own rate limit, a disk or the first byte of a response does not count. So a server that needs time to compute
/// does not count as slow. A lane with many small files never counts as slow, because its transfers end before they
/// reach the minimum age. Transfers whose origin is this machine are not measured.
///
/// All times are milliseconds since boot.
public struct ThroughputWatch<Lane: Hashable & Sendable>: Sendable {
    /// The options that apply to a lane: `minimum_bytes_per_second`, `slow_after_ms`, `slow_pause_ms`.
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

    /// The bytes that the counted transfers of one lane have received and sent since the last sample. A lane without
    /// such transfers has no sample.
    public struct Sample: Sendable {
        public var lane: Lane
        public var origin: Origin
        /// Nil if the lane has no minimum rate. Even in this case, the bytes count for the origin and for the total.
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
        /// One task may start, if `probe(among:now:)` chooses the lane.
        case probe
        /// The lane waits until this time. If the time is nil, the lane waits until the probe in progress has ended.
        case held(until: Int64?)
    }

    /// The age in milliseconds at which a transfer begins to count.
    public static var minimumTransferAge: Int64 { 5_000 }
    /// A probe has a result when it has waited for the network for this many milliseconds, or has moved `probeBytes`.
    public static var probeMilliseconds: Int64 { 10_000 }
    public static var probeBytes: UInt64 { 262_144 }
    /// A probe without a result ends at the first call of `probed` after `probeLimit`. If no such call comes, the
    /// probe counts as lost after `probeTimeout`. Both are in milliseconds since the start of the probe.
    public static var probeLimit: Int64 { 60_000 }
    public static var probeTimeout: Int64 { 120_000 }
    /// How long all lanes wait when no task was found for a probe, in milliseconds.
    static var emptyProbeDelay: Int64 { 1_000 }
    /// The limit of remembered scopes (`Scope`). It is higher than the number of lanes that can run at the same time.
    /// Beyond the limit, the oldest scopes are forgotten, which releases their lanes.
    static var limit: Int { 4_096 }

    enum Scope: Hashable, Sendable {
        case lane(Lane)
        /// All lanes with these terms, of all origins.
        case everything(Terms)
    }

    var meters: [Scope: ThroughputMeter] = [:]
    var pauses: [Scope: ThroughputPause] = [:]
    var probe: Probe?
    /// The time at which each lane last got the probe.
    var lastProbedAt: [Lane: Int64] = [:]
    /// The earliest time of the next probe.
    var nextProbeAllowedAt: Int64 = 0
    private var lastTake: Int64?
    private var total: ThroughputMeter?

    public init() {}

    /// The rate of all sampled transfers over the last seconds; nil if there was no sample.
    public func bytesPerSecond(now: Int64) -> UInt64? {
        guard let total, Self.bounded(now) - total.lastAt <= Self.minimumTransferAge, total.measured > 0
        else { return nil }
        return total.bytesPerSecond
    }

    /// Takes the samples since the last call. Returns true if a lane became held or was released. Then the caller
    /// checks all lanes again.
    public mutating func take(_ samples: [Sample], now: Int64) -> Bool {
        let now = Self.bounded(now)
        let since = lastTake.map { now - $0 } ?? 1_000
        // If the last call was more than `minimumTransferAge` ago, the samples count as the samples of one second.
        let passed = since > Self.minimumTransferAge ? 1_000 : since
        lastTake = now
        guard passed > 0 else { return false }
        var origins: [Origin: UInt64] = [:]
        for sample in samples { origins[sample.origin] = (origins[sample.origin] ?? 0).saturatingAdd(sample.bytes) }
        let all = origins.values.reduce(UInt64(0)) { $0.saturatingAdd($1) }
        if !samples.isEmpty {
            var sum = total ?? ThroughputMeter(window: Self.minimumTransferAge, now: now)
            sum.add(all, milliseconds: passed, now: now)
            total = sum
        }
        var hasChanged = false
        var seen: Set<Scope> = []
        func measure(_ scope: Scope, _ bytes: UInt64, _ terms: Terms) {
            guard seen.insert(scope).inserted, pauses[scope]?.isOpen ?? true else { return }
            var meter = meters[scope] ?? ThroughputMeter(window: terms.slowAfterMilliseconds, now: now)
            meter.add(bytes, milliseconds: passed, now: now)
            guard meter.isSlow(terms.minimumBytesPerSecond) else {
                meters[scope] = meter
                return
            }
            meters[scope] = nil
            hasChanged = true
            let former = pauses[scope] ?? ThroughputPause()
            pauses[scope] = former.extended(meter.bytesPerSecond, terms.slowPauseMilliseconds, now: now)
        }
        for sample in samples {
            guard let terms = sample.terms else { continue }
            measure(.lane(sample.lane), origins[sample.origin] ?? 0, terms)
            if origins.count >= 2 { measure(.everything(terms), all, terms) }
        }
        if prune(now: now) { hasChanged = true }
        return hasChanged
    }

    /// Discards all measurements and releases all lanes, because the network has changed. Returns true if lanes were
    /// held.
    public mutating func networkChanged() -> Bool {
        let hadHeld = pauses.values.contains { !$0.isOpen }
        self = Self()
        return hadHeld
    }

    /// Forgets a lane that has no tasks any more.
    public mutating func forget(_ lane: Lane) {
        meters[.lane(lane)] = nil
        pauses[.lane(lane)] = nil
        lastProbedAt[lane] = nil
        if probe?.lane == lane { probe = nil }
    }

    /// Bounds a time, to avoid overflows.
    static func bounded(_ now: Int64) -> Int64 { min(max(now, 0), 1 << 53) }

    func scopes(_ lane: Lane, _ terms: Terms?) -> [Scope] {
        terms.map { [.lane(lane), .everything($0)] } ?? []
    }

    /// The pause that ends last among the pauses that hold the lane.
    func closed(_ lane: Lane, _ terms: Terms?) -> ThroughputPause? {
        scopes(lane, terms).compactMap { pauses[$0] }.filter { !$0.isOpen }
            .max { ($0.probeAt ?? .max) < ($1.probeAt ?? .max) }
    }

    /// Forgets old entries. Returns true if that releases a lane.
    private mutating func prune(now: Int64) -> Bool {
        let held = pauses.values.count { !$0.isOpen }
        meters = meters.filter { now - $0.value.lastAt <= 3_600_000 }
        pauses = pauses.filter { !$0.value.isForgotten(now: now) }
        if meters.count > Self.limit {
            let byAge = meters.sorted { $0.value.lastAt < $1.value.lastAt }
            for (scope, _) in byAge.prefix(meters.count - Self.limit) {
                meters[scope] = nil
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
