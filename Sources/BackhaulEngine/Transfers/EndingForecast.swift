/// Decides whether further tasks are expected to end soon. If so, an end may wait a few milliseconds for the further
/// ends, because a transaction costs more than the ends in it.
struct EndingForecast {
    /// Further ends are expected only if this number of ends were written in the last `periodMilliseconds`.
    static let fewestEnds = 8
    static let periodMilliseconds: Int64 = 50
    /// If fewer other tasks run, no further ends are expected. A host may enqueue its next file only when it has the
    /// event of the last file.
    static let fewestOtherTasks = 8

    /// The times of the newest ends, at most `fewestEnds`, in milliseconds since boot.
    private var times: [Int64] = []

    /// Records that ends are being written.
    mutating func record(_ count: Int, now: Int64) {
        times.append(contentsOf: repeatElement(now, count: min(count, Self.fewestEnds)))
        times.removeFirst(max(0, times.count - Self.fewestEnds))
    }

    /// `otherTasks`: the number of running tasks whose ends have not been passed to the writer yet.
    func expectsFurtherEnds(otherTasks: Int, now: Int64) -> Bool {
        guard times.count == Self.fewestEnds, let oldest = times.first else { return false }
        return otherTasks >= Self.fewestOtherTasks && now - oldest <= Self.periodMilliseconds
    }
}
