import BackhaulModel
import BackhaulPlatform
import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

/// A SQLite without checksums has copied or changed the databases of these tests. The *log* is SQLite's write-ahead
/// log.
@Suite("Databases that another program has written get their checksums again")
struct ForeignWriteTests {
    let scratch = Scratch()
    private var file: String { scratch.path + "/" + Schema.fileName }

    private func backUp(_ path: String, to other: String) throws {
        var source: OpaquePointer?
        var target: OpaquePointer?
        defer {
            sqlite3_close(source)
            sqlite3_close(target)
        }
        try #require(sqlite3_open(path, &source) == SQLITE_OK && sqlite3_open(other, &target) == SQLITE_OK)
        let backup = try #require(sqlite3_backup_init(target, "main", source, "main"))
        #expect(sqlite3_backup_step(backup, -1) == SQLITE_DONE)
        #expect(sqlite3_backup_finish(backup) == SQLITE_OK)
    }

    /// Checks that the store is complete and has checksums. Then uses the store, opens it again and repeats the checks.
    private func expectRestored(_ filled: FilledStore, path: String? = nil) throws {
        let path = path ?? scratch.path
        for _ in 0..<2 {
            let store = try TestStore(path)
            #expect(try filled.contents(of: store) == filled.expected)
            #expect(try store.run { $0.connection.hasChecksums })
            #expect(
                try store.run { try $0.connection.pragma("PRAGMA journal_mode") } == "wal")
            try store.session("another")
            store.close()
            #expect(try names(path) == ["backhaul.sqlite3", "lock"])
        }
        var bytes = FilledStore.file(path + "/" + Schema.fileName)
        for page in stride(from: 0, to: bytes.count, by: FilledStore.pageSize) { bytes[page + 2_000] ^= 1 }
        try FilledStore.write(bytes, to: path)
        #expect(#expect(throws: Failure.self) { try TestStore(path) }?.status == .storeDamaged)
    }

    /// Returns the names of the files in the directory. SQLite's file of shared memory is excluded, because a SQLite
    /// without checksums does not remove this file when it is killed.
    private func names(_ path: String) throws -> [String] {
        try DirectoryReader.textNames(in: path).filter { !$0.hasSuffix("-shm") }.sorted()
    }

    @Test("a copy that is larger than SQLite's page cache gets its checksums")
    func large() throws {
        let filled = try FilledStore.shared.get()
        try filled.makeCopy(in: scratch.path)
        try withPlainSQLite(
            file,
            """
            CREATE TABLE large AS
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 8000)
            SELECT n, randomblob(3000) AS bytes FROM numbers
            """)
        try TestStore(scratch.path).close()
        let store = try TestStore(scratch.path)
        let results = try store.run { transaction in
            #expect(transaction.connection.hasChecksums)
            return try ["PRAGMA integrity_check", "SELECT sum(length(bytes)) FROM large"].map { sql throws(Failure) in
                try transaction.connection.pragma(sql)
            }
        }
        #expect(results == ["ok", "24000000"])
    }

    @Test("if another program copies a database by a backup or VACUUM INTO, the copy gets its checksums")
    func copied() throws {
        let filled = try FilledStore.shared.get()
        let original = scratch.path + "/original"
        try FilledStore.write(filled.bytes, to: original)
        for (name, isBackup) in [("backup", true), ("vacuum", false)] {
            let path = "\(scratch.path)/\(name)"
            mkdir(path, 0o700)
            let copy = path + "/" + Schema.fileName
            if isBackup {
                try backUp(original + "/" + Schema.fileName, to: copy)
            } else {
                try withPlainSQLite(original + "/" + Schema.fileName, "VACUUM INTO '\(copy)'")
            }
            chmod(copy, 0o600)
            try expectRestored(filled, path: path)
        }
    }

    @Test("a backup of a copy gets its checksums, too")
    func copiedTwice() throws {
        let filled = try FilledStore.shared.get()
        try filled.makeCopy(in: scratch.path)
        do { try TestStore(scratch.path).close() }
        let path = scratch.path + "/copy"
        mkdir(path, 0o700)
        try backUp(file, to: path + "/" + Schema.fileName)
        chmod(path + "/" + Schema.fileName, 0o600)
        try expectRestored(filled, path: path)
    }

    @Test(
        "a database that another program changed gets its checksums, with or without a log",
        arguments: ["DELETE", "WAL"])
    func changed(mode: String) throws {
        let filled = try FilledStore.shared.get()
        try FilledStore.write(filled.bytes, to: scratch.path)
        try withPlainSQLite(
            file, "PRAGMA journal_mode = \(mode)", "UPDATE meta SET value = 'changed' WHERE key = 'boot_id'")
        try expectRestored(filled)
    }

    /// Makes a store that has the log of a killed engine.
    private func makeKilled() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path as String] in
            let filled = try FilledStore.shared.get()
            try FilledStore.write(filled.bytes, to: path)
            let store = try TestStore(path)
            try store.session("of the log")
            kill(getpid(), SIGKILL)
        }
        #expect(FilledStore.file(file + "-wal").count > FilledStore.pageSize)
    }

    @Test("if another program moves a killed engine's log into the database, the database gets its checksums")
    func logMoved() async throws {
        let filled = try FilledStore.shared.get()
        try await makeKilled()
        try withPlainSQLite(file, "SELECT count(*) FROM tasks")
        #expect(try names(scratch.path) == ["backhaul.sqlite3", "lock"])
        #expect(
            try TestStore(scratch.path).run { try $0.connection.pragma("SELECT count(*) FROM sessions") } == "2")
        try expectRestored(filled)
    }

    @Test("the database of a killed engine keeps its contents and checksums")
    func killed() async throws {
        let filled = try FilledStore.shared.get()
        try await makeKilled()
        let store = try TestStore(scratch.path)
        #expect(try filled.contents(of: store) == filled.expected)
        #expect(try store.run { $0.connection.hasChecksums })
    }

    @Test("a database in which SQLite finds damage gets no checksums")
    func damaged() throws {
        let filled = try FilledStore.shared.get()
        try filled.makeCopy(in: scratch.path)
        try withPlainSQLite(
            file, "PRAGMA writable_schema = ON",
            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'events') "
                + "WHERE name = 'history'")
        let before = FilledStore.file(file)
        #expect(#expect(throws: Failure.self) { try TestStore(scratch.path) }?.status == .storeDamaged)
        #expect(FilledStore.file(file) == before)
    }

    @Test("if an engine is killed while it adds the checksums, the next engine adds them", arguments: 0..<16)
    func killedMeanwhile(round: Int) async throws {
        let filled = try FilledStore.shared.get()
        try filled.makeCopy(in: scratch.path)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = scratch.path as String, round = round as Int] in
            let killer = try BackhaulPlatform.Thread(name: "killer") {
                usleep(useconds_t(round * round * 100))
                kill(getpid(), SIGKILL)
            }
            while true { try TestStore(path).close() }
            killer.join()
        }
        try expectRestored(filled)
    }
}
