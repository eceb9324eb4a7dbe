import BackhaulModel
import BackhaulWire
import Testing

@Suite struct HostilePeerTests {
    /// Returns a frame with this payload, which may be invalid.
    private func frame(_ payload: [UInt8], length: UInt32? = nil) -> [UInt8] {
        let length = length ?? UInt32(payload.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + payload
    }

    private func clientFailure(_ bytes: [UInt8]) -> Failure? {
        var reader = FrameReader()
        reader.append(bytes)
        do throws(Failure) {
            while try reader.nextClientMessage() != nil {}
            return nil
        } catch {
            return error
        }
    }

    private func engineFailure(_ bytes: [UInt8]) -> Failure? {
        var reader = FrameReader()
        reader.append(bytes)
        do throws(Failure) {
            while try reader.nextEngineMessage() != nil {}
            return nil
        } catch {
            return error
        }
    }

    @Test("the frame reader does not return an incomplete message")
    func everyPrefix() throws {
        var generator = Generator(seed: 1)
        for message in generator.clientMessages() {
            let bytes = try Wire.encode(message)
            for count in 0..<bytes.count {
                var reader = FrameReader()
                reader.append(bytes[..<count])
                #expect(try reader.nextClientMessage() == nil)
            }
        }
        for message in generator.engineMessages() {
            let bytes = Wire.encode(message)
            for count in 0..<bytes.count {
                var reader = FrameReader()
                reader.append(bytes[..<count])
                #expect(try reader.nextEngineMessage() == nil)
            }
        }
    }

    @Test("a frame with a truncated payload is refused")
    func everyCutPayload() throws {
        var generator = Generator(seed: 2)
        for message in generator.clientMessages() {
            let payload = try Wire.encode(message).dropFirst(4)
            for count in 0..<payload.count {
                #expect(clientFailure(frame(Array(payload.prefix(count))))?.status == .invalidArgument)
            }
        }
    }

    @Test("a frame with additional bytes after its message is refused")
    func trailingBytes() throws {
        var generator = Generator(seed: 3)
        for message in generator.clientMessages() {
            let payload = try Wire.encode(message).dropFirst(4) + [0]
            #expect(clientFailure(frame(Array(payload)))?.status == .invalidArgument)
        }
        for message in generator.engineMessages() {
            #expect(engineFailure(frame(Wire.encode(message).dropFirst(4) + [0]))?.status == .engineIncompatible)
        }
    }

    @Test(
        "after a change of one byte, the frame reader returns a message or a clear failure, or waits for more bytes",
        arguments: 0..<6)
    func everyChangedByte(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        let clientFrames = try generator.clientMessages().map { try Wire.encode($0) }
        let engineFrames = generator.engineMessages().map { Wire.encode($0) }
        for (frames, failure) in [(clientFrames, clientFailure), (engineFrames, engineFailure)] {
            for bytes in frames {
                for position in bytes.indices {
                    var changed = bytes
                    changed[position] ^= UInt8.random(in: 1...255, using: &generator)
                    if let failure = failure(changed) { #expect(!failure.message.isEmpty) }
                }
            }
        }
    }

    @Test("for random bytes, the frame reader returns a message or a failure, or waits for more", arguments: 0..<200)
    func noise(seed: UInt64) {
        var generator = Generator(seed: seed)
        for tag: UInt8 in [1, 2, 65, 66, 67, 68] {
            let payload = [tag] + (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if let failure = clientFailure(frame(payload)) { #expect(!failure.message.isEmpty) }
            if let failure = engineFailure(frame(payload)) { #expect(!failure.message.isEmpty) }
        }
    }

    @Test("a frame whose length exceeds the limit is refused before its payload arrives")
    func tooLong() {
        let failure = clientFailure(frame([], length: UInt32(Wire.maximumFrame) + 1))
        #expect(failure?.status == .invalidArgument)
        #expect(engineFailure(frame([], length: .max))?.status == .engineIncompatible)
        #expect(clientFailure(frame([], length: UInt32(Wire.maximumFrame))) == nil)
    }

    @Test("a frame is refused if its count of elements is larger than the rest of the frame can hold")
    func impossibleCount() {
        // The payload is a command with two sequence numbers, `enqueue`, a handle, and a count of 4,294,967,295
        // requests.
        let payload: [UInt8] = [2] + .init(repeating: 0, count: 16) + [6] + .init(repeating: 0, count: 8)
        #expect(clientFailure(frame(payload + [0, 0, 0, 0])) == nil)
        #expect(clientFailure(frame(payload + [255, 255, 255, 255]))?.status == .invalidArgument)
    }

    @Test("a message with text that is not UTF-8 is refused")
    func notUTF8() {
        let payload: [UInt8] = [67, 1] + [2, 0, 0, 0] + [0xC3, 0x28] + .init(repeating: 0, count: 16)
        #expect(engineFailure(frame(payload))?.message.contains("UTF-8") == true)
    }

    @Test("after a failure, the frame reader repeats the failure and reads no more messages")
    func failureStays() throws {
        var reader = FrameReader()
        reader.append(frame([99]))
        let first = #expect(throws: Failure.self) { try reader.nextClientMessage() }
        reader.append(try Wire.encode(.command(sequence: 1, repliedThrough: 0, .sessions(after: ""))))
        let second = #expect(throws: Failure.self) { try reader.nextClientMessage() }
        #expect(first == second)
    }

    @Test("a hello of another protocol version is recognized, even if unknown bytes follow the version")
    func otherVersion() {
        let hello: [UInt8] = [1] + Array("bhul".utf8) + [7, 0, 1, 2, 3, 4, 5]
        let failure = clientFailure(frame(hello))
        #expect(failure?.status == .engineIncompatible)
        #expect(failure?.detail == 7)
        let command = clientFailure(frame([2, 1, 2, 3]))
        #expect(command?.status == .invalidArgument)
    }

    @Test("bytes of another protocol, such as HTTP, are refused in place of a hello")
    func otherProtocol() {
        #expect(clientFailure(Array("GET / HTTP/1.1\r\n\r\n".utf8))?.status == .invalidArgument)
        #expect(clientFailure(frame([1] + Array("http".utf8) + [1, 0]))?.status == .invalidArgument)
    }

    /// Returns the first bytes of a stored reply. They are a protocol version, which is the present version plus
    /// `later`.
    private func version(_ later: UInt16) -> [UInt8] { [UInt8(Wire.version + later), 0] }

    @Test("a damaged stored reply and a reply of another protocol version cause different failures")
    func storedReplies() {
        #expect(throws: Failure.self) { try Wire.decodeReply([]) }
        let damaged = #expect(throws: Failure.self) { try Wire.decodeReply(version(0) + [200]) }
        #expect(damaged?.status == .storeDamaged)
        let newer = #expect(throws: Failure.self) { try Wire.decodeReply(version(1) + [2]) }
        #expect(newer?.status == .engineIncompatible)
    }
}
