import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulFleet

@Suite("A host of a fleet")
struct HostTests {
    private let fleet: TestDatabase
    private let client: ApplicationClient

    init() throws {
        fleet = try TestDatabase()
        client = try Self.open(fleet)
    }

    private static func open(_ fleet: TestDatabase) throws -> ApplicationClient {
        var options = ApplicationOptions(
            application: "org.example.test", storePath: fleet.address.text, hosting: .embedded)
        options.remoteStore = FleetStore(fleet.address)
        return try ApplicationClient.open(options, until: .after(milliseconds: 30_000))
    }

    private func outcome(_ ticket: Ticket) throws -> Ticket.Outcome {
        let outcome = try #require(ticket.wait(until: .after(milliseconds: 30_000)))
        if case .reply(.failed(let failure)) = outcome { throw failure }
        return outcome
    }

    private func reply(_ ticket: Ticket) throws -> Reply {
        guard case .reply(let reply) = try outcome(ticket) else { throw Failure(.internal, "no reply") }
        return reply
    }

    private func session(_ client: ApplicationClient, _ role: Role = .consume) throws -> SessionClient {
        let ticket = client.createSession(SessionConfiguration(identifier: "files"), role)
        guard case .session(let session, _) = try outcome(ticket) else { throw Failure(.internal, "no session") }
        return session
    }

    private func enqueue(_ session: SessionClient, _ requests: [Request]) throws -> [Enqueued] {
        guard case .enqueued(let items, let failure) = try outcome(session.enqueue(requests)) else {
            throw Failure(.internal, "no enqueue")
        }
        if let failure { throw failure }
        return Array(items)
    }

    private func events(_ session: SessionClient, count: Int) throws -> [Event] {
        var events: [Event] = []
        let deadline = Deadline.after(milliseconds: 30_000)
        while events.count < count, !deadline.hasPassed {
            let ticket = session.poll(after: events.last?.id ?? .zero, maximum: 100, until: deadline)
            if case .events(let more, _) = try reply(ticket) { events += more }
        }
        return events
    }

    @Test("a host enqueues, reads the ends, and acknowledges them")
    func tasks() throws {
        let session = try session(client)
        let enqueued = try enqueue(session, ["one", "two"].map { fleet.request($0, key: $0) })
        #expect(enqueued.map(\.disposition) == [.new, .new])
        let again = try enqueue(session, [fleet.request("one", key: "one")])
        #expect(again == [Enqueued(task: enqueued[0].task, disposition: .existing, state: .waiting)])
        let worker = try fleet.worker("worker")
        for task in try worker.claim() {
            #expect(try worker.end(task.run, .succeeded))
        }
        let events = try events(session, count: 3)
        #expect(events.last?.kind == .sessionFinished)
        guard case .events = try reply(session.poll(after: .zero, maximum: 10)) else { return }
        #expect(try reply(session.acknowledge(.through(events[2].id))) == .count(3))
        #expect(try reply(session.complete()) == .completed(endsHandle: false))
        guard case .tasks(let ended, _) = try reply(session.submit { .history($0, after: .zero, maximum: 10) }) else {
            return
        }
        #expect(ended.map(\.state) == [.succeeded, .succeeded])
    }

    @Test("a key with another URL is refused")
    func keyConflict() throws {
        let session = try session(client)
        _ = try enqueue(session, [fleet.request("one", key: "key")])
        let failure = #expect(throws: Failure.self) { try enqueue(session, [fleet.request("two", key: "key")]) }
        #expect(failure?.status == .keyConflict)
        #expect(failure?.index == 0)
    }

    @Test("a repeated request is found although its file is there now; a new request does not replace the file")
    func repeatedAfterPublication() throws {
        let session = try session(client)
        let request = fleet.request("one", key: "key")
        let first = try enqueue(session, [request])
        var again = request
        again.destination?.fileExists = true
        #expect(try enqueue(session, [again]).map(\.task) == first.map(\.task))
        again.idempotencyKey = nil
        let failure = #expect(throws: Failure.self) { try enqueue(session, [again]) }
        #expect(failure?.status == .destinationExists)
    }

    @Test("no two live tasks have the same destination")
    func destinations() throws {
        let session = try session(client)
        _ = try enqueue(session, [fleet.request("one")])
        let failure = #expect(throws: Failure.self) { try enqueue(session, [fleet.request("one")]) }
        #expect(failure?.status == .destinationInUse)
    }

    @Test("only one handle consumes a session; another one can wait for it")
    func consumers() throws {
        let first = try session(client)
        let other = try Self.open(fleet)
        let failure = #expect(throws: Failure.self) { try session(other) }
        #expect(failure?.status == .inUse)
        let waiting = other.attachSession("files", .consume, waits: true)
        #expect(waiting.wait(until: .after(milliseconds: 600)) == nil)
        first.close()
        guard case .session(let second, _) = try outcome(waiting) else { throw Failure(.internal, "no session") }
        #expect(second.role == .consume)
        other.close()
    }

    @Test("a session whose host was killed is free at once on the same machine, and after 30 seconds elsewhere")
    func killedConsumer() throws {
        let queue = fleet.hosts
        _ = try session(client, .produce)
        let session = try queue.find("files", application: queue.application("org.example.test")).id
        let here = ProcessIdentity.current
        var ended = here
        ended.startTime += 1
        let living = Consumer(handle: "living", process: here)
        #expect(try queue.claimEvents(of: session, for: Consumer(handle: "ended", process: ended)))
        #expect(try queue.claimEvents(of: session, for: living))
        #expect(try !queue.claimEvents(of: session, for: Consumer(handle: "second", process: here)))

        #expect(try queue.claimEvents(of: session, for: living))
        try fleet.database.run("UPDATE backhaul.sessions SET consumer_started = 1, consumer_machine = 'another'")
        #expect(try !queue.claimEvents(of: session, for: Consumer(handle: "second", process: here)))
        try fleet.database.run("UPDATE backhaul.sessions SET consumer_until = now()")
        #expect(try queue.claimEvents(of: session, for: Consumer(handle: "second", process: here)))
    }

    @Test("tasks are suspended, resumed and cancelled")
    func controls() throws {
        let session = try session(client)
        _ = try enqueue(session, ["one", "two"].map { fleet.request($0) })
        let worker = try fleet.worker("worker")
        #expect(try reply(session.control(.suspend, TaskSelection())) == .count(2))
        #expect(try worker.claim().isEmpty)
        #expect(try reply(session.control(.resume, TaskSelection())) == .count(2))
        #expect(try reply(session.control(.setPriority(3), TaskSelection())) == .count(2))
        let claimed = try worker.claim()
        #expect(try reply(session.control(.cancel, TaskSelection())) == .count(2))
        #expect(try worker.wantedControls() == claimed.map(\.run))
        for task in claimed { #expect(try worker.end(task.run, .cancelled)) }
        #expect(try events(session, count: 3).count == 3)
    }

    @Test("a waiting task that is cancelled ends at once")
    func cancelOfWaitingTask() throws {
        let session = try session(client)
        _ = try enqueue(session, [fleet.request("one")])
        #expect(try reply(session.control(.cancel, TaskSelection())) == .count(1))
        #expect(try events(session, count: 2).count == 2)
    }

    @Test("if the connection ends, the client connects again, and no request is enqueued twice")
    func lostConnection() throws {
        let session = try session(client)
        for index in 0..<10 {
            let ticket = session.enqueue([fleet.request("file\(index)")])
            try fleet.database.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND datname = current_database()
                """)
            guard case .enqueued(_, nil) = try outcome(ticket) else { throw Failure(.internal, "not enqueued") }
        }
        guard case .tasks(let tasks, _) = try reply(session.tasks(TaskSelection(), after: .zero, maximum: 100)) else {
            return
        }
        #expect(tasks.count == 10)
    }

    @Test("a repeated enqueue command has the first reply")
    func repeatedCommand() throws {
        let session = try fleet.session("direct")
        let first = try fleet.enqueue([fleet.request("one")], in: session)
        #expect(try fleet.enqueue([fleet.request("one")], in: session) == first)
    }

    @Test("an invalidated session is removed after its last event is acknowledged")
    func invalidate() throws {
        let session = try session(client)
        _ = try enqueue(session, [fleet.request("one")])
        #expect(try reply(session.submit { .invalidate($0, cancelTasks: true) }) == .done)
        let events = try events(session, count: 2)
        #expect(try reply(session.acknowledge(.through(events[1].id))) == .count(2))
        #expect(try reply(client.submit(.sessions)) == .sessions([]))
    }

    @Test("what a fleet does not have is refused with a sentence")
    func refusals() throws {
        let session = try session(client)
        var kept = fleet.request("one")
        kept.destination = nil
        var upload = kept
        upload.options.body = .bytes([1])
        var grouped = fleet.request("two")
        grouped.options.group = "group"
        for request in [kept, upload, grouped] {
            let failure = #expect(throws: Failure.self) { try enqueue(session, [request]) }
            #expect(failure?.status == .invalidArgument)
        }
        #expect(throws: Failure.self) { try reply(client.submit(.metrics)) }
    }
}

@Suite("The address of a fleet's database")
struct AddressTests {
    @Test(
        "a password in the address is refused, and is not in the message",
        arguments: ["postgresql://user:secret@host/db", "postgres://host/db?password=secret"])
    func password(_ text: String) {
        let error = #expect(throws: FleetError.self) { try DatabaseAddress(text) }
        #expect(error?.failure.status == .invalidArgument)
        #expect(error?.failure.message.contains("secret") == false)
    }

    @Test("a malformed address is refused without repeating it")
    func malformed() {
        let error = #expect(throws: FleetError.self) { try DatabaseAddress("postgresql://u:se%zzcret@h:x/") }
        #expect(error?.failure.message.contains("cret") == false)
    }

    @Test("a database without a fleet says what to do")
    func noFleet() throws {
        let server = try DatabaseAddress(try #require(TestServer.address))
        let error = try #require(throws: FleetError.self) { try Schema.check(try DatabaseConnection(server)) }
        #expect(error.failure.status == .storeUnavailable)
        #expect(error.failure.message.contains("backhaul fleet init"))
    }

    @Test("the tables are made one time, also by several processes")
    func migration() throws {
        let fleet = try TestDatabase()
        try Schema.migrate(fleet.database)
        try Schema.check(try DatabaseConnection(fleet.address))
    }
}
