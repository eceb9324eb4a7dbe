import BackhaulModel
import BackhaulWire
import Testing

@Suite struct LimitTests {
    private func event(_ id: UInt64, userData size: Int) -> Event {
        let outcome = Outcome(state: .succeeded)
        return Event(
            id: EventID(rawValue: id), round: 1, timeMilliseconds: 1,
            kind: .taskEnded(
                EndedTask(
                    id: TaskID(rawValue: id), url: "https://example.org/", idempotencyKey: nil,
                    userData: .init(repeating: 7, count: size), outcome: outcome)))
    }

    @Test("if a command does not fit in a frame, its encoding fails, and the caller gets the status `tooMany`")
    func tooManyIDs() {
        let ids = (0..<UInt64(Wire.maximumFrame / 8)).map(EventID.init)
        let failure = #expect(throws: Failure.self) {
            try Wire.encode(
                .command(sequence: 1, repliedThrough: 0, .acknowledge(HandleID(rawValue: 1), .ids(ids))))
        }
        #expect(failure?.status == .tooMany)
    }

    @Test("a reply that does not fit in a frame is replaced by a failure with the same sequence number")
    func tooLargeReply() throws {
        let events = (1...80).map { event($0, userData: Limits.userDataSize) }
        var reader = FrameReader()
        reader.append(Wire.encode(.reply(sequence: 9, .events(events, more: false))))
        guard case .reply(9, .failed(let failure)) = try reader.nextEngineMessage() else {
            Issue.record("no failure with the sequence")
            return
        }
        #expect(failure.status == .tooMany)
    }

    @Test("the number of events that fit in a frame is computed in advance")
    func eventsThatFit() throws {
        let events = (1...80).map { event($0, userData: Limits.userDataSize) }
        let count = Wire.countThatFits(events)
        #expect(count > 0 && count < events.count)
        let fitting = EngineMessage.reply(sequence: 9, .events(Array(events[..<count]), more: true))
        var reader = FrameReader()
        reader.append(Wire.encode(fitting))
        #expect(try reader.nextEngineMessage() == fitting)
        let tooMany = Wire.encode(.reply(sequence: 9, .events(Array(events[...count]), more: true)))
        #expect(tooMany.count < 1_000)
        #expect(Wire.countThatFits(Array(events[..<3])) == 3)
    }

    @Test("a page of sessions with the longest identifiers fits in a frame")
    func largestPage() throws {
        let session = SessionInfo(
            identifier: String(repeating: "i", count: Limits.identifierSize), round: 1, liveTasks: 1, events: 1,
            hasFinishedRound: true, isInvalidating: true, consumer: 1, createdMilliseconds: 1,
            newestEvent: EventID(rawValue: 1))
        let page = EngineMessage.reply(
            sequence: 9, .sessions(.init(repeating: session, count: Limits.batchCount), more: true))
        var reader = FrameReader()
        reader.append(Wire.encode(page))
        #expect(try reader.nextEngineMessage() == page)
    }

    @Test("an enqueue of 20 requests of the largest size fits in a frame")
    func largestChunk() throws {
        var request = Request(url: String(repeating: "u", count: Limits.urlSize))
        request.destination = Destination(
            path: String(repeating: "p", count: Limits.pathSize), directoryDevice: 1, directoryInode: 1)
        request.idempotencyKey = String(repeating: "k", count: Limits.keySize)
        request.headers = (0..<Limits.headerCount).map { _ in
            HeaderField("n", String(repeating: "v", count: Limits.headersSize / Limits.headerCount))
        }
        request.userData = .init(repeating: 0, count: Limits.userDataSize)
        let command = ClientMessage.command(
            sequence: 1, repliedThrough: 0, .enqueue(HandleID(rawValue: 1), .init(repeating: request, count: 20)))
        var reader = FrameReader()
        reader.append(try Wire.encode(command))
        #expect(try reader.nextClientMessage() == command)
    }
}
