/// The pause of what was too slow. Times in milliseconds since boot.
struct ThroughputPause: Equatable, Sendable {
    /// When it is over, and a probe may go; nil: it is open.
    private(set) var probeAt: Int64?
    /// How long it is, or was.
    private(set) var milliseconds: Int64 = 0
    /// Since when it is open or not.
    private(set) var since: Int64 = 0
    /// What came.
    private(set) var bytesPerSecond: UInt64 = 0

    var isOpen: Bool { probeAt == nil }

    /// It was too slow, once more or for the first time: each pause is twice as long as the one before, up to twelve
    /// times the first.
    func slow(_ bytesPerSecond: UInt64, _ first: Int64, now: Int64) -> ThroughputPause {
        var pause = self
        pause.milliseconds = milliseconds == 0 ? first : min(milliseconds * 2, first * 12)
        pause.probeAt = now + pause.milliseconds
        pause.since = now
        pause.bytesPerSecond = bytesPerSecond
        return pause
    }

    /// It is fast enough. The length of the pause stays for a while: what is slow again at once does not start anew.
    func fast(now: Int64) -> ThroughputPause {
        var pause = self
        pause.probeAt = nil
        pause.since = now
        return pause
    }

    /// Its probe has said nothing: the next goes after as long a pause.
    func again(now: Int64) -> ThroughputPause {
        var pause = self
        pause.probeAt = now + milliseconds
        pause.since = now
        return pause
    }

    /// It was fast for as long as its pause was, or a probe was due for long and nobody was there to make it.
    func isForgotten(now: Int64) -> Bool {
        probeAt.map { now - $0 > max(milliseconds, 3_600_000) } ?? (now - since > milliseconds)
    }
}
