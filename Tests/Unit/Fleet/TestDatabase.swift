import BackhaulModel
import BackhaulPlatform
import BackhaulWire
import Glibc
import Testing

@testable import BackhaulFleet

/// A PostgreSQL server, which all tests of this process share. It ends with the process.
enum TestServer {
    /// The address of the server's first database; nil if the server did not start.
    static let address: String? = {
        let script = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let process = getpid()
        // For a measurement, the server syncs as it does for users.
        let setting = getenv("BACKHAUL_FLEET_TASKS") == nil ? "fsync=off" : "max_wal_size=4GB"
        let command = "'/\(script)/Support/postgresql' /tmp/backhaul-postgresql-\(process) \(process) \(setting)"
        guard let stream = popen(command, "r") else { return nil }
        defer { pclose(stream) }
        var line = [CChar](repeating: 0, count: 4_096)
        guard fgets(&line, Int32(line.count), stream) != nil else { return nil }
        return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}

/// A temporary directory, which `deinit` removes.
final class Scratch: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/backhaul-fleet-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Scratch.remove(path) }

    private static func remove(_ path: String) {
        // A link to a directory is removed here, and not followed.
        if unlink(path) == 0 { return }
        for name in (try? DirectoryReader.textNames(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }
}

/// A database with the tables of a fleet, for one test.
struct TestDatabase {
    let address: DatabaseAddress
    let database: DatabaseConnection
    let destinations = Scratch()

    init() throws {
        let server = try #require(TestServer.address)
        let name = "test_" + String(UInt64.random(in: .min ... .max), radix: 16)
        try DatabaseConnection(try DatabaseAddress(server)).run("CREATE DATABASE \(name)")
        address = try DatabaseAddress(server.replacing("/postgres?", with: "/\(name)?"))
        database = try DatabaseConnection(address)
        try Schema.migrate(database)
    }

    /// Sets a parameter for later connections to the database.
    func setDefault(_ setting: String) throws {
        let name = try #require(try database.run("SELECT current_database()").first).text(0)
        try database.run("ALTER DATABASE \(name) SET \(setting)")
    }

    var hosts: HostQueue { HostQueue(database: database) }

    func worker(_ name: String, leaseMilliseconds: Int64 = 60_000) throws -> WorkerQueue {
        let worker = WorkerQueue(database, worker: name)
        _ = try worker.renew(name: name, leaseMilliseconds: leaseMilliseconds)
        return worker
    }

    func session(_ name: String = "files") throws -> SessionID {
        let application = try hosts.application("org.example.test")
        return try hosts.create(SessionConfiguration(identifier: name), application: application).id
    }

    func request(_ name: String, key: String? = nil, server: String = "example.org") -> Request {
        Self.request(name, key: key, server: server, directory: destinations.path)
    }

    static func request(_ name: String, key: String? = nil, server: String, directory: String) -> Request {
        var request = Request(url: "https://\(server)/\(name)")
        request.destination = Destination(path: "\(directory)/\(name)", directoryDevice: 1, directoryInode: 1)
        request.idempotencyKey = key
        return request
    }

    @discardableResult
    func enqueue(_ requests: [Request], in session: SessionID, sequence: UInt64 = 1) throws -> [Enqueued] {
        let configuration = SessionConfiguration(identifier: "files")
        let command = CommandID(client: ClientID(high: session.rawValue, low: 1), sequence: sequence)
        return try Enqueue(database: database, session: session).run(
            requests.map { try FleetRequest($0, in: configuration) }, command, repliedThrough: 0)
    }

    /// Enqueues one task, and claims it for the worker.
    func claimedTask(by worker: WorkerQueue, in session: SessionID, _ name: String = "file") throws -> ClaimedTask {
        try enqueue([request(name)], in: session)
        return try #require(try worker.claim().first)
    }

    func state(of task: TaskID) throws -> FleetTaskState? {
        let rows = try database.run(
            """
            SELECT state FROM backhaul.live WHERE task = $1 UNION ALL SELECT state FROM backhaul.ends WHERE task = $1
            """, [.unsigned(task.rawValue)])
        return rows.first.flatMap { FleetTaskState(rawValue: $0.integer(0)) }
    }

    /// The ended tasks of the session's events, with the states in which they ended.
    func ends(of session: SessionID) throws -> [TaskID: [TaskState]] {
        var ends: [TaskID: [TaskState]] = [:]
        for event in try hosts.poll(session, after: .zero, maximum: 1_000).events {
            if case .taskEnded(let ended) = event.kind { ends[ended.id, default: []].append(ended.outcome.state) }
        }
        return ends
    }
}

extension Outcome {
    static let succeeded = Outcome(state: .succeeded, path: "/file")
}

extension WorkerQueue {
    /// Claims tasks of the first origin that has some.
    func claim(running: [Int64: Int64] = [:]) throws(FleetError) -> [ClaimedTask] {
        guard try queueDue() else { return [] }
        for (origin, isOpen) in try origins(after: 0, running: running) where isOpen {
            let tasks = try claim(from: origin, running: running[origin] ?? 0, room: 1_000)
            if !tasks.isEmpty { return tasks }
        }
        return []
    }

    func publish(_ run: TaskRun, _ outcome: Outcome, inode: UInt64) throws -> Bool {
        try publish([DecidedEnd(RunEnd(run, outcome), inode: inode)]) == [run]
    }

    func end(_ run: TaskRun, _ outcome: Outcome) throws -> Bool { try end([RunEnd(run, outcome)]) == [run] }
}
