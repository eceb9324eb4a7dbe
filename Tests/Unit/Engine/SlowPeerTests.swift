import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulStore
import BackhaulWire
import Glibc
import Testing

/// A *peer* is a process that is connected to the engine's socket.
@Suite("A slow peer that reads again")
struct SlowPeerTests {
    private static let name = "org.example.test"
    let store: TestStore
    let application: ApplicationClient
    let producer: SessionClient
    let consumer: Peer
    private let handle = HandleID(rawValue: 1)

    init() throws {
        store = try TestStore()
        application = try store.open(Self.name)
        producer = try session(application.createSession(SessionConfiguration(identifier: "s"), .produce))
        consumer = try Peer(store.store)
        try attach(consumer)
    }

    private func attach(_ peer: Peer) throws {
        try peer.sendHello(Self.name)
        try peer.send(
            .command(
                sequence: 1, repliedThrough: 0,
                .attachSession(identifier: "s", .consume, handle, waits: false)))
        while true { if case .reply(1, .session) = try #require(try peer.next()) { break } }
    }

    /// Enqueues tasks and cancels them. The event of each task has 60,000 bytes.
    private func endTasks(_ count: Int) throws {
        let requests = try (0..<count).map { number in
            var request = try store.request("http://127.0.0.1:1/\(number)", "\(number)")
            request.userData = [UInt8](repeating: 1, count: 60_000)
            return request
        }
        let ids = try enqueue(producer, requests).map(\.task)
        _ = try reply(producer.control(.cancel, TaskSelection(ids: ids)))
        // The engine sends the notice of the events before the reply to this command.
        _ = try reply(application.submit(.engine))
    }

    private func newestEvent() throws -> EventID {
        guard case .sessions(let infos, _) = try reply(application.sessions()) else { throw Unexpected() }
        return try #require(infos.first).newestEvent
    }

    /// Ends tasks, and lets the consumer request their events. The reply has about a megabyte, and the consumer does
    /// not read the reply.
    private func fallBehind(withCredit: Bool) throws {
        try endTasks(20)
        if withCredit { try consumer.send(.credit(handle, EventCredit(after: try newestEvent()))) }
        try consumer.send(
            .command(sequence: 2, repliedThrough: 0, .poll(handle, after: .zero, maximum: 100)))
        #expect(waitUntil { consumer.waitingBytes == 65_536 })
    }

    @Test("a slow peer that reads again gets a notice with the newest event")
    func newest() throws {
        defer { application.close() }
        try fallBehind(withCredit: false)
        try endTasks(1)
        let newest = try newestEvent()
        while true {
            let message = try #require(try consumer.next())
            if message == .notice(.event(identifier: "s", newest: newest)) { break }
        }
    }

    @Test("a slow peer that reads again gets the events that its credit covers")
    func contents() throws {
        defer { application.close() }
        try fallBehind(withCredit: true)
        try endTasks(1)
        let newest = try newestEvent()
        while true {
            let message = try #require(try consumer.next())
            if case .notice(.events(handle, _, newest, let events)) = message, !events.isEmpty { break }
        }
    }

    @Test("a slow peer keeps its connection while the engine does not read the rest of its frame")
    func unreadFrame() throws {
        try endTasks(20)
        try consumer.send(.command(sequence: 2, repliedThrough: 0, .closeSession(handle)))
        while true { if case .reply(2, _) = try #require(try consumer.next()) { break } }
        application.close()
        let directory = try StoreDirectory.open(path: store.store)
        let lock = try #require(try directory.acquireLock())
        var options = EngineOptions.embedded
        options.timeoutMilliseconds.frame = 2_000
        let engine = try Engine(directory: directory, lock: lock, options: options, ended: { _ in })
        defer { engine.stop() }
        let peer = try Peer(store.store)
        try attach(peer)
        let poll = try Wire.encode(.command(sequence: 2, repliedThrough: 1, .poll(handle, after: .zero, maximum: 100)))
        let next = try Wire.encode(.command(sequence: 3, repliedThrough: 1, .engine))
        _ = peer.send(poll + next.prefix(6))
        #expect(waitUntil { peer.waitingBytes == 65_536 })
        _ = peer.send(Array(next.dropFirst(6)))
        // The engine checks for missing bytes each second.
        usleep(4_000_000)
        while true { if case .reply(3, _) = try #require(try peer.next()) { break } }
    }
}
