internal import BackhaulModel
internal import BackhaulPlatform
internal import CSQLite

/// Opens the database of a store, which is the directory with all durable data. The initializer checks that the file is
/// a store's database, and that this library knows the version of the database. If this version is older than the
/// library's, the initializer then migrates the database.
struct Database {
    let connection: Connection
    let descriptors: DatabaseDescriptors
    private let lock: FileLock

    /// Opens the database. Tests pass `laterMigrations`, which run after `Schema.migrations`.
    init(directory: StoreDirectory, laterMigrations: [String] = []) throws(Failure) {
        let migrations = Schema.migrations + laterMigrations
        try directory.refuseWALWithoutDatabase()
        // The file is made before SQLite opens it, so that its mode does not depend on the umask. SQLite gives the same
        // mode to the log.
        var lock = try Self.lockDatabaseFile(try directory.openFile(Schema.fileName))
        try WALCheck.refuseDamage(directory)
        var connection = try Self.open(directory)
        let version = try Self.checkedVersion(of: connection, newest: migrations.count)
        if version == 0 {
            try directory.refuseFilesWithoutDatabase()
            try connection.execute("PRAGMA page_size = \(Schema.pageSize)")
            try connection.reserveChecksums()
        } else if !connection.hasChecksums, let file = try ChecksumConversion.convert(connection, directory) {
            lock = file
            connection = try Self.open(directory)
            // This commit increments SQLite's change counter in the new file. If another program copies the database
            // with SQLite, the counter of the copy begins with SQLite's first value. Because the two counters differ,
            // `CheckedFile` notices that another program wrote the copy.
            try connection.execute("BEGIN IMMEDIATE")
            try connection.commit()
        }
        (self.lock, self.connection) = (lock, connection)
        try Self.enableWAL(connection)
        try Self.migrate(connection, from: version, with: migrations)
        try connection.execute(Schema.temporary)
        try Self.clearValuesOfOtherBoots(connection)
        descriptors = DatabaseDescriptors(
            directory: directory.descriptor, names: [Schema.fileName, Schema.walName])
    }

    static func open(
        _ directory: StoreDirectory, _ name: String = Schema.fileName
    ) throws(Failure) -> Connection {
        let connection = try Connection(
            path: directory.reachablePath(of: name), files: try VirtualFileSystem.registeredName())
        try configure(connection)
        return connection
    }

    /// Locks the database file against other programs that use SQLite, such as the shell `sqlite3`. The store lock
    /// excludes only other engines (processes that run the tasks of the store). Programs with SQLite lock bytes of the
    /// database file (https://www.sqlite.org/lockingv3.html), so this lock excludes these programs. Without this lock,
    /// another program could move or remove SQLite's log.
    static func lockDatabaseFile(_ file: Descriptor) throws(Failure) -> FileLock {
        let lock: FileLock?
        do {
            lock = try FileLock(file)
        } catch {
            throw Failure.system(
                .storeUnavailable, code: error.code, "the store's database cannot be locked: \(error.reason)")
        }
        guard let lock else {
            throw Failure(
                .storeUnavailable, "another program has the store's database open; close it there and try again")
        }
        return lock
    }

    private static func configure(_ connection: Connection) throws(Failure) {
        connection.configure(SQLITE_DBCONFIG_DEFENSIVE, true)
        connection.configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
        connection.configure(SQLITE_DBCONFIG_ENABLE_VIEW, false)
        // The exclusive mode is set before the first access, so that SQLite keeps the log's index in memory and makes
        // no shared-memory file.
        try connection.execute(
            """
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -16384;
            PRAGMA foreign_keys = ON;
            PRAGMA synchronous = FULL;
            PRAGMA journal_size_limit = \(GroupCommit.walSizeLimit);
            """)
    }

    /// Returns the schema version of the database, or 0 for an empty database. Throws if the database is not a store's,
    /// or if this library does not know its version.
    private static func checkedVersion(of connection: Connection, newest: Int) throws(Failure) -> Int {
        let application = try number(connection, "PRAGMA application_id")
        let version = try number(connection, "PRAGMA user_version")
        let tables = try number(connection, "SELECT count(*) FROM sqlite_schema")
        if application == 0, version == 0, tables == 0 { return 0 }
        guard application == Schema.applicationID, version > 0, tables > 0 else {
            throw Failure(
                .storeDamaged,
                "the file \(Schema.fileName) in the store is not a database of Backhaul; "
                    + "move it away, or set the option `store` to another directory")
        }
        guard version <= Int64(newest) else {
            throw Failure(
                .storeNewer,
                "the store has version \(version), and this library knows versions up to \(newest); "
                    + "update the library")
        }
        return Int(version)
    }

    private static func enableWAL(_ connection: Connection) throws(Failure) {
        let mode = try connection.pragma("PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw Failure(
                .storeUnavailable, "the store's database cannot use a write-ahead log; it uses \(mode ?? "none")")
        }
    }

    /// Changes a database of the given version to the newest version. A new database, which has version 0, gets
    /// `Schema.current` without the single migrations.
    private static func migrate(
        _ connection: Connection, from version: Int, with migrations: [String]
    ) throws(Failure) {
        guard version < migrations.count else { return }
        // A migration may change `sqlite_schema`, which SQLite refuses in defensive mode.
        connection.configure(SQLITE_DBCONFIG_DEFENSIVE, false)
        defer { connection.configure(SQLITE_DBCONFIG_DEFENSIVE, true) }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(Failure) {
            var version = version
            if version == 0 {
                try connection.execute(Schema.current)
                version = Schema.migrations.count
            }
            for step in migrations[version...] { try connection.execute(step) }
            try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
            try connection.execute("PRAGMA user_version = \(migrations.count)")
            try connection.commit()
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// If the machine has booted since the last opening, removes values that a boot makes invalid. These are delays
    /// (they use the clock since boot), device numbers (the kernel may assign them differently), and the ids of
    /// launched processes.
    private static func clearValuesOfOtherBoots(_ connection: Connection) throws(Failure) {
        let (boot, tables) = (ProcessIdentity.currentBootID, Tables(connection: connection))
        guard try tables.meta.bootID() != boot else { return }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(Failure) {
            try tables.delays.clearAfterBoot()
            try tables.parts.clearDevices()
            try tables.claims.clearDevices()
            try tables.activities.clearDevices()
            try tables.launches.clearAfterBoot()
            try tables.meta.beginBoot(boot)
            try connection.commit()
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private static func number(_ connection: Connection, _ sql: String) throws(Failure) -> Int64 {
        try connection.pragma(sql).flatMap { Int64($0) } ?? 0
    }
}
