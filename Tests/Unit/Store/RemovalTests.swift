import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Rows of removed tasks")
struct RemovalTests {
    let store: TestStore
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
    }

    /// The tables with rows that may stay after the task was removed: history, records for repeated enqueues, and files
    /// that the engine must still remove or return.
    private static let lasting: Set<String> = [
        "attempts", "bodies_to_return", "challenges", "delivered", "history", "leftovers", "waits",
    ]

    @Test("after a task's end is acknowledged, only lasting rows of this task stay, and all rows of other tasks stay")
    func acknowledgement() throws {
        let session = try store.session()
        let ids = try store.enqueue([.numbered(1), .numbered(2)], in: session)
        try store.end(ids[0])
        let event = try #require(try store.events(of: session).first).id
        let tables = try store.run { transaction in
            let tables = try Self.tables(transaction.connection)
            for table in tables { for id in ids { try Self.addRow(of: id, to: table, transaction.connection) } }
            return tables
        }
        #expect(tables.count >= 8)
        #expect(try tables.filter { try Self.rows(of: ids, in: $0, store) != [1, 1] } == [])
        try store.acknowledge(session, .ids([event]))
        #expect(try tables.filter { try Self.rows(of: ids, in: $0, store) != [0, 1] } == [])
    }

    @Test("an acknowledgement removes a lane without live tasks (a lane is a session's tasks for one origin)")
    func lanes() throws {
        let session = try store.session()
        func lanes() throws -> String? {
            try store.run { try $0.connection.pragma("SELECT group_concat(id) FROM lanes") }
        }
        let ids = try store.enqueue([.numbered(1), .numbered(2)], in: session)
        try store.control(session, .suspend)
        try store.end(ids[0])
        try store.acknowledge(session, .through(try #require(try store.info(session)).newestEvent))
        #expect(try lanes() == "1")
        let last = try store.enqueue([.numbered(3)], in: session)[0]
        for id in [ids[1], last] { try store.end(id) }
        let events = try store.events(of: session).map(\.id)
        try store.acknowledge(session, .ids([events[0]]))
        #expect(try lanes() == nil)
        // The other task has ended, and its event still waits.
        let record = try store.run { try $0.tasks.find(last) }
        #expect(record?.outcome?.state == .succeeded)
        try store.enqueue([.numbered(4)], in: session)
        try store.acknowledge(session, .ids([events[1]]))
        #expect(try lanes() == "2")
    }

    @Test("a request whose task exists and has ended makes no lane")
    func lanesOfEnded() throws {
        let session = try store.session()
        let requests = (1...2).map { Request.numbered($0) { $0.idempotencyKey = $0.url } }
        for id in try store.enqueue(requests, in: session) { try store.end(id) }
        try store.acknowledge(session, .ids([try #require(try store.events(of: session).first).id]))
        try store.enqueue(requests, in: session)
        let lanes = try store.run { try $0.connection.pragma("SELECT count(*) FROM lanes") }
        #expect(lanes == "0")
    }

    @Test("SQLite refuses changes of the schema's text after the migrations")
    func defensive() throws {
        #expect(throws: Failure.self) {
            try store.run {
                try $0.connection.execute(
                    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql WHERE name = 'tasks'")
            }
        }
    }

    /// Returns the tables that have rows of tasks, except the tables in `lasting`.
    private static func tables(_ connection: Connection) throws(Failure) -> [String] {
        let names = try connection.pragma(
            """
            SELECT group_concat(tables.name) FROM sqlite_schema AS tables
                JOIN pragma_table_info(tables.name) AS columns ON columns.name = 'task_id'
            WHERE tables.type = 'table'
            """)
        return (names ?? "").split(separator: ",").map(String.init).filter { !lasting.contains($0) }
    }

    /// Adds a row with values that the table's types permit, unless the table has a row of the task.
    private static func addRow(of task: TaskID, to table: String, _ connection: Connection) throws(Failure) {
        let columns = try connection.pragma(
            """
            SELECT group_concat(name) || ') SELECT ' || group_concat(CASE WHEN name = 'task_id' THEN '\(task.rawValue)'
                WHEN type = 'TEXT' THEN '''a''' WHEN type = 'BLOB' THEN 'x''00''' ELSE '1' END)
            FROM pragma_table_info('\(table)') WHERE name = 'task_id' OR ("notnull" AND dflt_value IS NULL)
            """)
        let isMissing = "NOT EXISTS (SELECT 1 FROM \(table) WHERE task_id = \(task.rawValue))"
        try connection.execute("INSERT INTO \(table) (\(columns ?? "") WHERE \(isMissing)")
    }

    private static func rows(of tasks: [TaskID], in table: String, _ store: TestStore) throws -> [Int] {
        try store.run { transaction in
            var counts: [Int] = []
            for task in tasks {
                let sql = "SELECT count(*) FROM \(table) WHERE task_id = \(task.rawValue)"
                counts.append(try transaction.connection.pragma(sql).flatMap { Int($0) } ?? -1)
            }
            return counts
        }
    }
}
