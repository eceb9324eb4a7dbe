/// Bytes that wait for space in a socket.
public struct OutgoingBytes: Sendable {
    /// Written bytes are removed when they are at least this many, and at least 1/8 of the waiting bytes. So a removal
    /// moves at most eight bytes for each written byte.
    private static let removalSize = 256 << 10

    private var bytes: [UInt8] = []
    /// How many of the first bytes are written.
    private var written = 0

    public init() {}

    /// The number of bytes that wait.
    public var count: Int { bytes.count - written }
    public var isEmpty: Bool { count == 0 }
    /// The number of bytes in memory: the waiting bytes, and written bytes that are not removed yet.
    var storedCount: Int { bytes.count }

    public mutating func append(_ added: [UInt8]) { bytes += added }

    /// Writes as many bytes as the socket has space for, without a wait. Returns false if the connection has ended.
    public mutating func write(to stream: UnixStream) -> Bool {
        while !isEmpty {
            switch stream.write(bytes, from: written) {
            case .written(let count): written += count
            case .wouldBlock:
                removeWritten()
                return true
            case .closed: return false
            }
        }
        self = OutgoingBytes()
        return true
    }

    private mutating func removeWritten() {
        guard written >= max(Self.removalSize, count / 8) else { return }
        bytes.removeFirst(written)
        written = 0
    }
}
