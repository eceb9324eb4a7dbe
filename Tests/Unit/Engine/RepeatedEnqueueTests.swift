import BackhaulClient
import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Requests that are enqueued again")
struct RepeatedEnqueueTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("an ended task is found by its idempotency key until the event about the end of the round is acknowledged")
    func delivered() throws {
        origin.serve("/a", .init(bytes: pattern(100), entityTag: nil))
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        var request = try store.request(origin.url("/a"), "a", key: "a")
        let first = try enqueue(session, [request])
        let events = try eventsOfRound(session)
        _ = try reply(session.acknowledge(.ids([events[0].id])))
        let found = Enqueued(task: first[0].task, disposition: .existing, state: .succeeded)
        #expect(try enqueue(session, [request]) == [found])
        _ = try reply(session.acknowledge(.ids([events[1].id])))
        request.destination = try store.request(origin.url("/a"), "b").destination
        #expect(try enqueue(session, [request])[0].disposition == .new)
    }

    @Test("if a client repeats an enqueue over a new connection, also without its session, it gets the first reply")
    func newConnection() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .produce))
        let (client, handle) = (ClientID.random(), HandleID(rawValue: 1))
        var request = Request(url: origin.url("/a"))
        request.startsSuspended = true
        // Attaches the session over a new connection with the command `attach`, and then sends the enqueue.
        func replyToEnqueue(after attach: UInt64?) throws -> Reply {
            let peer = try Peer(store.store)
            try peer.sendHello("org.example.test", client: client)
            if let attach {
                try peer.send(
                    .command(
                        sequence: attach, repliedThrough: 0,
                        .attachSession(identifier: "s", .consume, handle, waits: false)))
                while true { if case .reply(attach, .session) = try #require(try peer.next()) { break } }
            }
            try peer.send(.command(sequence: 1, repliedThrough: 0, .enqueue(handle, [request])))
            while true { if case .reply(1, let reply) = try #require(try peer.next()) { return reply } }
        }
        let first = try replyToEnqueue(after: 2)
        #expect(
            waitUntil {
                guard case .sessions(let infos, _) = try? reply(application.sessions()) else { return false }
                return infos.first?.consumer == 0
            })
        #expect(try replyToEnqueue(after: 3) == first)
        #expect(try replyToEnqueue(after: nil) == first)
        guard case .tasks(let tasks, _) = try reply(session.tasks(TaskSelection(), after: .zero, maximum: 9)) else {
            throw Unexpected()
        }
        #expect(tasks.count == 1)
    }

    @Test("a destination inside the store is refused")
    func insideStore() throws {
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        var request = Request(url: origin.url("/a"))
        request.ifExists = .replace
        var checker = DestinationCheck()
        for name in ["backhaul.sqlite3", "lock", "kept/7"] {
            request.destination = try checker.check(path: store.store + "/" + name, ifExists: .replace)
            let failure = #expect(throws: Failure.self) { try enqueue(session, [request]) }
            #expect(failure?.status == .invalidArgument)
        }
    }

    @Test("a task that is cancelled while it waits for its next attempt leaves no part file")
    func cancelledWhileWaiting() throws {
        origin.serve("/a", .init(bytes: pattern(3_000_000), entityTag: "\"a\"", breakAfter: 2_000_000, breaks: 100))
        let application = try store.open()
        defer { application.close() }
        let session = try session(application.createSession(SessionConfiguration(identifier: "s"), .consume))
        let task = try enqueue(session, [try store.request(origin.url("/a"), "a")])[0].task
        #expect(
            waitUntil {
                let listing = try? reply(session.tasks(TaskSelection(), after: .zero, maximum: 1))
                guard case .tasks(let tasks, _) = listing else { return false }
                return tasks.first?.reason == .retry
            })
        #expect(store.names(in: store.files).count == 1)
        _ = try reply(session.control(.cancel, TaskSelection(ids: [task])))
        #expect(waitUntil { store.names(in: store.files).isEmpty })
    }
}
