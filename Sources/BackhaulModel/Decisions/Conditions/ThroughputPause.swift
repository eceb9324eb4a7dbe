/// The pause of lanes whose transfers were too slow. After the pause, one task is a *slow probe*: it tests whether the
/// transfers are still slow. If they are fast, the lanes are *open*. Times are milliseconds since boot.
struct ThroughputPause: Equatable, Sendable {
    /// The time at which the pause ends and a slow probe may start; nil if there is no pause now.
    private(set) var probeAt: Int64?
    /// The length of the present or last pause.
    private(set) var milliseconds: Int64 = 0
    /// The time at which the present pause or the present open state began.
    private(set) var since: Int64 = 0
    /// The rate that caused the pause.
    private(set) var bytesPerSecond: UInt64 = 0

    var isOpen: Bool { probeAt == nil }

    /// Returns the pause that begins because the transfers were too slow. Each pause is twice as long as the pause
    /// before it, up to twelve times the length of the first pause.
    func extended(_ bytesPerSecond: UInt64, _ first: Int64, now: Int64) -> ThroughputPause {
        var pause = self
        pause.milliseconds = milliseconds == 0 ? first : min(milliseconds * 2, first * 12)
        pause.probeAt = now + pause.milliseconds
        pause.since = now
        pause.bytesPerSecond = bytesPerSecond
        return pause
    }

    /// Returns the open state after a fast probe. The length of the pause is kept for a while: if the transfers are
    /// slow again soon, the next pause is longer.
    func ended(now: Int64) -> ThroughputPause {
        var pause = self
        pause.probeAt = nil
        pause.since = now
        return pause
    }

    /// Returns the next pause after a probe without a result. It is as long as the last pause.
    func repeated(now: Int64) -> ThroughputPause {
        var pause = self
        pause.probeAt = now + milliseconds
        pause.since = now
        return pause
    }

    /// Whether the pause can be forgotten. A pause that has ended is forgotten when the lanes have been open for longer
    /// than the pause lasted. If a probe is due but no task becomes the probe, the pause is forgotten after an hour, or
    /// after the length of the pause if the pause was longer than an hour.
    func isForgotten(now: Int64) -> Bool {
        probeAt.map { now - $0 > max(milliseconds, 3_600_000) } ?? (now - since > milliseconds)
    }
}
