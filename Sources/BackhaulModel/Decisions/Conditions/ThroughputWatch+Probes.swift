/// Who may try whether it is better, and what came of it.
extension ThroughputWatch {
    /// The one that is under way, or for which a task is being looked for. Those at the same time would share the
    /// network, and find one another slow.
    struct Probe: Sendable {
        let lane: Lane
        let terms: Terms
        let began: Int64
        /// What it decides: all that held the lane when it began. What has become slow since has a pause of its own.
        let scopes: [Scope]
    }

    /// Some lane pauses.
    public var holdsAny: Bool { pauses.values.contains { !$0.isOpen } }

    /// What a lane with these terms may do now.
    public func permission(_ lane: Lane, _ terms: Terms?, now: Int64) -> Permission {
        let now = Self.bounded(now)
        guard let probeAt = closed(lane, terms)?.probeAt else { return .open }
        let earliest = max(probeAt, restsUntil)
        guard now >= earliest else { return .held(until: earliest) }
        return current(now) == nil ? .probe : .held(until: nil)
    }

    /// The lane of which a task may start as the probe: of those that may have one that which was tried longest ago.
    /// Nil: none, for now. The probe is this lane's, and no other's, until `probed`, `endProbe` or `giveBackProbe`
    /// ends it.
    public mutating func probe(among lanes: [(lane: Lane, terms: Terms)], now: Int64) -> Lane? {
        let now = Self.bounded(now)
        let candidates = lanes.filter { permission($0.lane, $0.terms, now: now) == .probe }
        guard let next = candidates.min(by: { (triedAt[$0.lane] ?? .min) < (triedAt[$1.lane] ?? .min) }) else {
            return nil
        }
        let known = Set(lanes.map(\.lane))
        triedAt = triedAt.filter { known.contains($0.key) }
        triedAt[next.lane] = now
        let held = scopes(next.lane, next.terms).filter { pauses[$0]?.isOpen == false }
        probe = Probe(lane: next.lane, terms: next.terms, began: now, scopes: held)
        return next.lane
    }

    /// The probe is this lane's.
    public func isProbing(_ lane: Lane) -> Bool { probe?.lane == lane }

    /// How the probe of this lane goes, once a second: `bytes` that it has moved so far in `milliseconds` of waiting
    /// for the network alone. True: it is no probe any more, and all lanes are to be asked again; held ones stop what
    /// they run.
    public mutating func probed(_ lane: Lane, bytes: UInt64, milliseconds: Int64, now: Int64) -> Bool {
        // Another network has let it go.
        guard let probe, probe.lane == lane else { return true }
        let now = Self.bounded(now)
        if bytes >= Self.probeBytes || milliseconds >= Self.probeMilliseconds {
            let rate = ThroughputPace.rate(bytes, milliseconds)
            let isFast = rate >= probe.terms.minimumBytesPerSecond
            end(probe) { _, pause in
                isFast ? pause.fast(now: now) : pause.slow(rate, probe.terms.slowPauseMilliseconds, now: now)
            }
            return true
        }
        guard now - probe.began >= Self.probeLimit else { return false }
        // It waits for something else. That is not held against its server, and says nothing of all together.
        end(probe) { scope, pause in scope == .lane(lane) ? pause.fast(now: now) : pause.again(now: now) }
        return true
    }

    /// The probe of this lane has ended before it was decided. `hasAnswered`: with an answer, so that what is small was
    /// fetched; otherwise nothing is known, and the next one goes after the same pause. True: all lanes are to be asked
    /// again.
    public mutating func endProbe(_ lane: Lane, hasAnswered: Bool, now: Int64) -> Bool {
        guard let probe, probe.lane == lane else { return false }
        let now = Self.bounded(now)
        end(probe) { _, pause in hasAnswered ? pause.fast(now: now) : pause.again(now: now) }
        return true
    }

    /// No task of this lane was found that may start. Nothing was tried: another lane may, after a moment.
    public mutating func giveBackProbe(_ lane: Lane, now: Int64) {
        guard probe?.lane == lane else { return }
        probe = nil
        restsUntil = Self.bounded(now) + Self.vainProbePause
    }

    /// The next time at which some lane may probe that may not yet; nil: none is held for a time.
    public func nextProbe(now: Int64) -> Int64? {
        let times = current(now).map { [$0.began + Self.lostAfter] }
            ?? pauses.values.compactMap(\.probeAt).map { max($0, restsUntil) }
        return times.filter { $0 > now }.min()
    }

    /// Why the lane is held; nil: it is not. `unix`: the Unix time in milliseconds that belongs to `now`.
    public func hold(_ lane: Lane, _ terms: Terms?, now: Int64, unix: Int64) -> Hold? {
        let now = Self.bounded(now)
        guard let terms, let pause = closed(lane, terms), let probeAt = pause.probeAt else { return nil }
        let isAlone = pauses[.lane(lane)]?.isOpen == false
        let whence = isAlone ? "this server" : "all servers together"
        let rate = AmountText.rate(pause.bytesPerSecond)
        let minimum = AmountText.rate(terms.minimumBytesPerSecond)
        let what = "only \(rate) came from \(whence), less than the \(minimum) that it asks for, and "
        if let probe = current(now) {
            let isForThis = scopes(lane, terms).contains(where: probe.scopes.contains)
            if isForThis { return Hold(.throughput, what + "one task tries whether it is better") }
            // One after the other.
            if probeAt <= now { return Hold(.throughput, what + "one task tries again after that of another server") }
        }
        let pauseText = AmountText.duration(pause.milliseconds)
        return Hold(
            .throughput, what + "one task tries again after a pause of \(pauseText)",
            nextLookMilliseconds: unix.saturatingAdd(max(0, probeAt - now)))
    }

    /// Should nobody ever say what became of it, it is lost after a while.
    private func current(_ now: Int64) -> Probe? {
        probe.flatMap { now - $0.began < Self.lostAfter ? $0 : nil }
    }

    /// `change`: what becomes of the pauses that it decides.
    private mutating func end(_ probe: Probe, _ change: (Scope, ThroughputPause) -> ThroughputPause) {
        self.probe = nil
        for scope in probe.scopes {
            if let pause = pauses[scope], !pause.isOpen { pauses[scope] = change(scope, pause) }
        }
    }
}
