import BackhaulModel
import BackhaulPlatform
import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

/// Tests/Support/stores has a folder for each released version of the schema. Its file store.sql has the statements
/// that make the database of a small store of this version.
@Suite("Stores of released versions")
struct ReleasedStoreTests {
    let scratch = Scratch()

    static let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Support/stores"
    static let versions = ((try? DirectoryReader.textNames(in: folder)) ?? []).sorted()

    /// Opens a store that SQLite alone has made from the statements of a version.
    private func openStore(of version: String) throws -> TestStore {
        let statements = String(decoding: FilledStore.file("\(Self.folder)/\(version)/store.sql"), as: UTF8.self)
        let file = "\(scratch.path)/\(Schema.fileName)"
        var database: OpaquePointer?
        try #require(sqlite3_open(file, &database) == SQLITE_OK)
        #expect(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)
        chmod(file, 0o600)
        return try TestStore(scratch.path)
    }

    @Test("a store of each released version keeps its contents, and gets the present schema", arguments: versions)
    func opened(version: String) throws {
        let store = try openStore(of: version)
        let new = Scratch()
        let present = try TestStore(new.path)
        try SampleStore.fill(present)
        #expect(try SampleStore.contents(of: store) == SampleStore.contents(of: present))
        #expect(try SampleStore.columns(of: store) == SampleStore.columns(of: present))
        #expect(
            try store.run { try $0.connection.pragma("PRAGMA integrity_check") } == "ok")
    }

    /// While the newest version is not released, a change of the schema changes its statements, too. After the release,
    /// a change of the schema is a new version.
    @Test("the statements of the newest version make the present schema")
    func newest() throws {
        let store = try TestStore(scratch.path)
        try SampleStore.fill(store)
        let statements = try SampleStore.statements(of: store)
        let version = try #require(Self.versions.last)
        let recorded = String(decoding: FilledStore.file("\(Self.folder)/\(version)/store.sql"), as: UTF8.self)
        func schema(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { !$0.hasPrefix("INSERT") }.sorted()
        }
        guard schema(recorded) != schema(statements) else { return }
        let path = "/tmp/backhaul-store.sql"
        try FilledStore.write(Array(statements.utf8), to: "/tmp", as: "backhaul-store.sql")
        Issue.record(
            """
            the schema of version \(version) has changed: if the version is not released, replace \
            Tests/Support/stores/\(version)/store.sql by \(path); otherwise add a migration and a folder for its version
            """)
    }
}

/// A store with rows in the main tables.
private enum SampleStore {
    /// No machine has this id of a boot.
    private static let otherBoot = "00000000-0000-4000-8000-000000000000"

    static func fill(_ store: TestStore) throws {
        let session = try store.run { transaction in
            var configuration = SessionConfiguration(identifier: "gallery")
            configuration.headers = [HeaderField("X-Tag", "one"), HeaderField("Accept", "image/*")]
            configuration.maximumAttempts = 7
            configuration.constraints.requiresExternalPower = true
            return try transaction.sessions.create(
                application: "org.example", configuration: configuration, role: .produce,
                consumer: .of(1, process: ProcessIdentity(processID: 1, startTime: 2, bootID: otherBoot)), now: 1_000
            ).id
        }
        let tasks = try store.enqueue(
            (1...5).map { number in
                .numbered(number) { request in
                    request.priority = Int32(number)
                    request.idempotencyKey = "key \(number)"
                    request.userData = [0, 255, UInt8(number)]
                    request.headers = [HeaderField("Authorization", "Bearer \(number)")]
                    if number == 2 { request.options.policy.resourceTimeoutMilliseconds = 70_000 }
                    if number == 3 { request.options.body = .bytes([1, 2, 3]) }
                    if number == 4 { request.options.group = "album" }
                }
            }, in: session)
        let checkpoint = Checkpoint(
            validator: Validator(entityTag: "\"v1\"", lastModified: nil), finalURL: "https://example.org/files/1",
            size: 900, syncedOffset: 700, bootID: "boot")
        let failure = Failure(.connectionFailed, "the server has closed the connection")
        try store.run { transaction in
            let record = AttemptRecord(
                attempts: 2, attemptsWithoutProgress: 1, bytesReceived: 800, failure: failure, checkpoint: checkpoint)
            try transaction.attempts.record(tasks[0], record)
        }
        var outcome = Outcome(state: .succeeded)
        outcome.response.httpStatus = 200
        outcome.response.finalURL = "https://mirror.example.org/4"
        outcome.response.headers = [HeaderField("ETag", "\"a\"")]
        try store.end(tasks[3], outcome)
        try store.end(tasks[4], Outcome(state: .failed, failure: failure))
        try store.acknowledge(session, .ids([try store.events(of: session)[1].id]))
    }

    static func contents(of store: TestStore) throws -> [String] {
        try store.run { transaction in
            let session = SessionID(rawValue: 1)
            var contents = ["\(try transaction.sessions.configuration(of: session))"]
            contents += try transaction.sessions.infos(application: "org.example").map { "\($0)" }
            for id: UInt64 in 1...5 {
                guard var task = try transaction.tasks.find(TaskID(rawValue: id))?.task else { continue }
                // The part is random, and a device number is valid only in its boot.
                task.part = 0
                task.request.destination?.directoryDevice = 0
                contents.append("\(task)")
            }
            contents += try transaction.events.poll(session, after: .zero, maximum: 9).events.map { "\($0)" }
            contents += try transaction.history.tasks(of: session, after: .zero, maximum: 9).tasks.map { "\($0)" }
            return contents
        }
    }

    /// Returns the columns of all tables and the indexes, sorted. A migration may add a column at another place.
    static func columns(of store: TestStore) throws -> [String] {
        try texts(
            """
            SELECT tables.name || ' ' || columns.name || ' ' || columns.type || ' ' || "notnull" || ' ' || pk || ' '
                || ifnull(dflt_value, '') AS line
            FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'
            UNION ALL SELECT name || ' ' || ifnull(sql, '') FROM sqlite_schema WHERE type = 'index'
            ORDER BY line
            """, of: store
        ).map(oneLine)
    }

    /// Returns the statements that make the database, each of them in one line.
    static func statements(of store: TestStore) throws -> String {
        var lines = ["PRAGMA application_id = \(Schema.applicationID)", "PRAGMA user_version = \(Schema.version())"]
        let made = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY rowid"
        lines += try texts(made, of: store).map(oneLine)
        let selections = try texts(
            """
            SELECT 'SELECT ''INSERT INTO ' || tables.name || ' ("' || group_concat(columns.name, '", "')
                || '") VALUES ('' || quote("' || group_concat(columns.name, '") || '', '' || quote("') || '") || '')'''
                || ' FROM ' || tables.name
            FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name <> 'sqlite_sequence' GROUP BY tables.name
            """, of: store)
        for selection in selections { lines += try texts(selection, of: store) }
        // The insertions have made rows in this table, too.
        lines.append("DELETE FROM sqlite_sequence")
        lines += try texts(
            "SELECT printf('INSERT INTO sqlite_sequence VALUES (%Q, %d)', name, seq) FROM sqlite_sequence", of: store)
        return lines.map { "\($0);\n" }.joined().replacing(ProcessIdentity.currentBootID, with: otherBoot)
    }

    private static func texts(_ sql: String, of store: TestStore) throws -> [String] {
        try store.run { try $0.connection.all(Query(sql)) { (row) throws(Failure) in row.text() } }
    }

    /// Returns a statement without its comments.
    private static func oneLine(_ statement: String) -> String {
        let lines = statement.split(separator: "\n").map { $0.drop { $0 == " " } }
        return lines.filter { !$0.hasPrefix("--") }.joined(separator: " ")
    }
}
