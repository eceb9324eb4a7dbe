import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulFleet

@Suite("A worker of a fleet, and its database")
struct WorkerTests {
    private let fleet: TestDatabase
    private let session: SessionID
    private let directory = Scratch()

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
    }

    private func worker() throws -> BackhaulFleet.Worker {
        var options = WorkerOptions(address: fleet.address, name: "worker", directory: directory.path + "/worker")
        options.leaseMilliseconds = 3_000
        return try #require(try BackhaulFleet.Worker(options) { false })
    }

    /// A worker, and a task whose server refuses connections.
    private func workerAndTask() throws -> (BackhaulFleet.Worker, TaskID) {
        let worker = try worker()
        return (worker, try fleet.enqueue([fleet.request("file", server: "localhost:9")], in: session)[0].task)
    }

    @Test("a task that was claimed, and could not be started, starts after the next renewal of the lease")
    func startAfterFailure() throws {
        let (worker, task) = try workerAndTask()
        // The worker reads the configuration of the session between the claim and the start.
        try fleet.database.run("ALTER TABLE backhaul.sessions RENAME TO hidden")
        for _ in 0..<100 where try fleet.state(of: task) != .running { try? worker.step() }
        try fleet.database.run("ALTER TABLE backhaul.hidden RENAME TO sessions")
        #expect(try fleet.hosts.control(.cancel, TaskSelection(), of: session) == 1)
        for _ in 0..<100 where try fleet.state(of: task) != .cancelled { try worker.step() }
        #expect(try fleet.ends(of: session) == [task: [.cancelled]])
    }

    @Test("a session that was removed from the fleet is removed from the local store of the worker")
    func removedSession() throws {
        let (worker, task) = try workerAndTask()
        for _ in 0..<100 where try fleet.state(of: task) != .running { try worker.step() }
        #expect(worker.localSessions == [session])
        try fleet.hosts.invalidate(session, cancelTasks: true)
        for _ in 0..<100 where try fleet.state(of: task) != .cancelled { try worker.step() }
        let newest = try #require(try fleet.hosts.poll(session, after: .zero, maximum: 100).events.last).id
        #expect(try fleet.hosts.acknowledge(.through(newest), of: session) == 2)
        try fleet.hosts.removeIfFinished(session)
        for _ in 0..<100 where !worker.localSessions.isEmpty { try worker.step() }
        #expect(worker.localSessions.isEmpty)
    }

    @Test("a changed configuration of a session applies to a running task after the next renewal of the lease")
    func changedConfiguration() throws {
        let (worker, task) = try workerAndTask()
        for _ in 0..<100 where try fleet.state(of: task) != .running { try worker.step() }
        var configuration = try fleet.hosts.configuration(of: session)
        configuration.maximumAttempts = 1
        try fleet.hosts.update(configuration, of: session)
        for _ in 0..<100 where try fleet.state(of: task) != .failed { try worker.step() }
        #expect(try fleet.ends(of: session) == [task: [.failed]])
    }

    @Test("tasks that wait for their retries do not delay the tasks of other servers")
    func waitingTasks() throws {
        let (worker, first) = try workerAndTask()
        try FleetAdministration(fleet.address).limit(
            originOf: "https://localhost:9", connections: 256, startsPerMinute: nil)
        try fleet.enqueue((0..<255).map { fleet.request("\($0)", server: "localhost:9") }, in: session, sequence: 2)
        let request = fleet.request("other", server: "localhost:10")
        let other = try fleet.enqueue([request], in: session, sequence: 3)[0].task
        for _ in 0..<100 where try fleet.state(of: other) != .running { try worker.step() }
        #expect(try fleet.state(of: other) == .running)
        #expect(try fleet.state(of: first) == .running)
        let held = try fleet.database.run("SELECT count(*) FROM backhaul.live WHERE worker IS NOT NULL")
        #expect(held.map { $0.integer(0) } == [257])
    }

    @Test("the temporary files of earlier runs are removed before the end of their task is stored")
    func earlierFiles() throws {
        var configuration = try fleet.hosts.configuration(of: session)
        configuration.maximumAttempts = 1
        try fleet.hosts.update(configuration, of: session)
        let (worker, task) = try workerAndTask()
        let lost = try fleet.worker("lost")
        let run = try #require(try lost.claim().first).run
        let publication = Publication(
            run, of: try Schema.fleet(fleet.database), destination: fleet.destinations.path + "/file", replaces: false)
        close(creat(publication.temporaryPath, 0o600))
        try lost.putBack(run)
        try lost.releasePermits(running: [:])
        for _ in 0..<100 where try fleet.state(of: task) != .running { try worker.step() }
        try fleet.database.run("ALTER TABLE backhaul.new_ends RENAME TO hidden")
        let deadline = Deadline.after(milliseconds: 60_000)
        while publication.temporaryInode != nil, !deadline.hasPassed { try? worker.step() }
        #expect(publication.temporaryInode == nil)
        #expect(try fleet.state(of: task) == .running)
        try fleet.database.run("ALTER TABLE backhaul.hidden RENAME TO new_ends")
        for _ in 0..<100 where try fleet.state(of: task) != .failed { try worker.step() }
        #expect(try fleet.ends(of: session) == [task: [.failed]])
    }

    @Test("a task whose time has come by the clock of the database starts, although the worker's clock is behind")
    func clockBehind() throws {
        let worker = try worker()
        var configuration = try fleet.hosts.configuration(of: session)
        configuration.maximumAttempts = 1
        try fleet.hosts.update(configuration, of: session)
        var request = fleet.request("file", server: "localhost:9")
        request.options.earliestStartMilliseconds = Clock.wallMilliseconds + 3_600_000
        let task = try fleet.enqueue([request], in: session)[0].task
        try fleet.database.run("UPDATE backhaul.live SET waits_until = now()")
        for _ in 0..<100 where try fleet.state(of: task) != .failed { try worker.step() }
        #expect(try fleet.ends(of: session) == [task: [.failed]])
    }

    @Test("a task fails if a host has stored a session that would run a command on the worker")
    func forgedConfiguration() throws {
        let (worker, task) = try workerAndTask()
        var configuration = SessionConfiguration(identifier: "files")
        configuration.policy.s3CredentialCommand = "id"
        try fleet.hosts.update(configuration, of: session)
        for _ in 0..<100 where try fleet.state(of: task) != .failed { try worker.step() }
        #expect(try fleet.ends(of: session) == [task: [.failed]])
        #expect(worker.localSessions.isEmpty)
    }

    @Test("a task fails before it starts if its destination lies in the directory of the worker")
    func reservedDestination() throws {
        let worker = try worker()
        var request = fleet.request("file", server: "localhost:9")
        request.destination?.path = directory.path + "/worker/file"
        let task = try fleet.enqueue([request], in: session)[0].task
        for _ in 0..<100 where try fleet.state(of: task) != .failed { try worker.step() }
        #expect(try fleet.ends(of: session) == [task: [.failed]])
    }

    @Test("a worker that connected while the database was read-only connects again")
    func readOnlyDatabase() throws {
        try fleet.setDefault("default_transaction_read_only = on")
        let (worker, task) = try workerAndTask()
        try fleet.setDefault("default_transaction_read_only = off")
        let deadline = Deadline.after(milliseconds: 60_000)
        worker.run { deadline.hasPassed || (try? fleet.state(of: task)) == .running }
        #expect(try fleet.state(of: task) == .running)
    }

    @Test("a database that does not reply counts as lost")
    func overdueReply() throws {
        let connection = try DatabaseConnection(fleet.address, replyMilliseconds: 50)
        #expect(throws: FleetError(.storeUnavailable, "the database has not replied for 50 ms")) {
            try connection.run("SELECT pg_sleep(60)")
        }
        #expect(connection.isLost)
    }

    @Test("a process that is stopped within a transaction keeps its locks for some seconds at most")
    func idleTransaction() throws {
        let rows = try fleet.database.transaction { () throws(FleetError) in
            try fleet.database.run("SHOW idle_in_transaction_session_timeout")
        }
        #expect(rows.first?.text(0) == "5s")
    }
}
