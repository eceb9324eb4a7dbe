internal import BackhaulModel
internal import BackhaulPlatform

/// The durations of all syncs of files, directories and file systems. All disk threads add to it. A lock is cheap here,
/// because a sync takes far longer.
final class SyncDurations: Sendable {
    private let histogram = Lock(DurationHistogram())

    func add(microseconds: Int64) { histogram.withLock { $0.add(microseconds: microseconds) } }

    var value: DurationHistogram { histogram.withLock { $0 } }
}
