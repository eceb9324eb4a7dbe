import BackhaulModel
import Testing

@testable import BackhaulFleet

/// A queue that had one task a moment ago, and is long now: PostgreSQL still plans for the short one.
@Suite("Statements of a fleet whose statistics are old")
struct PlanTests {
    private static let count = 5_000
    /// A statement that compares all live tasks reads more rows.
    private static let mostRows: Int64 = 1_000

    private let fleet: TestDatabase
    private let session: SessionID
    private let worker: WorkerQueue

    /// What the one task was.
    enum Past: CaseIterable { case queued, running, publishing }

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
        worker = try fleet.worker("worker")
        try FleetAdministration(fleet.address).limit(
            originOf: "https://example.org", connections: 100, startsPerMinute: nil)
    }

    private func fillQueue(after past: Past) throws {
        try enqueue(1)
        try fleet.database.run("DELETE FROM backhaul.live WHERE task < (SELECT max(task) FROM backhaul.live)")
        if past != .queued {
            let lost = try fleet.worker("lost")
            let task = try #require(try lost.claim().first)
            if past == .publishing { #expect(try lost.publish(task.run, .succeeded, inode: 1)) }
        }
        try fleet.database.run("VACUUM (ANALYZE, TRUNCATE false) backhaul.live")
        try enqueue(2)
        let other = try fleet.hosts.create(
            SessionConfiguration(identifier: "files"), application: fleet.hosts.application("org.example.other"))
        try fleet.enqueue([fleet.request("other")], in: other.id)
    }

    private func enqueue(_ sequence: UInt64) throws {
        try fleet.enqueue(
            (0..<Self.count).map { fleet.request("\(sequence)-\($0)") }, in: session, sequence: sequence)
    }

    /// Expects that the statements of `body` read few rows of live tasks. Returns the result of `body`.
    private func expectFewRows<Result>(_ body: () throws -> Result) throws -> Result {
        let before = try rowsRead()
        let result = try body()
        #expect(try rowsRead() - before < Self.mostRows)
        return result
    }

    private func rowsRead() throws -> Int64 {
        try fleet.database.run("SELECT pg_stat_force_next_flush()")
        let rows = try fleet.database.run(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'live'")
        return try #require(rows.first).integer(0)
    }

    @Test("claims, publications and ends read the rows of their tasks, and not the queue", arguments: Past.allCases)
    func claimsAndEnds(past: Past) throws {
        try fillQueue(after: past)
        let ends = try expectFewRows { try worker.claim() }.map { RunEnd($0.run, .succeeded) }
        #expect(ends.count >= 50)
        let published = try expectFewRows { try worker.publish(ends.map { DecidedEnd($0, inode: 1) }) }
        #expect(published.count == ends.count)
        #expect(try expectFewRows { try worker.end(ends) } == published)
    }

    @Test("a release of lost tasks and a takeover read the rows of their tasks", arguments: Past.allCases)
    func lostWorkers(past: Past) throws {
        try fillQueue(after: past)
        _ = try fleet.worker("without tasks", leaseMilliseconds: 0)
        let lost = try fleet.worker("lost")
        let ends = try lost.claim().prefix(20).map { DecidedEnd(RunEnd($0.run, .succeeded), inode: 1) }
        #expect(try lost.publish(ends).count == 20)
        _ = try lost.renew(name: "lost", leaseMilliseconds: 0)
        try expectFewRows { try worker.releaseExpired() }
        #expect(try expectFewRows { try worker.takeOver() }.count >= 20)
    }

    private func control(_ control: TaskControl, _ selection: TaskSelection, of session: SessionID) throws -> UInt64 {
        try expectFewRows {
            try fleet.database.transaction { () throws(FleetError) in
                try fleet.hosts.control(control, selection, of: session)
            }
        }
    }

    @Test("a control of a short session reads the rows of its tasks, and not the queue", arguments: Past.allCases)
    func controlOfSession(past: Past) throws {
        try fillQueue(after: past)
        let other = try fleet.hosts.find("files", application: fleet.hosts.application("org.example.other")).id
        for change in [TaskControl.suspend, .resume, .setPriority(1), .cancel] {
            #expect(try control(change, TaskSelection(), of: other) == 1)
        }
    }

    @Test("controls and attempts of some tasks of a long session read only their rows", arguments: Past.allCases)
    func controlOfTasks(past: Past) throws {
        try fillQueue(after: past)
        let newest = "SELECT task FROM backhaul.live WHERE session = $1 ORDER BY task DESC LIMIT 10"
        let tasks = try fleet.database.run(newest, [.id(session)]).map { TaskID(rawValue: $0.unsigned(0)) }
        #expect(try control(.setPriority(1), TaskSelection(ids: tasks), of: session) == 10)
        #expect(try expectFewRows { try fleet.hosts.attempts(of: tasks, in: session) }.attempts.isEmpty)
    }

    @Test("the list of applications reads the row of each live task once")
    func applications() throws {
        try fillQueue(after: .queued)
        let before = try rowsRead()
        #expect(try fleet.hosts.applications().map(\.liveTasks) == [1, UInt64(Self.count) + 1])
        #expect(try rowsRead() - before <= Int64(Self.count) + 2)
    }
}
