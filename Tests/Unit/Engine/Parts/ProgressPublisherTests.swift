import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

/// A handle can *watch* the progress of the session's tasks.
@Suite("The publisher of progress")
struct ProgressPublisherTests {
    let runtime = FakeRuntime()
    let clients = ClientRegistry()
    let source = FakeSource()
    let publisher: ProgressPublisher
    let session = SessionID(rawValue: 1)

    final class FakeSource: ProgressSource {
        var offsets: [UInt64: UInt64] = [:]
        var runningSessions: Set<SessionID> = []
        func readings(of session: SessionID) -> [Progress] {
            offsets.sorted { $0.key < $1.key }.map { ProgressPublisherTests.reading($0.key, $0.value) }
        }
    }

    init() { publisher = ProgressPublisher(runtime, clients, source) }

    private static func reading(_ task: UInt64, _ offset: UInt64, _ state: TaskState = .running) -> Progress {
        Progress(
            task: TaskID(rawValue: task), state: state, reason: .none, offset: offset, size: nil, bytesPerSecond: 0,
            bodySent: 0, bodySize: 0)
    }

    private func offsets(_ client: FakeClient) -> [[UInt64]] {
        client.notices.map { if case .progress(_, let readings) = $0 { readings.map(\.offset) } else { [] } }
    }

    private func watching(_ session: UInt64 = 1, milliseconds: UInt32 = 500) throws -> FakeClient {
        let client = FakeClient(clients)
        client.attach(1, SessionID(rawValue: session))
        try publisher.watch(client.address(1), milliseconds: milliseconds)
        return client
    }

    /// Starts a task of the session.
    private func start(in session: UInt64 = 1) {
        source.runningSessions.insert(SessionID(rawValue: session))
        publisher.started(in: SessionID(rawValue: session))
    }

    @Test("progress is sent at most once in an interval, and only for changed tasks")
    func interval() throws {
        let client = try watching()
        source.offsets = [1: 10, 2: 20]
        start()
        runtime.advance(milliseconds: 0)
        #expect(offsets(client) == [[10, 20]])
        source.offsets[1] = 11
        runtime.advance(milliseconds: 499)
        #expect(offsets(client).isEmpty)
        runtime.advance(milliseconds: 1)
        #expect(offsets(client) == [[11]])
        runtime.advance(milliseconds: 5_000)
        #expect(offsets(client).isEmpty)
    }

    @Test("a watch with a short interval does not wait for the interval of another watch")
    func intervals() throws {
        let slow = try watching(milliseconds: 10_000)
        source.offsets = [1: 10]
        start()
        runtime.advance(milliseconds: 0)
        let fast = try watching(milliseconds: 100)
        runtime.advance(milliseconds: 0)
        #expect(offsets(fast) == [[10]])
        source.offsets[1] = 11
        runtime.advance(milliseconds: 100)
        #expect(offsets(fast) == [[11]])
        #expect(offsets(slow) == [[10]])
        runtime.advance(milliseconds: 9_900)
        #expect(offsets(slow) == [[11]])
    }

    @Test("the final state of a task does not wait for the watch of another session")
    func endedInOtherSession() throws {
        _ = try watching(1, milliseconds: 10_000)
        let client = try watching(2, milliseconds: 100)
        start(in: 1)
        runtime.advance(milliseconds: 200)
        publisher.ended(TaskID(rawValue: 5), of: SessionID(rawValue: 2)) { Self.reading(5, 99, .succeeded) }
        runtime.advance(milliseconds: 0)
        #expect(offsets(client) == [[99]])
    }

    @Test("a watch of an idle session gets the first reading at once, although another watch was served meanwhile")
    func idleSession() throws {
        _ = try watching(1, milliseconds: 100)
        let client = try watching(2, milliseconds: 60_000)
        start(in: 1)
        runtime.advance(milliseconds: 1_000)
        source.offsets = [1: 10]
        start(in: 2)
        runtime.advance(milliseconds: 0)
        #expect(offsets(client) == [[10]])
    }

    @Test("a client with too much unread data gets no progress until it has read its messages")
    func behind() throws {
        let client = try watching()
        source.offsets = [1: 10]
        client.isBackpressured = true
        start()
        runtime.advance(milliseconds: 2_000)
        #expect(offsets(client).isEmpty)
        client.isBackpressured = false
        runtime.advance(milliseconds: 500)
        #expect(offsets(client) == [[10]])
    }

    @Test("the progress that a client gets includes the final state of an ended task")
    func ended() throws {
        let client = try watching()
        publisher.ended(TaskID(rawValue: 1), of: session) { Self.reading(1, 99, .succeeded) }
        runtime.advance(milliseconds: 500)
        #expect(offsets(client) == [[99]])
    }

    @Test("if no handle watches the progress of an ended task, the progress is not read")
    func unwatched() {
        publisher.ended(TaskID(rawValue: 1), of: session) {
            Issue.record("the progress was read")
            return Self.reading(1, 1)
        }
    }

    @Test("no progress is sent after the watch has ended")
    func stops() throws {
        let client = try watching()
        source.offsets = [1: 10]
        start()
        try publisher.watch(client.address(1), milliseconds: 0)
        runtime.advance(milliseconds: 2_000)
        #expect(offsets(client).isEmpty)
    }

    @Test("at most 256 handles of a client can watch progress")
    func limit() throws {
        let client = FakeClient(clients)
        for handle in 1...257 as ClosedRange<UInt64> { client.attach(handle, session) }
        for handle in 1...256 as ClosedRange<UInt64> { try publisher.watch(client.address(handle), milliseconds: 500) }
        #expect(throws: Failure.self) { try publisher.watch(client.address(257), milliseconds: 500) }
    }
}
