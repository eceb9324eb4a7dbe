/// The part of a resource or of a body's file that a request transfers.
public struct ByteRange: Equatable, Sendable {
    /// The offset of the first byte.
    public var start: UInt64
    /// The number of bytes; nil: all bytes up to the end.
    public var size: UInt64?

    public init(start: UInt64, size: UInt64? = nil) {
        self.start = start
        self.size = size
    }

    /// The range in a whole of `total` bytes; nil if the whole does not have all bytes of the range. A range has at
    /// least one byte.
    public func bytes(of total: UInt64) -> Range<UInt64>? {
        guard start < total else { return nil }
        guard let size else { return start..<total }
        return size <= total - start ? start..<start + size : nil
    }

    /// Text such as "the bytes 100 to 199" or "the bytes from 100".
    public var text: String {
        size.map { "the bytes \(start) to \(start + $0 - 1)" } ?? "the bytes from \(start)"
    }
}
