import BackhaulModel
import BackhaulWire
import Testing

@testable import BackhaulClient

/// An enqueue of many requests, which the client sends to the engine in chunks.
@Suite("The chunks of an enqueue")
struct EnqueueOperationTests {
    private func chunk(_ count: Int) -> [Request] { Array(repeating: Request(url: "http://a.example/"), count: count) }

    /// The state of an enqueue of these chunks, which are not sent yet.
    private func state(_ chunks: [[Request]]) -> EnqueueOperation.State {
        var state = EnqueueOperation.State()
        state.remaining = chunks.reversed()
        state.isEnded = true
        return state
    }

    @Test("while a thread sends a chunk, no other thread gets the next chunk")
    func order() {
        var state = state([chunk(1), chunk(2)])
        let first = state.nextChunk()
        let isFree = state.nextChunk() != nil
        #expect(!isFree)
        state.sent()
        let second = state.nextChunk()
        #expect(first?.number == 0 && first?.requests.count == 1)
        #expect(second?.number == 1 && second?.requests.count == 2)
    }

    @Test(
        "the failure of a chunk has the position of the request, even if the engine names a request outside the chunk",
        arguments: [(1, 6), (5, 5), (.max, 5), (nil, 5)] as [(UInt64?, UInt64)])
    func position(index: UInt64?, position: UInt64) {
        var state = state([chunk(5), chunk(2)])
        for _ in 0..<2 {
            _ = state.nextChunk()
            state.sent()
        }
        state.replied(1, .failed(Failure(.notFound, "no task has this key", index: index)))
        #expect(state.firstFailure?.failure.index == position)
    }

    @Test("an enqueue of several chunks fails if the application was closed")
    func closed() throws {
        let store = try TestStore()
        let application = try store.open()
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        application.close()
        let ticket = session.enqueue(chunk(Limits.chunkCount * 2))
        guard case .enqueued(let items, let failure?) = try outcome(ticket) else { throw Unexpected() }
        #expect(failure.status == .invalidHandle)
        #expect(items.appliedPrefix == 0)
    }

    @Test("requests that name many other tasks are divided into chunks that fit into a message")
    func dependencies() throws {
        var request = Request(url: "http://a.example/")
        request.options.dependencies = (0..<Limits.dependencyCount).map { number in
            var dependency = Dependency(.key(String(repeating: "k", count: Limits.keySize)))
            dependency.headers = (0..<6).map { field in
                HeaderField("x-\(number)-\(field)", "json:/" + String(repeating: "p", count: Limits.placeSize - 6))
            }
            return dependency
        }
        var chunks = RequestChunks()
        var all: [[Request]] = []
        for _ in 0..<100 { if let full = chunks.append(request) { all.append(full) } }
        all.append(chunks.take())
        #expect(all.reduce(0) { $0 + $1.count } == 100)
        for chunk in all {
            let command = Command.enqueue(HandleID(rawValue: 1), chunk)
            _ = try Wire.encode(ClientMessage.command(sequence: 1, repliedThrough: 0, command))
        }
    }
}
