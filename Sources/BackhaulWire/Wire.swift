public import BackhaulModel

/// The protocol between a client and an engine in another process: docs/wire.md.
public enum Wire {
    /// The version of the protocol, which must be the same on both sides. Neither side supports old formats: both are
    /// on one machine, and a newer client waits until an older engine has ended.
    public static let version = Versions.current.wire

    /// The most bytes of a frame's payload. A peer that sends more is faulty.
    public static let maximumFrame = 4 << 20

    /// Returns a whole frame with its length. Throws `tooMany` if the command does not fit in a frame. The caller must
    /// split long lists of ids; chunks of requests are small enough (`Limits.chunkSize`).
    public static func encode(_ message: ClientMessage) throws(Failure) -> [UInt8] {
        let frame = frame(message, capacity: capacity(for: message))
        guard fits(frame) else {
            throw Failure(.tooMany, "The arguments of the call have more than \(maximumFrame) bytes; split them.")
        }
        return frame
    }

    /// Returns a whole frame with its length. A reply that does not fit in a frame is replaced by the failure
    /// `tooMany`. `countThatFits` helps to avoid that.
    public static func encode(_ message: EngineMessage) -> [UInt8] {
        let frame = frame(message)
        guard !fits(frame), case .reply(let sequence, _) = message else { return frame }
        let failure = Failure(.tooMany, "The reply has more than \(maximumFrame) bytes; ask for fewer items at once.")
        return Wire.frame(EngineMessage.reply(sequence: sequence, .failed(failure)))
    }

    /// Returns a reply without a frame, as the store keeps it with the id of an applied command.
    public static func encodeReply(_ reply: Reply) -> [UInt8] {
        var coder = Coder()
        version.write(to: &coder)
        reply.write(to: &coder)
        return coder.bytes
    }

    /// Reads a stored reply. Throws `engineIncompatible` if another version of the protocol wrote it, and
    /// `storeDamaged` if it cannot be read.
    public static func decodeReply(_ bytes: [UInt8]) throws(Failure) -> Reply {
        var coder = Coder(reading: bytes[...])
        do throws(Malformed) {
            let writer: UInt16 = try coder.integer()
            guard writer == version else { throw Malformed("", peerVersions: Versions(wire: writer, library: 0)) }
            let reply = try Reply.read(from: &coder)
            try coder.finish()
            return reply
        } catch {
            if let writer = error.peerVersions?.wire {
                throw Failure(
                    .engineIncompatible,
                    "The reply was stored by version \(writer) of the protocol and this engine speaks \(version).",
                    detail: Int64(writer))
            }
            throw Failure(.storeDamaged, "A stored reply cannot be read: \(error.reason).")
        }
    }

    /// How many of the first items fit in one reply: at least one, if the list is not empty.
    public static func countThatFits(_ events: [Event]) -> Int { countThatFits(items: events) }
    public static func countThatFits(_ tasks: [TaskInfo]) -> Int { countThatFits(items: tasks) }

    private static func countThatFits<Item: WireValue>(items: [Item]) -> Int {
        // The other 64 bytes are for the tags, the sequence, the count and `more`.
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
