/// For how long something has been transferred without a gap: by one transfer, or by one after the other. Times are
/// those of the clock that starts with the boot, in milliseconds.
public struct BusySpans<Key: Hashable & Sendable>: Sendable {
    /// What has lasted so long depends on what every lasting transfer depends on.
    public static var lasting: Int64 { 5_000 }
    /// A shorter pause is none.
    public static var gap: Int64 { 2_000 }

    private struct Span {
        var began: Int64
        var last: Int64
        var isLasting: Bool { last - began >= BusySpans.lasting }
    }

    private var spans: [Key: Span] = [:]

    public init() {}

    /// It is busy now: at the begin of each transfer, and from time to time while it lasts.
    public mutating func note(_ key: Key, now: Int64) {
        let began = spans[key].flatMap { now - $0.last <= Self.gap ? $0.began : nil } ?? now
        spans[key] = Span(began: began, last: now)
    }

    /// What lasts, and forgets what is over.
    public mutating func lasting(now: Int64) -> Set<Key> {
        spans = spans.filter { now - $0.value.last <= Self.gap }
        return Set(spans.lazy.filter { $0.value.isLasting }.map(\.key))
    }

    /// When something that lasts will be over, if nothing more comes; nil: nothing lasts.
    public var nextEnd: Int64? {
        spans.values.lazy.filter(\.isLasting).map { $0.last + Self.gap + 1 }.min()
    }
}
