public import BackhaulModel

/// Splits a stream of bytes into messages. Each message is in a *frame*, which begins with its length. The peer, which
/// sends the stream, is a client or an engine. The stream may contain any bytes. After the first frame that is too long
/// or malformed, each call of `nextClientMessage` or `nextEngineMessage` throws the same failure, and the connection
/// cannot be used any more.
public struct FrameReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0
    private var failure: Failure?

    public init() {}

    /// Adds bytes that were read from the peer. Before the next call, the caller must take out all complete messages.
    /// So before each call, at most one incomplete frame is buffered.
    public mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard failure == nil else { return }
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= FrameReader.keptCapacity)
            start = 0
        } else if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The number of bytes that were added, but were not yet taken out as messages.
    public var bufferedBytes: Int { buffer.count - start }

    /// The next complete message of a client; nil if more bytes are needed. Throws `engineIncompatible` for a client
    /// with another protocol version, and `invalidArgument` for malformed bytes.
    public mutating func nextClientMessage() throws(Failure) -> ClientMessage? {
        try next(from: "client", malformed: .invalidArgument)
    }

    /// The next complete message of an engine; nil if more bytes are needed. Throws `engineIncompatible` for an engine
    /// with another protocol version, and for malformed bytes.
    public mutating func nextEngineMessage() throws(Failure) -> EngineMessage? {
        try next(from: "engine", malformed: .engineIncompatible)
    }

    /// A buffer with a larger capacity than this number of bytes is freed after use. Otherwise one large frame would
    /// occupy memory until the connection ends.
    private static let keptCapacity = 1 << 16

    private mutating func next<Message: WireValue>(
        from peer: String, malformed: Status
    ) throws(Failure) -> Message? {
        if let failure { throw failure }
        do throws(Malformed) {
            guard let payload = try nextPayload() else { return nil }
            var coder = Coder(reading: payload)
            let message = try Message.read(from: &coder)
            try coder.finish()
            start = payload.endIndex
            return message
        } catch {
            let failure = FrameReader.failure(error, peer, malformed)
            self = FrameReader()
            self.failure = failure
            throw failure
        }
    }

    private func nextPayload() throws(Malformed) -> ArraySlice<UInt8>? {
        var coder = Coder(reading: buffer[start...])
        guard coder.remaining >= 4 else { return nil }
        let length = try coder.count()
        guard length <= Wire.maximumFrame else { throw Malformed("it has \(length) bytes") }
        guard coder.remaining >= length else { return nil }
        return buffer[start + 4..<start + 4 + length]
    }

    private static func failure(_ error: Malformed, _ peer: String, _ malformed: Status) -> Failure {
        guard let other = error.peerVersions else {
            return Failure(malformed, "the \(peer) sent a message that cannot be read: \(error.reason)")
        }
        return Failure(
            .engineIncompatible,
            "the \(peer) is version \(other.libraryText) with protocol \(other.wire), and this program has version "
                + "\(Versions.current.libraryText) with protocol \(Wire.version); use the same version of Backhaul in "
                + "all programs that share a store", detail: Int64(other.wire))
    }
}
