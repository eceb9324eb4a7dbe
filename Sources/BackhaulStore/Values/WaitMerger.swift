internal import BackhaulModel

/// Collects the waits of one task (the times in which it waits, with their reasons) from several sources, and merges
/// them.
struct WaitMerger {
    /// When the task was enqueued and when it ended; `end` is nil while the task is live. The parts of waits before
    /// `begin` and after `end` are cut off.
    let begin: Int64
    let end: Int64?
    let now: Int64
    private var found: [WaitRecord] = []

    init(begin: Int64, end: Int64?, now: Int64) {
        self.begin = begin
        self.end = end
        self.now = now
    }

    /// Adds a wait. The parts of the wait before `from` and after `to` are cut off.
    mutating func add(_ wait: WaitRecord, from: Int64? = nil, to: Int64? = nil) {
        let first = max(wait.beganMilliseconds, begin, from ?? .min)
        let limits = [end, to].compactMap(\.self)
        var last = wait.endedMilliseconds
        if let limit = limits.min(), last.map({ $0 > limit }) ?? (limit <= now || end != nil) { last = limit }
        // A finished wait without a duration is dropped. A wait that has not ended is kept, even if it has just begun.
        if let last, last <= first { return }
        found.append(
            WaitRecord(wait.reason, wait.sentence, beganMilliseconds: first, endedMilliseconds: last))
    }

    /// Whether a wait for the reason includes this time, or begins within a second after it.
    func hasWait(_ reason: WaitReason, at time: Int64) -> Bool {
        found.contains { wait in
            wait.reason == reason && wait.beganMilliseconds <= time &+ 1_000
                && wait.endedMilliseconds.map { time <= $0 } != false
        }
    }

    /// Returns the `limit` newest waits, sorted by begin. Waits with the same reason that touch or overlap become one
    /// wait, with the sentence of the newest of these waits.
    func merged(limit: Int) -> [WaitRecord] {
        var merged: [WaitRecord] = []
        var newest: [WaitReason: Int] = [:]
        for wait in found.sorted(by: Self.isBefore) {
            if let index = newest[wait.reason], Self.areAdjacent(merged[index], wait) {
                if let end = merged[index].endedMilliseconds {
                    merged[index].endedMilliseconds = wait.endedMilliseconds.map { max($0, end) }
                }
                merged[index].sentence = wait.sentence
            } else {
                newest[wait.reason] = merged.count
                merged.append(wait)
            }
        }
        return Array(merged.suffix(limit))
    }

    private static func isBefore(_ left: WaitRecord, _ right: WaitRecord) -> Bool {
        left.beganMilliseconds != right.beganMilliseconds
            ? left.beganMilliseconds < right.beganMilliseconds : left.reason.rawValue < right.reason.rawValue
    }

    /// Returns whether the waits touch or overlap. Two waits with a gap of at most a second count as touching, because
    /// consecutive records may have a short gap between them.
    private static func areAdjacent(_ earlier: WaitRecord, _ later: WaitRecord) -> Bool {
        earlier.endedMilliseconds.map { later.beganMilliseconds <= $0 &+ 1_000 } ?? true
    }
}
