public import BackhaulModel

/// The protocol of docs/wire.md between a client and an engine in another process.
public enum Wire {
    /// The protocol version, which must be the same on both sides. No side supports old formats, because client and
    /// engine are on one machine. A newer client waits until an older engine has exited.
    public static let version = Versions.current.wire

    /// The largest size of a frame's payload, in bytes. A peer that sends more is faulty.
    public static let maximumFrame = 4 << 20

    /// Returns a whole frame, which begins with its length. Throws `tooMany` if the command does not fit into a frame.
    /// The caller must split long lists of ids. Requests are sent in chunks that always fit (`Limits.chunkSize`).
    public static func encode(_ message: ClientMessage) throws(Failure) -> [UInt8] {
        let frame = frame(message, capacity: capacity(for: message))
        guard fits(frame) else {
            throw Failure(.tooMany, "the arguments of the call have more than \(maximumFrame) bytes; split them")
        }
        return frame
    }

    /// Returns a whole frame, which begins with its length. A reply that does not fit into a frame is replaced by the
    /// failure `tooMany`. The caller can avoid this failure with `countThatFits`.
    public static func encode(_ message: EngineMessage) -> [UInt8] {
        let frame = frame(message)
        guard !fits(frame), case .reply(let sequence, _) = message else { return frame }
        let failure = Failure(.tooMany, "the reply has more than \(maximumFrame) bytes; ask for fewer items at once")
        return Wire.frame(EngineMessage.reply(sequence: sequence, .failed(failure)))
    }

    /// Returns a reply without a frame. The database stores the reply in this form, together with the command's id.
    public static func encodeReply(_ reply: Reply) -> [UInt8] { encodeStored(reply) }

    /// Reads a stored reply. Throws `engineIncompatible` if the reply was written in another protocol version, and
    /// `storeDamaged` if the reply cannot be read.
    public static func decodeReply(_ bytes: [UInt8]) throws(Failure) -> Reply { try decodeStored(bytes, "reply") }

    // The values that a fleet stores in its database. Their readers throw like `decodeReply`.
    public static func encodeRequest(_ request: Request) -> [UInt8] { encodeStored(request) }
    public static func decodeRequest(_ bytes: [UInt8]) throws(Failure) -> Request { try decodeStored(bytes, "request") }
    public static func encodeOutcome(_ outcome: Outcome) -> [UInt8] { encodeStored(outcome) }
    public static func decodeOutcome(_ bytes: [UInt8]) throws(Failure) -> Outcome { try decodeStored(bytes, "outcome") }
    public static func encodeConfiguration(_ configuration: SessionConfiguration) -> [UInt8] {
        encodeStored(configuration)
    }
    public static func decodeConfiguration(_ bytes: [UInt8]) throws(Failure) -> SessionConfiguration {
        try decodeStored(bytes, "configuration")
    }

    private static func encodeStored(_ value: some WireValue) -> [UInt8] {
        var coder = Coder()
        version.write(to: &coder)
        value.write(to: &coder)
        return coder.bytes
    }

    /// - name: the name of the value in messages.
    private static func decodeStored<Value: WireValue>(_ bytes: [UInt8], _ name: String) throws(Failure) -> Value {
        var coder = Coder(reading: bytes[...])
        do throws(Malformed) {
            let writer: UInt16 = try coder.integer()
            guard writer == version else { throw Malformed("", peerVersions: Versions(wire: writer, library: 0)) }
            let value = try Value.read(from: &coder)
            try coder.finish()
            return value
        } catch {
            if let writer = error.peerVersions?.wire {
                throw Failure(
                    .engineIncompatible,
                    "the \(name) was stored by version \(writer) of the protocol and this engine speaks \(version)",
                    detail: Int64(writer))
            }
            throw Failure(.storeDamaged, "a stored \(name) cannot be read: \(error.reason)")
        }
    }

    /// Returns how many items from the start of the list fit into one reply. If the list is not empty, the number is at
    /// least 1.
    public static func countThatFits(_ events: [Event]) -> Int { countThatFits(items: events) }
    public static func countThatFits(_ tasks: [TaskInfo]) -> Int { countThatFits(items: tasks) }

    private static func countThatFits<Item: WireValue>(items: [Item]) -> Int {
        // 64 bytes of the frame are reserved for the tags, the sequence number, the count and `more`.
        let room = maximumFrame - 64
        var coder = Coder()
        for (index, item) in items.enumerated() {
            item.write(to: &coder)
            if coder.bytes.count > room { return max(1, index) }
        }
        return items.count
    }

    private static func frame<Message: WireValue>(_ message: Message, capacity: Int = 0) -> [UInt8] {
        var coder = Coder()
        coder.reserve(capacity)
        coder.write(0 as UInt32)
        message.write(to: &coder)
        coder.setLength(at: 0)
        return coder.bytes
    }

    private static func fits(_ frame: [UInt8]) -> Bool { frame.count - 4 <= maximumFrame }

    private static func capacity(for message: ClientMessage) -> Int {
        if case .command(_, _, .enqueue) = message { Limits.chunkSize } else { 0 }
    }
}
