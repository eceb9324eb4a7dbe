import BackhaulModel
import Testing

@testable import BackhaulFleet

@Suite("The removal of ended tasks of a fleet")
struct RemovalTests {
    private let fleet: TestDatabase
    private let session: SessionID
    private let worker: WorkerQueue

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
        worker = try fleet.worker("worker")
    }

    /// Ends tasks with these keys, the first of them first.
    private func end(_ keys: [String], daysAgo days: Int) throws {
        try fleet.enqueue(keys.map { fleet.request($0, key: $0) }, in: session)
        for task in try worker.claim() { #expect(try worker.end(task.run, .succeeded)) }
        try fleet.database.run(
            "UPDATE backhaul.ends SET ended_at = now() - $1::bigint * interval '1 day'", [.integer(Int64(days))])
    }

    private func acknowledge(_ keys: [String]) throws {
        for event in try fleet.hosts.poll(session, after: .zero, maximum: 100).events {
            guard case .taskEnded(let task) = event.kind, keys.contains(task.idempotencyKey ?? "") else { continue }
            #expect(try fleet.hosts.acknowledge(.ids([event.id]), of: session) == 1)
        }
    }

    private func count(_ table: String) throws -> Int64? {
        try fleet.database.run("SELECT count(*) FROM backhaul.\(table)").first?.integer(0)
    }

    @Test("a task that ended a week ago is removed after its event is acknowledged")
    func ended() throws {
        try end(["one", "two"], daysAgo: 8)
        try acknowledge(["two"])
        _ = try worker.removeOld(after: WorkerQueue.EndPosition())
        #expect(try count("ends") == 1 && count("tasks") == 1)
        try acknowledge(["one"])
        _ = try worker.removeOld(after: WorkerQueue.EndPosition())
        #expect(try count("ends") == 0 && count("tasks") == 0)
    }

    @Test("a task that ended in this week stays, so that its key finds it")
    func recent() throws {
        try end(["one"], daysAgo: 6)
        try acknowledge(["one"])
        _ = try worker.removeOld(after: WorkerQueue.EndPosition())
        #expect(try count("ends") == 1 && count("tasks") == 1)
    }

    @Test("ends whose events wait for their host delay the removal of others only by their batches")
    func batches() throws {
        try end(["one", "two", "three", "four"], daysAgo: 8)
        try acknowledge(["four"])
        var position = WorkerQueue.EndPosition()
        for _ in 0..<2 {
            #expect(try count("ends") == 4)
            position = try worker.removeOld(after: position, batch: 2)
        }
        #expect(try count("ends") == 3)
        // The next removal begins with the oldest end again.
        position = try worker.removeOld(after: position, batch: 2)
        try acknowledge(["one"])
        _ = try worker.removeOld(after: position, batch: 2)
        #expect(try count("ends") == 2)
    }

    @Test("while one worker removes, another one does not wait for it")
    func twoWorkers() throws {
        try end(["one"], daysAgo: 8)
        try acknowledge(["one"])
        let other = WorkerQueue(try DatabaseConnection(fleet.address), worker: "other")
        try fleet.database.transaction { () throws(FleetError) in
            try fleet.database.run("SELECT pg_advisory_xact_lock(hashtextextended('backhaul removal', 0))")
            _ = try other.removeOld(after: WorkerQueue.EndPosition())
        }
        #expect(try count("ends") == 1)
    }
}
