import BackhaulModel
import BackhaulWire
import Testing

@testable import BackhaulFleet

@Suite("The rights of the database roles of workers and hosts")
struct RightsTests {
    private let fleet: TestDatabase
    private let session: SessionID
    private let role = "role_\"" + String(UInt64.random(in: .min ... .max), radix: 16)

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
        try fleet.database.run("CREATE ROLE \"\(role.replacing("\"", with: "\"\""))\" LOGIN")
    }

    /// Connects as the role.
    private func connect() throws -> DatabaseConnection {
        let user = role.replacing("\"", with: "%22")
        return try DatabaseConnection(
            try DatabaseAddress(fleet.address.text.replacing("postgres@", with: "\(user)@")))
    }

    @Test("the rows of each table belong to applications, except those of workers and servers")
    func tables() throws {
        let rows = try fleet.database.run(
            """
            SELECT relname FROM pg_class WHERE relnamespace = 'backhaul'::regnamespace AND relkind = 'r'
                AND NOT relrowsecurity ORDER BY relname
            """)
        #expect(rows.map { $0.text(0) } == ["origins", "permits", "schema_versions", "settings", "workers"])
    }

    @Test("a host sees the rows of its application only")
    func otherApplication() throws {
        try fillTables()
        try Rights.grantHost(role, application: "org.example.other", fleet.database)
        let own = try connect()
        for table in Rights.tables.keys where table != "applications" {
            #expect(try !fleet.database.run("SELECT 1 FROM backhaul.\(table)").isEmpty, "\(table)")
            #expect(try own.run("SELECT 1 FROM backhaul.\(table)").isEmpty, "\(table)")
        }
        #expect(try own.run("SELECT name FROM backhaul.applications").map { $0.text(0) } == ["org.example.other"])
        try Rights.grantHost(role, application: "org.example.test", fleet.database)
        for table in Rights.tables.keys {
            #expect(try !own.run("SELECT 1 FROM backhaul.\(table)").isEmpty, "\(table)")
        }
    }

    /// Makes a row of the application `org.example.test` in each table.
    private func fillTables() throws {
        let worker = try fleet.worker("worker")
        let put = try fleet.claimedTask(by: worker, in: session, "put")
        try worker.putBack(put.run)
        let claimed = try #require(try worker.claim().first)
        #expect(try worker.end(claimed.run, .succeeded))
        _ = try fleet.ends(of: session)
        try fleet.enqueue([fleet.request("cancelled")], in: session, sequence: 2)
        #expect(try fleet.hosts.control(.cancel, TaskSelection(), of: session) == 1)
        try fleet.enqueue([fleet.request("queued")], in: session, sequence: 3)
    }

    @Test("a host cannot give its task the session of another application")
    func foreignSession() throws {
        try fleet.enqueue([fleet.request("file")], in: session)
        try Rights.grantHost(role, application: "org.example.other", fleet.database)
        let own = try connect()
        let application = try HostQueue(database: own).application("org.example.other")
        #expect(throws: FleetError.self) {
            try own.run(
                """
                INSERT INTO backhaul.live (session, application, origin, state, priority, destination)
                VALUES ($1, $2, 1, 1, 0, '/file')
                """, [.unsigned(session.rawValue), .integer(application)])
        }
    }

    @Test(
        "a host chooses no numbers, limits, runs and times of rows",
        arguments: [
            "INSERT INTO backhaul.sessions (id, application, name, configuration) OVERRIDING SYSTEM VALUE "
                + "SELECT 1000, id, 'x', '' FROM backhaul.applications",
            "INSERT INTO backhaul.live (task) OVERRIDING SYSTEM VALUE SELECT id FROM backhaul.sessions",
            "INSERT INTO backhaul.tasks (enqueued_at) SELECT '-infinity' FROM backhaul.sessions",
            "INSERT INTO backhaul.ends (ended_at) SELECT '-infinity' FROM backhaul.sessions",
            "INSERT INTO backhaul.events (made_at) SELECT '-infinity' FROM backhaul.sessions",
            "INSERT INTO backhaul.replies (made_at) SELECT 'infinity' FROM backhaul.sessions",
            "INSERT INTO backhaul.origins (id, name) OVERRIDING SYSTEM VALUE VALUES (1000, 'https://other:443')",
            "INSERT INTO backhaul.origins (name, paused_until) VALUES ('https://other:443', 'infinity')",
            "UPDATE backhaul.live SET run = 0", "UPDATE backhaul.live SET worker = 'mine'",
            "UPDATE backhaul.live SET session = 1", "UPDATE backhaul.origins SET connections = 1",
            "DELETE FROM backhaul.origins", "SELECT 1 FROM backhaul.workers", "SELECT 1 FROM backhaul.permits",
        ])
    func refused(_ statement: String) throws {
        try Rights.grantHost(role, application: "org.example.other", fleet.database)
        let refused = #expect(throws: FleetError.self) { try connect().run(statement) }
        #expect(refused?.sqlState == "42501")
    }

    @Test("an infinite earliest start, with which the owner could not read the state of the queue, is refused")
    func infiniteStart() throws {
        try fleet.enqueue([fleet.request("file")], in: session)
        let refused = #expect(throws: FleetError.self) {
            try fleet.database.run("UPDATE backhaul.tasks SET not_before = 'infinity'")
        }
        #expect(refused?.sqlState == "23514")
        #expect(try FleetAdministration(fleet.address).status().queued == 1)
    }

    @Test("rows that a host has forged stop neither claims nor ends of other tasks")
    func forgedRows() throws {
        let worker = try fleet.worker("worker")
        let tasks = try fleet.enqueue(["forged", "unreadable", "right"].map { fleet.request($0) }, in: session)
        try fleet.database.run(
            "UPDATE backhaul.tasks SET request = '\\x00' WHERE id = $1", [.unsigned(tasks[1].task.rawValue)])
        try fleet.database.run(
            "INSERT INTO backhaul.new_ends (session, task) VALUES ($1, $2)",
            [.unsigned(session.rawValue), .unsigned(tasks[0].task.rawValue)])
        try fleet.database.run(
            """
            INSERT INTO backhaul.live (session, application, origin, state, priority, destination)
            SELECT $1, 1, -i, 1, 0, '/' || i FROM generate_series(1, 2 * \(WorkerQueue.originBatch)) AS i
            """, [.unsigned(session.rawValue)])
        // The forged origins come first, and none of them is open.
        let first = try worker.origins(after: -10_000, running: [:])
        #expect(first.count == WorkerQueue.originBatch && first.allSatisfy { !$0.isOpen })
        let claimed = try worker.claim(from: 1, running: 0, room: 10)
        #expect(claimed.map(\.run.task) == [tasks[0].task, tasks[2].task])
        #expect(try fleet.state(of: tasks[1].task) == .failed)
        #expect(try worker.end(claimed.map { RunEnd($0.run, .succeeded) }) == Set(claimed.map(\.run)))
    }

    @Test("what a fleet does not perform fails if a host has stored it without the library, and stops no other task")
    func forgedRequests() throws {
        let body = BodyFile(path: "/absent", device: 0, inode: 0, size: 0, modifiedNanoseconds: 0)
        let changes: [(inout Request) -> Void] = [
            { $0.destination = nil },
            { $0.destination = Destination(path: "file", directoryDevice: 0, directoryInode: 0) },
            { $0.options.body = .file(body, .reference) },
            { $0.options.dependencies = [Dependency(.key("other"))] },
            { $0.options.policy.s3CredentialCommand = "id" },
            { $0.options.policy.s3Profile = "default" },
        ]
        let tasks = try fleet.enqueue((0...changes.count).map { fleet.request("\($0)") }, in: session).map(\.task)
        for (task, change) in zip(tasks, changes) {
            var request = fleet.request("forged")
            change(&request)
            try fleet.database.run(
                "UPDATE backhaul.tasks SET request = $2 WHERE id = $1",
                [.id(task), .bytes(Wire.encodeRequest(request))])
        }
        let worker = try fleet.worker("worker")
        // The first claim takes as many tasks as there are connections to the server.
        let claimed = try worker.claim() + worker.claim()
        #expect(claimed.map(\.run.task) == [tasks[changes.count]])
        for task in tasks.dropLast() { #expect(try fleet.state(of: task) == .failed) }
    }

    @Test("with its rights, a host can do all that hosts do")
    func host() throws {
        try Rights.grantHost(role, application: "org.example.own", fleet.database)
        let database = try connect()
        let hosts = HostQueue(database: database)
        try Schema.check(database)
        let application = try hosts.application("org.example.own")
        let opened = try hosts.create(SessionConfiguration(identifier: "own"), application: application)
        #expect(opened.isNew)
        let configuration = SessionConfiguration(identifier: "own")
        let enqueued = try Enqueue(database: database, session: opened.id).run(
            ["one", "two"].map { try FleetRequest(fleet.request($0, key: $0), in: configuration) },
            CommandID(client: ClientID(high: 1, low: 1), sequence: 1), repliedThrough: 0)
        #expect(try hosts.tasks(TaskSelection(), after: .zero, maximum: 10, of: opened.id).tasks.count == 2)
        #expect(try hosts.attempts(of: enqueued[0].task, in: opened.id).isEmpty)
        for control in [TaskControl.suspend, .resume, .setPriority(1), .cancel] {
            #expect(try hosts.control(control, TaskSelection(), of: opened.id) == 2)
        }
        #expect(try hosts.poll(opened.id, after: .zero, maximum: 10).events.count == 3)
        _ = try hosts.acknowledge(.through(EventID(rawValue: 3)), of: opened.id)
        #expect(try hosts.history(after: .zero, maximum: 10, of: opened.id).tasks.count == 2)
        #expect(try hosts.sessions(of: application).count == 1)
        #expect(try hosts.applications().map(\.identifier) == ["org.example.own"])
        try hosts.invalidate(opened.id, cancelTasks: true)
        #expect(try hosts.sessions(of: application).isEmpty)
        #expect(try fleet.database.run("SELECT 1 FROM backhaul.tasks").isEmpty)
    }

    @Test("with its rights, a worker can do all that workers do")
    func worker() throws {
        try Rights.grantWorker(role, fleet.database)
        let database = try connect()
        let worker = WorkerQueue(database, worker: "worker")
        _ = try Schema.fleet(database)
        _ = try worker.renew(name: "worker", leaseMilliseconds: 60_000)
        try fleet.enqueue(["one", "two"].map { fleet.request($0) }, in: session)
        try fleet.database.run("UPDATE backhaul.live SET waits_until = now()")
        let tasks = try worker.claim()
        #expect(tasks.count == 2)
        #expect(try worker.ownTasks().map(\.run) == tasks.map(\.run))
        #expect(try worker.configurations(of: [session]).count == 1)
        try OriginLimits(database: database, origin: tasks[0].origin).pause(milliseconds: 0)
        try worker.putBack(tasks[0].run)
        #expect(try worker.publish(tasks[1].run, .succeeded, inode: 1))
        #expect(try worker.ownPublishing().count == 1)
        #expect(try worker.takeOver().isEmpty)
        #expect(try worker.end(tasks[1].run, .succeeded))
        try worker.releasePermits(running: [:])
        try worker.releaseExpired()
        _ = try worker.removeOld(after: WorkerQueue.EndPosition())
        try worker.unregister()
        #expect(try fleet.ends(of: session) == [tasks[1].run.task: [.succeeded]])
    }

    @Test("without rights, the failure says who gives them")
    func noRights() throws {
        #expect(throws: FleetError.self) { try Schema.check(try connect()) }
        try Rights.grantHost(role, application: "org.example.other", fleet.database)
        let refused = #expect(throws: FleetError.self) {
            try HostQueue(database: try connect()).application("org.example.test")
        }
        #expect(refused?.sqlState == "42501")
        #expect(refused?.failure.message.contains("`backhaul fleet grant`") == true)
    }
}
