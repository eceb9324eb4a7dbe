import BackhaulModel
import BackhaulWire
import Testing

@testable import BackhaulFleet

/// `ExplorerTests` reasons about `TaskModel`. These tests show that the database does what this model does.
@Suite("The model of a task and the database")
struct StatementTests {
    private struct Statement {
        var name: String
        /// Each returns the result of the statement as a number.
        var model: (inout TaskModel) -> Int64
        var database: () throws -> Int64
    }

    private let fleet: TestDatabase
    private let session: SessionID
    private let task: TaskID
    private let workers: [WorkerQueue]

    init() throws {
        fleet = try TestDatabase()
        session = try fleet.session()
        task = try fleet.enqueue([fleet.request("file")], in: session)[0].task
        workers = [try fleet.worker("0"), try fleet.worker("1")]
    }

    // MARK: Rows

    private static func rows(leases: [(Bool, Bool)]) -> [TaskModel] {
        var rows: [TaskModel] = []
        for state in FleetTaskState.allCases {
            let hasWorker = state == .running || state == .publishing
            for run in [1, 2] as [Int8] {
                for worker in hasWorker ? [0, 1] : [nil] as [Int8?] {
                    for wanted in hasWorker ? TaskModel.Wish.allCases : [.none] {
                        for lease in leases {
                            var row = TaskModel(state: state, run: run, worker: worker, wanted: wanted)
                            if state == .publishing { row.publishingRun = 1 }
                            row.ends = row.hasEnded ? 1 : 0
                            row.setLease(0, lease.0)
                            row.setLease(1, lease.1)
                            rows.append(row)
                        }
                    }
                }
            }
        }
        return rows
    }

    private func store(_ row: TaskModel) throws {
        func text(_ number: Int8?) -> String { number.map { "\($0)" } ?? "NULL" }
        let leases = [0, 1].map { row.hasLease($0) ? 60 : -60 }
        let outcome = SQLValue.bytes(Wire.encodeOutcome(.succeeded)).encoded ?? ""
        let stored =
            row.hasEnded
            ? """
            INSERT INTO backhaul.ends (session, task, state, priority, run, outcome)
            SELECT session, id, \(row.state.rawValue), 0, \(row.run), '\(outcome)' FROM backhaul.tasks
            """
            : """
            INSERT INTO backhaul.live (task, session, application, origin, state, priority, run, worker, claimed_at,
                wanted, destination, publishing_run, inode, outcome) OVERRIDING SYSTEM VALUE
            SELECT id, session, 1, 1, \(row.state.rawValue), 0, \(row.run), \(text(row.worker)),
                \(row.worker == nil ? "NULL" : "now()"), \(row.wanted.rawValue), '/file',
                \(text(row.publishingRun)), 7, '\(outcome)' FROM backhaul.tasks
            """
        try fleet.database.runScript(
            """
            DELETE FROM backhaul.events;
            DELETE FROM backhaul.ends;
            DELETE FROM backhaul.new_ends;
            DELETE FROM backhaul.live;
            DELETE FROM backhaul.runs;
            DELETE FROM backhaul.permits;
            UPDATE backhaul.sessions SET live_tasks = \(row.hasEnded ? 0 : 1);
            \(stored);
            UPDATE backhaul.workers SET lease_until = clock_timestamp()
                + CASE id WHEN '0' THEN \(leases[0]) ELSE \(leases[1]) END * interval '1 second';
            """)
    }

    /// The row of the database, with the leases of `row`.
    private func stored(leasesOf row: TaskModel) throws -> TaskModel {
        let rows = try fleet.database.run(
            """
            SELECT state, run, worker, wanted, publishing_run, 0 FROM backhaul.live
            UNION ALL SELECT state, run, NULL, 0, NULL, 1 FROM backhaul.ends
            """)
        try #require(rows.count == 1)
        let cells = try #require(rows.first)
        var found = row
        found.state = try #require(FleetTaskState(rawValue: cells.integer(0)))
        found.run = Int8(cells.integer(1))
        found.worker = cells.optionalText(2).flatMap { Int8($0) }
        found.wanted = try #require(TaskModel.Wish(rawValue: Int8(cells.integer(3))))
        found.publishingRun = cells.optionalText(4).flatMap { Int8($0) }
        found.ends = Int8(cells.integer(5))
        return found
    }

    private func compare(_ statements: [Statement], _ rows: [TaskModel]) throws {
        for row in rows {
            for statement in statements {
                try store(row)
                var expected = row
                let result = statement.model(&expected)
                #expect(try statement.database() == result, "\(statement.name) of \(row)")
                // The rows of ended tasks do not have it.
                if expected.hasEnded { expected.publishingRun = nil }
                #expect(try stored(leasesOf: row) == expected, "\(statement.name) of \(row)")
            }
        }
    }

    // MARK: Statements

    private func writes(_ run: Int8, by number: Int8) -> [Statement] {
        let (worker, own) = (workers[Int(number)], TaskRun(task: task, run: Int64(run)))
        return [
            Statement(
                name: "publish(\(run)) by \(number)", model: { $0.publish(run, by: number) ? 1 : 0 },
                database: { try worker.publish(own, .succeeded, inode: 7) ? 1 : 0 }),
            Statement(
                name: "end(\(run)) by \(number)", model: { $0.end(run, .succeeded, by: number) ? 1 : 0 },
                database: { try worker.end(own, .succeeded) ? 1 : 0 }),
            Statement(
                name: "putBack(\(run)) by \(number)",
                model: {
                    $0.putBack(run, by: number)
                    return 0
                },
                database: {
                    try worker.putBack(own)
                    return 0
                }),
        ]
    }

    private func claims(by number: Int8) -> [Statement] {
        let worker = workers[Int(number)]
        return [
            Statement(
                name: "claim by \(number)", model: { Int64($0.claim(by: number) ?? 0) },
                database: { try worker.claim().first?.run.run ?? 0 }),
            Statement(
                name: "takeOver by \(number)", model: { Int64($0.takeOver(by: number) ?? 0) },
                database: { try worker.takeOver().first?.run.run ?? 0 }),
            Statement(
                name: "releaseExpired by \(number)",
                model: {
                    $0.releaseExpired()
                    return 0
                },
                database: {
                    try worker.releaseExpired()
                    return 0
                }),
        ]
    }

    @Test("a worker's writes of each run have the same effect in each row")
    func writesOfRuns() throws {
        let statements = ([1, 2] as [Int8]).flatMap { run in ([0, 1] as [Int8]).flatMap { writes(run, by: $0) } }
        try compare(statements, Self.rows(leases: [(true, true)]))
    }

    @Test("claims, and what follows the end of a lease, have the same effect in each row")
    func leases() throws {
        let leases = [(true, true), (true, false), (false, true), (false, false)]
        try compare(claims(by: 0) + claims(by: 1), Self.rows(leases: leases))
    }

    @Test("a cancel of the host has the same effect in each row")
    func cancel() throws {
        let statement = Statement(
            name: "cancel",
            model: {
                $0.cancel()
                return 0
            },
            database: {
                _ = try fleet.hosts.control(.cancel, TaskSelection(), of: session)
                return 0
            })
        try compare([statement], Self.rows(leases: [(true, true)]))
    }
}
