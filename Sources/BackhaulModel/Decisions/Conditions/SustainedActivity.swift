/// Measures for how long transfers have run without a long pause. Such a time is a *span*. It may consist of one long
/// transfer, or of several transfers in sequence. Times are milliseconds since boot.
public struct SustainedActivity<Key: Hashable & Sendable>: Sendable {
    /// The duration after which a span counts as sustained, in milliseconds. Some conditions matter to every long
    /// transfer. They are not read before a span is sustained.
    public static var minimumMilliseconds: Int64 { 5_000 }
    /// The longest pause that does not end a span, in milliseconds.
    public static var gap: Int64 { 2_000 }

    private struct Span {
        var began: Int64
        var last: Int64
        var isSustained: Bool { last - began >= SustainedActivity.minimumMilliseconds }
    }

    private var spans: [Key: Span] = [:]

    public init() {}

    /// Notes that a transfer runs now. The caller calls this function when the transfer begins, and repeatedly while
    /// the transfer runs.
    public mutating func note(_ key: Key, now: Int64) {
        let began = spans[key].flatMap { now - $0.last <= Self.gap ? $0.began : nil } ?? now
        spans[key] = Span(began: began, last: now)
    }

    /// Returns the keys with a sustained span, and forgets the spans that have ended.
    public mutating func sustained(now: Int64) -> Set<Key> {
        spans = spans.filter { now - $0.value.last <= Self.gap }
        return Set(spans.lazy.filter { $0.value.isSustained }.map(\.key))
    }

    /// The time at which the first sustained span ends if no further transfer is noted; nil if no span is sustained.
    public var nextEnd: Int64? {
        spans.values.lazy.filter(\.isSustained).map { $0.last + Self.gap + 1 }.min()
    }
}
