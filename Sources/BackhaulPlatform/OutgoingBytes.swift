/// Bytes that wait for space in a socket.
public struct OutgoingBytes: Sendable {
    /// When the socket is full, written bytes are removed if they are at least this many, and at least 1/8 of the
    /// waiting bytes. So a removal moves about eight bytes at most for each written byte.
    private static let removalSize = 256 << 10

    private var bytes: [UInt8] = []
    /// How many of the first bytes are written.
    private var written = 0

    public init() {}

    /// The number of bytes that wait.
    public var count: Int { bytes.count - written }
    public var isEmpty: Bool { count == 0 }
    /// The number of stored bytes: the waiting bytes, and written bytes that are not removed yet.
    var storedCount: Int { bytes.count }

    public mutating func append(_ added: [UInt8]) { bytes += added }

    /// Writes as many bytes as the socket has space for, without a wait. Returns false if the connection has ended.
    public mutating func write(to stream: UnixStream) -> Bool {
        while !isEmpty {
            switch stream.write(bytes, from: written) {
            case .written(let size): written += size
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
