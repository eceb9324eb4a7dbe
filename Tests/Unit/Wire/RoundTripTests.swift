import BackhaulModel
import BackhaulWire
import Testing

@Suite struct RoundTripTests {
    @Test("every message of a client is decoded to the same value", arguments: 0..<200)
    func clientMessages(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        for message in generator.clientMessages() {
            var reader = FrameReader()
            reader.append(try Wire.encode(message))
            #expect(try reader.nextClientMessage() == message)
            #expect(try reader.nextClientMessage() == nil)
        }
    }

    @Test("every message of an engine is decoded to the same value", arguments: 0..<200)
    func engineMessages(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        for message in generator.engineMessages() {
            var reader = FrameReader()
            reader.append(Wire.encode(message))
            #expect(try reader.nextEngineMessage() == message)
            #expect(try reader.nextEngineMessage() == nil)
        }
    }

    @Test("every stored reply is decoded to the same value", arguments: 0..<50)
    func storedReplies(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        for reply in generator.replies() { #expect(try Wire.decodeReply(Wire.encodeReply(reply)) == reply) }
    }

    @Test("each status, error domain, enqueue result and task state is decoded to the same value")
    func codes() throws {
        for status in Status.allCases {
            for domain in FailureDomain.allCases {
                let reply = Reply.failed(Failure(status, "why", domain: domain, detail: -1))
                #expect(try Wire.decodeReply(Wire.encodeReply(reply)) == reply)
            }
        }
        for disposition in Enqueued.Disposition.allCases {
            let state = disposition == .existing ? TaskState.waiting : nil
            let reply = Reply.enqueued([Enqueued(task: TaskID(rawValue: 1), disposition: disposition, state: state)])
            #expect(try Wire.decodeReply(Wire.encodeReply(reply)) == reply)
        }
        for state in TaskState.allCases {
            let found = Enqueued(
                task: TaskID(rawValue: 1), disposition: .existing, state: state, end: EventID(rawValue: 2))
            #expect(try Wire.decodeReply(Wire.encodeReply(.enqueued([found]))) == .enqueued([found]))
        }
    }

    @Test("messages are decoded in order from chunks of any size", arguments: 1..<40)
    func pieces(size: Int) throws {
        var generator = Generator(seed: UInt64(size))
        let messages = generator.clientMessages()
        let stream = try messages.flatMap { try Wire.encode($0) }
        var reader = FrameReader()
        var seen: [ClientMessage] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            reader.append(stream[start..<min(start + size, stream.count)])
            while let message = try reader.nextClientMessage() { seen.append(message) }
        }
        #expect(seen == messages)
    }
}
