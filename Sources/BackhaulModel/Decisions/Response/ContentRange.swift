/// The value of Content-Range for bytes (RFC 9110, section 14.4).
public struct ContentRange: Equatable, Sendable {
    /// The first and the last byte; nil if the value has the form `bytes */total`, as in 416 responses.
    public var range: ClosedRange<UInt64>?
    /// The size of the whole representation; nil for `*`.
    public var size: UInt64?

    /// Returns nil for a malformed value, for a unit other than bytes, and for numbers of more than 64 bits.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[1] != "*" {
            guard let total = UInt64(digits: sides[1]) else { return nil }
            size = total
        }
        if sides[0] == "*" {
            guard size != nil else { return nil }
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt64(digits: ends[0]), let last = UInt64(digits: ends[1]), first <= last,
            size.map({ last < $0 }) ?? true
        else { return nil }
        range = first...last
    }
}
