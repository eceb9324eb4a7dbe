/// Decides which lane may make a slow probe, and applies the result of the probe. A slow probe is one transfer of a
/// paused lane, which tests whether the transfers are still slow.
extension ThroughputWatch {
    /// The probe in progress, or the probe for which a task is being searched. There is only one probe at a time.
    /// Several probes would share the network, and each probe would measure the load of the others.
    struct Probe: Sendable {
        let lane: Lane
        let terms: Terms
        let began: Int64
        /// The scopes for which the probe decides: all scopes that held the lane when the probe began. A scope is one
        /// lane, or all lanes with the same `Terms` (options such as the minimum rate). A scope that became slow later
        /// keeps its pause.
        let scopes: [Scope]
    }

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
