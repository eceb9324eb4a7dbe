import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulFleet

/// The environment variable BACKHAUL_FLEET_TASKS sets the number of tasks of the burst. Then the test prints how long
/// the claims take.
@Suite("Turns between applications, and between origins")
struct TurnTests {
    private static let given = getenv("BACKHAUL_FLEET_TASKS").flatMap { Int(String(cString: $0)) }

    private let fleet: TestDatabase
    private let worker: WorkerQueue

    init() throws {
        fleet = try TestDatabase()
        worker = try fleet.worker("worker")
    }

    private func session(of application: String) throws -> SessionID {
        let id = try fleet.hosts.application(application)
        return try fleet.hosts.create(SessionConfiguration(identifier: "files"), application: id).id
    }

    @discardableResult
    private func enqueue(_ names: [String], in session: SessionID, sequence: UInt64 = 1) throws -> [TaskID] {
        try fleet.enqueue(names.map { fleet.request($0) }, in: session, sequence: sequence).map(\.task)
    }

    private func limit(_ connections: Int64) throws {
        try FleetAdministration(fleet.address).limit(
            originOf: "https://example.org", connections: connections, startsPerMinute: nil)
    }

    @Test("after a burst of one application, a task of another one is claimed next")
    func burst() throws {
        let (first, second) = (try session(of: "burst"), try session(of: "other"))
        try enqueue(["burst"], in: first)
        try fleet.database.runScript(
            """
            INSERT INTO backhaul.tasks (session, id, round, request)
            SELECT session, nextval(pg_get_serial_sequence('backhaul.live', 'task')), round, request
            FROM backhaul.tasks, generate_series(2, \(Self.given ?? 100_000));
            INSERT INTO backhaul.live (task, session, application, origin, state, priority, destination)
            OVERRIDING SYSTEM VALUE SELECT t.id, t.session, application, origin, l.state, l.priority, '/' || t.id
            FROM backhaul.tasks t, backhaul.live l WHERE t.id <> l.task;
            UPDATE backhaul.sessions SET live_tasks = (SELECT count(*) FROM backhaul.live);
            """)
        #expect(try worker.claim().count == 6)
        let other = try enqueue(["one", "two"], in: second)
        // One task of the burst ends, so one connection is free.
        let own = try worker.ownTasks()
        #expect(try worker.end(own[0].run, .succeeded))
        let start = Clock.bootMilliseconds
        #expect(try worker.claim(running: [1: 5]).map(\.run.task) == [other[0]])
        if Self.given != nil { print("the claim took \(Clock.bootMilliseconds - start) ms") }
        #expect(try worker.end(own[1].run, .succeeded))
        #expect(try worker.claim(running: [1: 5]).map(\.run.task) == [other[1]])
    }

    @Test("a claim of several tasks takes them in turns, and of each application by priority and number")
    func order() throws {
        let sessions = try ["a", "b", "c"].map { try session(of: $0) }
        var tasks: [[TaskID]] = []
        for (index, session) in sessions.enumerated() {
            tasks.append(try enqueue((0..<4).map { "\(index)-\($0)" }, in: session))
        }
        _ = try fleet.hosts.control(.setPriority(1), TaskSelection(ids: [tasks[0][3]]), of: sessions[0])
        try limit(4)
        // Of the first application two tasks, and of the others one.
        #expect(Set(try worker.claim().map(\.run.task)) == [tasks[0][3], tasks[0][0], tasks[1][0], tasks[2][0]])
        try limit(7)
        // The others have fewer running tasks. The turn after theirs is that of the first application.
        #expect(
            Set(try worker.claim(running: [1: 4]).map(\.run.task)) == [tasks[1][1], tasks[2][1], tasks[0][1]])
    }

    @Test("with one connection, the applications take turns")
    func oneConnection() throws {
        try limit(1)
        let sessions = try ["a", "b", "c"].map { try session(of: $0) }
        for (index, session) in sessions.enumerated() {
            try enqueue((0..<3).map { "\(index)-\($0)" }, in: session)
        }
        var turns: [SessionID] = []
        while let task = try worker.claim().first {
            turns.append(task.session)
            #expect(try worker.end(task.run, .succeeded))
        }
        #expect(turns == sessions + sessions + sessions)
    }

    @Test("the next claims begin with the origin after the last one")
    func origins() throws {
        let session = try session(of: "a")
        try fleet.enqueue((0..<4).map { fleet.request("\($0)", server: "server\($0).example") }, in: session)
        #expect(try worker.origins(after: 0, running: [:]).map(\.origin) == [1, 2, 3, 4])
        #expect(try worker.origins(after: 2, running: [:]).map(\.origin) == [3, 4])
        #expect(try worker.claim(from: 3, running: 0, room: 10).count == 1)
        #expect(try worker.origins(after: 2, running: [3: 1]).map(\.origin) == [4])
        // The worker has all connections of the origin.
        #expect(try worker.origins(after: 3, running: [4: 6]).map(\.isOpen) == [false])
    }

    @Test("a task with a later start is claimed when its time has come, and not before")
    func laterStart() throws {
        var request = fleet.request("later")
        request.options.earliestStartMilliseconds = Clock.wallMilliseconds + 60_000
        let task = try fleet.enqueue([request], in: try session(of: "a"))[0].task
        #expect(try worker.claim().isEmpty)
        try fleet.database.run("UPDATE backhaul.live SET waits_until = now() - interval '1 second'")
        #expect(try worker.claim().map(\.run.task) == [task])
    }
}
