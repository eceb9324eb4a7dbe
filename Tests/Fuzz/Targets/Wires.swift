import BackhaulModel
import BackhaulWire

/// Messages between clients and the engine. A client or an engine may be another program that only imitates them.
enum Wires {
    /// The bytes are frames. The first byte divides them into two reads.
    @Sendable static func client(_ bytes: [UInt8]) throws {
        try check(bytes) { (reader) throws(Failure) in
            try reader.nextClientMessage()
        } encode: {
            try Wire.encode($0)
        }
    }

    @Sendable static func engine(_ bytes: [UInt8]) throws {
        try check(bytes) { (reader) throws(Failure) in
            try reader.nextEngineMessage()
        } encode: {
            Wire.encode($0)
        }
    }

    private static func check<Message>(
        _ bytes: [UInt8], next: (inout FrameReader) throws(Failure) -> Message?, encode: (Message) throws -> [UInt8]
    ) throws {
        let (messages, failure) = read([bytes], next)
        let middle = Int(bytes.first ?? 0) * bytes.count / 256
        let divided = read([Array(bytes[..<middle]), Array(bytes[middle...])], next)
        try requireEqual(divided.failure, failure, "the failure, if the bytes arrive in two reads")
        try requireEqual(divided.messages.count, messages.count, "messages, if the bytes arrive in two reads")
        if let failure { try require(!failure.message.isEmpty, "a failure without a message") }
        for message in messages {
            let frame = try encode(message)
            try require(frame.count <= bytes.count, "a message of \(frame.count) bytes from \(bytes.count) bytes")
            let again = read([frame], next)
            try requireEqual(again.failure, nil, "the failure of a message that was read and written")
            try requireEqual(try again.messages.map(encode), [frame], "a message, written and read")
        }
    }

    private static func read<Message>(
        _ reads: [[UInt8]], _ next: (inout FrameReader) throws(Failure) -> Message?
    ) -> (messages: [Message], failure: Failure?) {
        var (reader, messages) = (FrameReader(), [Message]())
        for bytes in reads {
            reader.append(bytes)
            do throws(Failure) {
                while let message = try next(&reader) { messages.append(message) }
            } catch {
                return (messages, error)
            }
        }
        return (messages, nil)
    }

    /// The reply to a command, as the database has it.
    @Sendable static func storedReply(_ bytes: [UInt8]) throws {
        try checkStored(bytes, Wire.decodeReply, Wire.encodeReply)
    }

    /// A value, as the database of a fleet has it. The type of the value is not in the bytes.
    @Sendable static func fleetValue(_ bytes: [UInt8]) throws {
        try checkStored(bytes, Wire.decodeRequest, Wire.encodeRequest)
        try checkStored(bytes, Wire.decodeOutcome, Wire.encodeOutcome)
        try checkStored(bytes, Wire.decodeConfiguration, Wire.encodeConfiguration)
    }

    private static func checkStored<Value>(
        _ bytes: [UInt8], _ decode: ([UInt8]) throws(Failure) -> Value, _ encode: (Value) -> [UInt8]
    ) throws {
        let value: Value
        do throws(Failure) { value = try decode(bytes) } catch {
            try require([.storeDamaged, .engineIncompatible].contains(error.status), "the failure \(error)")
            return
        }
        let written = encode(value)
        try require(written.count <= bytes.count, "a value of \(written.count) bytes from \(bytes.count) bytes")
        try requireEqual(encode(try decode(written)), written, "a \(Value.self), written and read")
    }
}
