import BackhaulClient
import BackhaulModel
import BackhaulPlatform
import Glibc
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

    @Test("a close that the database did not get before the connection ended is repeated")
    func lostClose() throws {
        let first = try session(client)
        try endConnections()
        first.close()
        let other = try Self.open(fleet)
        // Without the close, the right of the first handle would hold for 30 seconds.
        let waiting = other.attachSession("files", .consume, waits: true)
        guard case .session = try #require(waiting.wait(until: .after(milliseconds: 20_000))) else {
            throw Failure(.internal, "no session")
        }
        other.close()
    }

    private func endConnections() throws {
        try fleet.database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND datname = current_database()
            """)
    }

    @Test("a host that was stopped reads and acknowledges no events after another handle has consumed the session")
    func lostRight() throws {
        let session = try session(client)
        try fleet.database.run(
            "UPDATE backhaul.sessions SET consumer = 'another', consumer_until = now() + interval '1 minute'")
        // The handle would renew its right after five seconds.
        for seconds: UInt32 in [0, 6] {
            sleep(seconds)
            for ticket in [session.poll(after: .zero, maximum: 10), session.acknowledge(.through(.zero))] {
                let failure = #expect(throws: Failure.self) { try reply(ticket) }
                #expect(failure?.status == .inUse)
                #expect(failure?.message.contains("attach the session again") == true)
            }
        }
        // The other handle has released the session.
        try fleet.database.run("UPDATE backhaul.sessions SET consumer = NULL")
        sleep(6)
        #expect(throws: Failure.self) { try reply(session.poll(after: .zero, maximum: 10)) }
    }

    @Test("a session that is created while an earlier one is removed continues the numbers of its events")
    func createdDuringRemoval() throws {
        let application = try fleet.hosts.application("org.example.test")
        let session = try fleet.session()
        let address = fleet.address
        // The removal, whose transaction is still open.
        try fleet.database.run("BEGIN")
        try fleet.database.run("DELETE FROM backhaul.sessions WHERE id = $1", [.id(session)])
        try fleet.database.run("UPDATE backhaul.applications SET newest_event = 7")
        let newest = Lock<EventID?>(nil)
        let host = try Thread(name: "fleet-host") {
            guard let database = try? DatabaseConnection(address) else { return }
            let configuration = SessionConfiguration(identifier: "files")
            let opened = try? HostQueue(database: database).create(configuration, application: application)
            newest.change { $0 = opened?.newest }
        }
        let waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        let (observer, deadline) = (try DatabaseConnection(address), Deadline.after(milliseconds: 60_000))
        while try observer.run(waits).isEmpty, !deadline.hasPassed { usleep(1_000) }
        try fleet.database.run("COMMIT")
        host.join()
        #expect(newest.withLock { $0 } == EventID(rawValue: 7))
    }

    @Test("an id above all ids of the database selects what lies below it")
    func greatestID() throws {
        let session = try fleet.session("direct")
        try fleet.enqueue([fleet.request("one")], in: session)
        #expect(try fleet.hosts.control(.cancel, TaskSelection(), of: session) == 1)
        let greatest = EventID(rawValue: .max)
        #expect(try fleet.hosts.poll(session, after: .zero, maximum: 10).events.count == 2)
        #expect(try fleet.hosts.poll(session, after: greatest, maximum: 10).events.isEmpty)
        #expect(try fleet.hosts.acknowledge(.through(greatest), of: session) == 2)
    }

    @Test("the tasks of one enqueue have numbers in the order of its requests")
    func numbers() throws {
        let session = try fleet.session("direct")
        let names = (0..<100).map { "\($0)" }
        let tasks = try fleet.enqueue(names.map { fleet.request($0) }, in: session).map(\.task)
        let listed = try fleet.hosts.tasks(TaskSelection(), after: .zero, maximum: 1_000, of: session).tasks
        #expect(listed.map(\.id) == tasks && tasks == tasks.sorted())
        #expect(listed.map(\.url) == names.map { "https://example.org/\($0)" })
        let live = try fleet.database.run("SELECT destination FROM backhaul.live ORDER BY task")
        #expect(live.map { $0.text(0) } == names.map { "\(fleet.destinations.path)/\($0)" })
    }

    @Test("long requests are listed and reported in parts")
    func longRequests() throws {
        let session = try fleet.session("direct")
        let requests = (0..<90).map { number in
            var request = fleet.request("\(number)")
            request.headers = [HeaderField("X-Long", String(repeating: "x", count: 60_000))]
            return request
        }
        let tasks = try fleet.enqueue(requests, in: session).map(\.task)
        #expect(try fleet.hosts.control(.cancel, TaskSelection(), of: session) == 90)
        let listed = try fleet.hosts.tasks(TaskSelection(), after: .zero, maximum: 1_000, of: session)
        #expect(listed.more && (1..<90).contains(listed.tasks.count))
        let last = try #require(listed.tasks.last).id
        let rest = try fleet.hosts.tasks(TaskSelection(), after: last, maximum: 1_000, of: session)
        #expect(!rest.more && (listed.tasks + rest.tasks).map(\.id) == tasks)
        let first = try fleet.hosts.poll(session, after: .zero, maximum: 1_000)
        #expect(first.more && (1..<90).contains(first.events.count))
        let newest = try #require(first.events.last).id
        let later = try fleet.hosts.poll(session, after: newest, maximum: 1_000)
        // The last event is the end of the round.
        #expect(!later.more && first.events.count + later.events.count == 91)
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
            try endConnections()
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

    @Test("a repeated enqueue command has the first reply, also if its session cannot be attached again")
    func repeatedWithoutSession() throws {
        let hello = Hello(client: ClientID(high: 0, low: 1), application: "org.example.test", process: getpid())
        let handle = HandleID(rawValue: 1)
        let create = Command.createSession(SessionConfiguration(identifier: "files"), .produce, handle, waits: false)
        let first = try FleetCommands(DatabaseConnection(fleet.address), hello)
        _ = try first.perform(create, 1, repliedThrough: 0)
        let enqueue = Command.enqueue(handle, [fleet.request("one")])
        let reply = try first.perform(enqueue, 2, repliedThrough: 0)
        guard case .enqueued = reply else { throw Failure(.internal, "no enqueue") }
        let second = try FleetCommands(DatabaseConnection(fleet.address), hello)
        #expect(try second.perform(enqueue, 2, repliedThrough: 0) == reply)
    }

    @Test("an invalidated session is removed after its last event is acknowledged")
    func invalidate() throws {
        let session = try session(client)
        _ = try enqueue(session, [fleet.request("one")])
        #expect(try reply(session.submit { .invalidate($0, cancelTasks: true) }) == .done)
        let events = try events(session, count: 2)
        #expect(try reply(session.acknowledge(.through(events[1].id))) == .count(2))
        #expect(try reply(client.sessions()) == .sessions([], more: false))
    }

    @Test("an invalidated session can be attached until its events are acknowledged, but not created")
    func attachInvalidated() throws {
        let first = try session(client)
        _ = try enqueue(first, [fleet.request("one")])
        #expect(try reply(first.submit { .invalidate($0, cancelTasks: true) }) == .done)
        first.close()
        let failure = #expect(throws: Failure.self) { try session(client) }
        #expect(failure?.status == .invalidated)
        let attached = try outcome(client.attachSession("files", .consume))
        guard case .session(let second, _) = attached else { throw Failure(.internal, "no session") }
        let events = try events(second, count: 2)
        #expect(try reply(second.acknowledge(.through(events[1].id))) == .count(2))
        #expect(try reply(client.sessions()) == .sessions([], more: false))
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

    @Test("no request and no session makes workers run a command, or use credentials of theirs")
    func optionsOfWorkers() throws {
        let session = try session(client)
        let changes: [(inout TaskPolicy) -> Void] = [
            { $0.s3CredentialCommand = "id" }, { $0.s3Profile = "default" },
        ]
        var configurations: [SessionConfiguration] = []
        for change in changes {
            var request = fleet.request("one")
            change(&request.options.policy)
            let failure = #expect(throws: Failure.self) { try enqueue(session, [request]) }
            #expect(failure?.status == .invalidArgument)
            configurations.append(SessionConfiguration(identifier: "files"))
            change(&configurations[configurations.count - 1].policy)
        }
        var withCertificate = SessionConfiguration(identifier: "files")
        withCertificate.tls.clientCertificate = "/etc/worker.pem"
        for configuration in configurations + [withCertificate] {
            let ticket = session.submit { .updateConfiguration($0, configuration) }
            let failure = #expect(throws: Failure.self) { try reply(ticket) }
            #expect(failure?.status == .invalidArgument)
        }
    }
}

@Suite("The address of a fleet's database")
struct AddressTests {
    @Test(
        "a password or key in the address is refused, and is not in the message",
        arguments: [
            "postgresql://user:secret@host/db", "postgres://host/db?password=secret",
            "postgres://host/db?sslpassword=secret",
            // Before version 18, libpq does not know these parameters.
            "postgres://host/db?oauth_client_secret=secret", "postgres://host/db?scram_client_key=secret",
            "postgres://host/db?scram_server_key=secret",
        ])
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
