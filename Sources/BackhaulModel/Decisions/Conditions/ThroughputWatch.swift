/// Pauses lanes whose transfers are slower than their minimum rate. The rate is measured for each origin, and for all
/// origins together. After the pause, one task makes a slow probe. Only one task of all lanes makes a slow probe at a
/// time.
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

    private enum Scope: Hashable, Sendable {
        case lane(Lane)
        /// All lanes with these terms, of all origins.
        case everything(Terms)
    }

    /// The probe in progress, or the probe for which a task is being searched. There is only one probe at a time.
    /// Several probes would share the network, and each probe would measure the load of the others.
    private struct Probe: Sendable {
        let lane: Lane
        let terms: Terms
        let began: Int64
        /// The scopes for which the probe decides: all scopes that held the lane when the probe began. A scope that
        /// became slow later keeps its pause.
        let scopes: [Scope]
    }

    private var meters: [Scope: ThroughputMeter] = [:]
    private var pauses: [Scope: ThroughputPause] = [:]
    private var probe: Probe?
    /// The time at which each lane last got the probe.
    private var lastProbedAt: [Lane: Int64] = [:]
    /// The earliest time of the next probe.
    private var nextProbeAllowedAt: Int64 = 0
    private var lastTake: Int64?

    public init() {}

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

    /// Discards all measurements and releases all lanes, because the network has changed.
    public mutating func networkChanged() { self = Self() }

    /// Forgets a lane that has no tasks any more.
    public mutating func forget(_ lane: Lane) {
        meters[.lane(lane)] = nil
        pauses[.lane(lane)] = nil
        lastProbedAt[lane] = nil
        if probe?.lane == lane { probe = nil }
    }

    /// Bounds a time, to avoid overflows.
    private static func bounded(_ now: Int64) -> Int64 { min(max(now, 0), 1 << 53) }

    private func scopes(_ lane: Lane, _ terms: Terms?) -> [Scope] {
        terms.map { [.lane(lane), .everything($0)] } ?? []
    }

    /// The pause that ends last among the pauses that hold the lane.
    private func closed(_ lane: Lane, _ terms: Terms?) -> ThroughputPause? {
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

    // MARK: Probes

    /// Whether any lane is paused.
    public var isPausingAny: Bool { pauses.values.contains { !$0.isOpen } }

    /// What a lane with these terms may do now.
    public func permission(_ lane: Lane, _ terms: Terms?, now: Int64) -> Permission {
        let now = Self.bounded(now)
        guard let probeAt = closed(lane, terms)?.probeAt else { return .open }
        let earliest = max(probeAt, nextProbeAllowedAt)
        guard now >= earliest else { return .held(until: earliest) }
        return current(now) == nil ? .probe : .held(until: nil)
    }

    /// Chooses the lane that may start a task as the probe. Of the lanes that have permission now, this is the lane
    /// whose last probe is the oldest. Nil if no lane has permission. The probe belongs to the chosen lane until
    /// `probed`, `endProbe` or `cancelProbe` ends the probe.
    public mutating func probe(among lanes: [(lane: Lane, terms: Terms)], now: Int64) -> Lane? {
        let now = Self.bounded(now)
        let candidates = lanes.filter { permission($0.lane, $0.terms, now: now) == .probe }
        let oldest = candidates.min { (lastProbedAt[$0.lane] ?? .min) < (lastProbedAt[$1.lane] ?? .min) }
        guard let next = oldest else {
            return nil
        }
        let known = Set(lanes.map(\.lane))
        lastProbedAt = lastProbedAt.filter { known.contains($0.key) }
        lastProbedAt[next.lane] = now
        let held = scopes(next.lane, next.terms).filter { pauses[$0]?.isOpen == false }
        probe = Probe(lane: next.lane, terms: next.terms, began: now, scopes: held)
        return next.lane
    }

    /// Whether the probe belongs to this lane.
    public func isProbing(_ lane: Lane) -> Bool { probe?.lane == lane }

    /// Notes the progress of this lane's probe. The caller calls this function once a second. `bytes`: the bytes that
    /// the probe has moved so far. `milliseconds`: the time in which the probe waited only for the network. Returns
    /// true if the probe has ended. Then the caller checks all lanes again, and stops the running tasks of the held
    /// (paused) lanes.
    public mutating func probed(_ lane: Lane, bytes: UInt64, milliseconds: Int64, now: Int64) -> Bool {
        // If the lane does not have the probe any more, a change of the network has ended the probe.
        guard let probe, probe.lane == lane else { return true }
        let now = Self.bounded(now)
        if bytes >= Self.probeBytes || milliseconds >= Self.probeMilliseconds {
            let rate = ThroughputMeter.rate(bytes, milliseconds)
            let isFast = rate >= probe.terms.minimumBytesPerSecond
            end(probe) { _, pause in
                isFast ? pause.ended(now: now) : pause.extended(rate, probe.terms.slowPauseMilliseconds, now: now)
            }
            return true
        }
        guard now - probe.began >= Self.probeLimit else { return false }
        // Until `probeLimit`, the probe has mostly waited for something other than the network. So its lane counts as
        // fast, and nothing is known about the other scopes.
        end(probe) { scope, pause in scope == .lane(lane) ? pause.ended(now: now) : pause.repeated(now: now) }
        return true
    }

    /// Ends the probe of this lane without a measurement. `hasResponse`: whether the probe got a response. If so, its
    /// file was small, and the pause ends. Otherwise, the next probe starts after a pause of the same length. Returns
    /// true if the caller must check all lanes again.
    public mutating func endProbe(_ lane: Lane, hasResponse: Bool, now: Int64) -> Bool {
        guard let probe, probe.lane == lane else { return false }
        let now = Self.bounded(now)
        end(probe) { _, pause in hasResponse ? pause.ended(now: now) : pause.repeated(now: now) }
        return true
    }

    /// Withdraws the probe of this lane, because no task of the lane may start. Another lane may make a probe after
    /// `emptyProbeDelay`.
    public mutating func cancelProbe(_ lane: Lane, now: Int64) {
        guard probe?.lane == lane else { return }
        probe = nil
        nextProbeAllowedAt = Self.bounded(now) + Self.emptyProbeDelay
    }

    /// The time at which a held lane may make the next probe. While a probe is in progress, it is the time at which
    /// this probe counts as lost. Nil if there is no such time.
    public func nextProbe(now: Int64) -> Int64? {
        let times =
            current(now).map { [$0.began + Self.probeTimeout] }
            ?? pauses.values.compactMap(\.probeAt).map { max($0, nextProbeAllowedAt) }
        return times.filter { $0 > now }.min()
    }

    /// Why the lane is held; nil if it is not held. `unix`: the Unix time in milliseconds at `now`.
    public func hold(_ lane: Lane, _ terms: Terms?, now: Int64, unix: Int64) -> Hold? {
        let now = Self.bounded(now)
        guard let terms, let pause = closed(lane, terms), let probeAt = pause.probeAt else { return nil }
        let isAlone = pauses[.lane(lane)]?.isOpen == false
        let whence = isAlone ? "this server" : "all servers together"
        let rate = QuantityFormatter.rate(pause.bytesPerSecond)
        let minimum = QuantityFormatter.rate(terms.minimumBytesPerSecond)
        let what = "only \(rate) came from \(whence), less than the required \(minimum), and "
        if let probe = current(now) {
            let isForThis = scopes(lane, terms).contains(where: probe.scopes.contains)
            if isForThis { return Hold(.throughput, what + "one task measures the throughput now") }
            // If this lane's pause is over, the lane waits for the end of another lane's probe. Only one probe runs at
            // a time.
            if probeAt <= now {
                return Hold(.throughput, what + "one task tests the rate again after the test of another server")
            }
        }
        let pauseText = QuantityFormatter.duration(pause.milliseconds)
        return Hold(
            .throughput, what + "one task tests the rate again after a pause of \(pauseText)",
            nextCheckMilliseconds: unix.saturatingAdd(max(0, probeAt - now)))
    }

    /// The probe in progress. A probe without a result counts as lost after `probeTimeout`.
    private func current(_ now: Int64) -> Probe? {
        probe.flatMap { now - $0.began < Self.probeTimeout ? $0 : nil }
    }

    /// Ends the probe. `change`: computes the new state of each pause for which the probe decides.
    private mutating func end(_ probe: Probe, _ change: (Scope, ThroughputPause) -> ThroughputPause) {
        self.probe = nil
        for scope in probe.scopes {
            if let pause = pauses[scope], !pause.isOpen { pauses[scope] = change(scope, pause) }
        }
    }
}
