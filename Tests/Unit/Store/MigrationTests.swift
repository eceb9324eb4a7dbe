import BackhaulModel
import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

@Suite("Migrations")
struct MigrationTests {
    let scratch = Scratch()

    /// The migration to a made-up next version.
    private static let next = [
        """
        ALTER TABLE tasks ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';
        CREATE TABLE places (task_id INTEGER PRIMARY KEY, place TEXT NOT NULL) STRICT;
        INSERT INTO places SELECT id, destination FROM tasks;
        DROP TABLE limits;
        """
    ]

    private func makeStore() throws -> SessionID {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        try store.enqueue((0..<100).map { .numbered($0) }, in: session)
        store.close()
        return session
    }

    private static func text(_ sql: String, of store: TestStore) throws -> String? {
        try store.run { try $0.connection.pragma(sql) }
    }

    private static func expectMigrated(_ store: TestStore, _ session: SessionID) throws {
        #expect(try store.tasks(of: session).count == 100)
        #expect(
            try text("SELECT count(*) FROM places JOIN tasks ON id = task_id AND place = destination", of: store)
                == "100")
        #expect(try text("SELECT count(*) FROM tasks WHERE colour = 'blue'", of: store) == "100")
        #expect(try text("SELECT count(*) FROM sqlite_schema WHERE name = 'limits'", of: store) == "0")
        #expect(try text("PRAGMA user_version", of: store) == "\(Schema.version(after: next))")
        #expect(try text("PRAGMA integrity_check", of: store) == "ok")
    }

    @Test("a database of the earlier version is migrated with its contents")
    func migrated() throws {
        let session = try makeStore()
        try Self.expectMigrated(TestStore(scratch.path, laterMigrations: Self.next), session)
        try Self.expectMigrated(TestStore(scratch.path, laterMigrations: Self.next), session)
    }

    @Test("a new database goes through the later migrations, too")
    func new() throws {
        let store = try TestStore(scratch.path, laterMigrations: Self.next)
        #expect(try Self.text("SELECT count(*) FROM places", of: store) == "0")
    }

    @Test("a migrated database is refused by the earlier library, and not changed")
    func newer() throws {
        let session = try makeStore()
        do { try TestStore(scratch.path, laterMigrations: Self.next).close() }
        let failure = #expect(throws: Failure.self) { try TestStore(scratch.path) }
        #expect(failure?.status == .storeNewer)
        #expect(failure?.message.contains("version \(Schema.version() + 1)") == true)
        try Self.expectMigrated(TestStore(scratch.path, laterMigrations: Self.next), session)
    }

    @Test("a migration that fails halfway leaves the database unchanged")
    func failed() throws {
        let session = try makeStore()
        let failing = ["DELETE FROM requests; CREATE TABLE tasks (id INTEGER)"]
        #expect(throws: Failure.self) { try TestStore(scratch.path, laterMigrations: failing) }
        #expect(try TestStore(scratch.path).tasks(of: session).count == 100)
    }

    /// The statements of an opening from the begin of the migration on: four of the migration, two that set the
    /// version, the two of the commit, and the first statement after it.
    @Test("a migration that is killed before any of its statements is repeated or complete", arguments: 0...9)
    func killed(statement: Int) async throws {
        let session = try makeStore()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = scratch.path as String, statement = statement as Int] in
            StatementKiller.start(after: statement)
            _ = try TestStore(path, laterMigrations: Self.next)
        }
        do {
            let store = try TestStore(scratch.path)
            #expect(statement <= 8, "the migration was not complete")
            #expect(try store.tasks(of: session).count == 100)
            #expect(try Self.text("PRAGMA user_version", of: store) == "\(Schema.version())")
        } catch let failure as Failure {
            #expect(failure.status == .storeNewer && statement == 9, "\(failure)")
        }
        try Self.expectMigrated(TestStore(scratch.path, laterMigrations: Self.next), session)
    }
}

/// Kills the process before a statement of SQLite.
private enum StatementKiller {
    // Unsafe: only the thread of the store changes these values, after `start`.
    private nonisolated(unsafe) static var isCounting = false
    private nonisolated(unsafe) static var left = 0

    /// Begins to count at the first BEGIN. After `count` more statements, the process is killed.
    static func start(after count: Int) {
        left = count
        typealias Entry = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
        let entry: Entry = { database, _, _ in
            sqlite3_trace_v2(
                database, UInt32(SQLITE_TRACE_STMT),
                { _, _, statement, _ in
                    StatementKiller.count(OpaquePointer(statement))
                    return 0
                }, nil)
            return SQLITE_OK
        }
        // SQLite calls the entry point of an automatic extension for each new connection. Its type has no parameters.
        sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
    }

    private static func count(_ statement: OpaquePointer?) {
        isCounting = isCounting || sqlite3_sql(statement).map { String(cString: $0) } == "BEGIN IMMEDIATE"
        guard isCounting else { return }
        if left == 0 { kill(getpid(), SIGKILL) }
        left -= 1
    }
}
