import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import BackhaulWire
import Glibc
import Testing

/// A *peer* is a process that is connected to the socket of the engine, the process that runs the tasks. A *frame* is
/// one message with its length before it.
@Suite("A hostile peer affects only its own connection")
struct HostilePeerTests {
    let store: TestStore
    let application: ApplicationClient

    init() throws {
        store = try TestStore()
        application = try store.open()
    }

    private func isServed() -> Bool {
        if case .sessions = try? reply(application.sessions()) { true } else { false }
    }

    @Test("a peer that sends invalid frames is disconnected")
    func garbage() throws {
        defer { application.close() }
        let peer = try Peer(store.store)
        _ = peer.send((0..<1_000).map { _ in UInt8.random(in: 0...255) })
        #expect(try peer.isEnded())
        let other = try Peer(store.store)
        _ = other.send([255, 255, 255, 127, 1, 2, 3])
        #expect(try other.isEnded())
        #expect(isServed())
    }

    @Test("a peer is disconnected if it sends a command before its hello, or sends an invalid hello")
    func invalidHello() throws {
        defer { application.close() }
        let peer = try Peer(store.store)
        try peer.send(.command(sequence: 1, repliedThrough: 0, .sessions(after: "")))
        #expect(try peer.isEnded())
        let long = try Peer(store.store)
        let name = String(repeating: "a", count: 3_000_000)
        try long.send(.hello(Hello(client: .random(), application: name, process: getpid())))
        #expect(try long.isEnded())
        #expect(isServed())
    }

    // The other end may be in another PID namespace, in which its process has another id.
    @Test("a hello that names another process is served, and the process that the kernel reports counts")
    func otherProcess() throws {
        defer { application.close() }
        let peer = try Peer(store.store)
        try peer.send(.hello(Hello(client: .random(), application: "org.example", process: 1)))
        guard case .welcome? = try peer.next() else { throw Unexpected() }
        #expect(isServed())
    }

    @Test("if a process has too many connections, its further connections are refused with a reason")
    func connections() throws {
        defer { application.close() }
        var peers = try (0..<100).map { _ in try Peer(store.store) }
        for peer in peers { try peer.sendHello() }
        peers += try (0..<100).map { _ in try Peer(store.store) }
        guard case .goodbye(let failure?) = try #require(peers.last).next() else { throw Unexpected() }
        #expect(failure.status == .tooMany)
        #expect(isServed())
        peers = []
        #expect(waitUntil { (try? Peer(store.store).sendHello()) != nil })
    }

    @Test("while a peer reads no replies, the engine reads no further commands from this peer")
    func commands() throws {
        defer { application.close() }
        let peer = try Peer(store.store)
        try peer.sendHello()
        var (taken, whole) = (0, 0)
        // Sends commands until the engine has taken no byte for a second.
        var deadline = Deadline.after(milliseconds: 1_000)
        var rest: [UInt8] = []
        while !deadline.hasPassed, taken < 64 << 20 {
            if rest.isEmpty {
                whole += 1
                rest = try Wire.encode(.command(sequence: UInt64(whole), repliedThrough: 0, .engine))
            }
            let count = peer.send(rest, waits: false)
            if count > 0 { deadline = .after(milliseconds: 1_000) }
            taken += count
            rest.removeFirst(count)
        }
        #expect(taken < 8 << 20)
        #expect(isServed())
        var replies = 0
        while replies < whole - 1 {
            guard case .reply = try peer.next() else { throw Unexpected() }
            replies += 1
        }
    }

    @Test("if unfinished frames need too much memory, only the connections with the largest frames are closed")
    func largestFrames() throws {
        defer { application.close() }
        let correct = try Peer(store.store)
        try correct.sendHello()
        let command = try Wire.encode(.command(sequence: 1, repliedThrough: 0, .sessions(after: "")))
        _ = correct.send(Array(command.prefix(6)))
        // Together, the frames of these peers have more than the limit of 64 MiB. One frame less is below the limit.
        let peers = try (0..<17).map { _ in try Peer(store.store) }
        let half: [UInt8] = [0, 0, 64, 0, 2] + [UInt8](repeating: 0, count: (4 << 20) - (64 << 10))
        for peer in peers {
            try peer.sendHello()
            _ = peer.send(half)
        }
        #expect(waitUntil { peers.contains { $0.send([0]) == 0 } })
        #expect(peers.count { $0.send([0]) == 1 } == 16)
        _ = correct.send(Array(command.dropFirst(6)))
        guard case .reply(1, .sessions) = try correct.next() else { throw Unexpected() }
    }

    /// Starts an engine with these time-outs in milliseconds.
    private func startEngine(hello: Int64, frame: Int64) throws -> Engine {
        application.close()
        let directory = try StoreDirectory.open(path: store.store)
        let lock = try #require(try directory.acquireLock())
        var options = EngineOptions.embedded
        options.timeoutMilliseconds = (hello: hello, frame: frame)
        return try Engine(directory: directory, lock: lock, options: options, ended: { _ in })
    }

    @Test("if a peer sends no hello, it is disconnected after a time-out")
    func silent() throws {
        let engine = try startEngine(hello: 200, frame: 60_000)
        defer { engine.stop() }
        #expect(try Peer(store.store).isEnded())
    }

    @Test("if a peer sends only a part of a frame, it is disconnected after a time-out")
    func halfSent() throws {
        let engine = try startEngine(hello: 60_000, frame: 400)
        defer { engine.stop() }
        let half = try Peer(store.store)
        try half.sendHello()
        _ = half.send([0, 0, 16, 0, 2, 1])
        let slow = try Peer(store.store)
        try slow.sendHello()
        let correct = try Peer(store.store)
        try correct.sendHello()
        _ = slow.send([0, 0, 16, 0])
        #expect(waitUntil { slow.send([2]) == 0 })
        #expect(try half.isEnded())
        try correct.send(.command(sequence: 1, repliedThrough: 0, .sessions(after: "")))
        guard case .reply(1, .sessions) = try correct.next() else { throw Unexpected() }
    }
}
