/// Counts durations in a few fixed buckets, as a histogram of OpenMetrics has them.
public struct DurationHistogram: Equatable, Sendable {
    /// The upper bounds of the buckets, in microseconds. A last bucket, without a bound, has all longer durations. The
    /// bounds range from a commit on a fast disk to a disk that hangs.
    public static let bounds: [Int64] = [1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000]

    /// The number of durations in each bucket. A duration is in one bucket only.
    public private(set) var counts: [UInt64]
    public private(set) var sumMicroseconds: UInt64 = 0

    public init() { counts = Array(repeating: 0, count: Self.bounds.count + 1) }

    public mutating func add(microseconds: Int64) {
        let bucket = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        counts[bucket] &+= 1
        sumMicroseconds &+= UInt64(max(0, microseconds))
    }
}
