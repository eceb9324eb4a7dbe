/// The pause of what was too slow, and the probes that end it. Times in milliseconds since boot.
struct ThroughputPause: Equatable, Sendable {
    private enum State: Equatable, Sendable {
        case open
        case waiting(until: Int64)
        /// Since then. Should nobody ever say what became of it, the next may go after the pause.
        case probing(since: Int64)
    }

    private var state = State.open
    /// How long it is, or was.
    private(set) var milliseconds: Int64 = 0
    /// Since when the state is this.
    private(set) var since: Int64 = 0
    /// What came.
    private(set) var bytesPerSecond: UInt64 = 0

    var isOpen: Bool { state == .open }
    var isProbing: Bool { if case .probing = state { true } else { false } }

    /// Nil while a probe is under way.
    var probeAt: Int64? { if case .waiting(let until) = state { until } else { nil } }

    /// When the next one may go at the latest.
    var nextProbe: Int64? {
        switch state {
        case .open: nil
        case .waiting(let until): until
        case .probing(let since): since + max(milliseconds, 60_000)
        }
    }

    func mayProbe(now: Int64) -> Bool { nextProbe.map { now >= $0 } ?? false }

    /// It was too slow, once more or for the first time: each pause is twice as long as the one before, up to twelve
    /// times the first.
    func slow(_ bytesPerSecond: UInt64, _ first: Int64, now: Int64) -> ThroughputPause {
        var pause = self
        pause.milliseconds = milliseconds == 0 ? first : min(milliseconds * 2, first * 12)
        pause.state = .waiting(until: now + pause.milliseconds)
        pause.since = now
        pause.bytesPerSecond = bytesPerSecond
        return pause
    }

    /// It is fast enough. The length of the pause stays for a while: what is slow again at once does not start anew.
    func fast(now: Int64) -> ThroughputPause {
        var pause = self
        pause.state = .open
        pause.since = now
        return pause
    }

    mutating func beginProbe(now: Int64) {
        state = .probing(since: now)
        since = now
    }

    /// It has said nothing.
    mutating func endProbe(now: Int64) {
        guard isProbing else { return }
        state = .waiting(until: now + milliseconds)
        since = now
    }

    /// It was fast for as long as its pause was, or a probe was due for long and nobody was there to make it.
    func isForgotten(now: Int64) -> Bool {
        switch state {
        case .open: now - since > milliseconds
        case .waiting(let until): now - until > max(milliseconds, 3_600_000)
        case .probing: now - since > max(milliseconds, 3_600_000)
        }
    }
}
