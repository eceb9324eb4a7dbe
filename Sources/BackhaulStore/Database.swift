internal import BackhaulModel
internal import BackhaulPlatform
internal import CSQLite

/// The open database of a store. The initializer checks that the file is a store's database, and that this library
/// knows the version of the database. A database of an earlier version is then migrated.
struct Database {
    let connection: Connection
    let descriptors: DatabaseDescriptors
    private let lock: FileLock

    /// Opens the database. Tests pass `laterMigrations`, which run after `Schema.migrations`.
    init(directory: StoreDirectory, laterMigrations: [String] = []) throws(Failure) {
        let migrations = Schema.migrations + laterMigrations
        try directory.refuseUnfinishedRepair()
        try directory.refuseWALWithoutDatabase()
        // The file is made before SQLite opens it, so that its mode does not depend on the umask. SQLite gives the same
        // mode to the log.
        lock = try Self.lockDatabaseFile(try directory.openFile(Schema.fileName))
        try WALCheck.refuseDamage(directory)
        connection = try Self.open(directory)
        let version = try Self.checkedVersion(of: connection, newest: Schema.version(after: migrations))
        if version == 0 {
            try directory.refuseFilesWithoutDatabase()
            try connection.execute("PRAGMA page_size = \(Schema.pageSize)")
            try connection.reserveChecksums()
        }
        try Self.enableWAL(connection)
        try connection.restoreChecksums()
        try Self.migrate(connection, from: version, with: migrations)
        try connection.execute(Schema.temporary)
        try Self.clearValuesOfOtherBoots(connection, directory)
        descriptors = DatabaseDescriptors(
            directory: directory.descriptor, names: [Schema.fileName, Schema.walName])
    }

    private static func open(_ directory: StoreDirectory) throws(Failure) -> Connection {
        let connection = try Connection(
            path: directory.reachablePath(of: Schema.fileName), files: try VirtualFileSystem.registeredName())
        try configure(connection)
        return connection
    }

    /// Locks the database file against other programs that use SQLite, such as the shell `sqlite3`. The store lock
    /// excludes only other engines. Programs with SQLite lock bytes of the database file
    /// (https://www.sqlite.org/lockingv3.html), so this lock excludes these programs. Without this lock, another
    /// program could move or remove SQLite's log.
    private static func lockDatabaseFile(_ file: Descriptor) throws(Failure) -> FileLock {
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

    static func configure(_ connection: Connection) throws(Failure) {
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
    static func checkedVersion(of connection: Connection, newest: Int) throws(Failure) -> Int {
        let application = try number(connection, "PRAGMA application_id")
        let version = try number(connection, "PRAGMA user_version")
        let tables = try number(connection, "SELECT count(*) FROM sqlite_schema")
        if application == 0, version == 0, tables == 0 { return 0 }
        guard application == Schema.applicationID, version > 0, tables > 0 else {
            throw Failure(
                .storeDamaged,
                "the file \(Schema.fileName) in the store is not a database of Backhaul; "
                    + "move it away, or set options.store to another directory")
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

    /// Changes a database of this version to the newest version. An empty database has version 0.
    private static func migrate(
        _ connection: Connection, from version: Int, with migrations: [String]
    ) throws(Failure) {
        guard version < Schema.version(after: migrations) else { return }
        // A migration may change `sqlite_schema`, which SQLite refuses in defensive mode.
        connection.configure(SQLITE_DBCONFIG_DEFENSIVE, false)
        defer { connection.configure(SQLITE_DBCONFIG_DEFENSIVE, true) }
        try inTransaction(connection) { () throws(Failure) in
            if version == 0 { try connection.execute(Schema.current) }
            let first = version == 0 ? Schema.migrations.count : version - 1
            for step in migrations[first...] { try connection.execute(step) }
            try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
            try connection.execute("PRAGMA user_version = \(Schema.version(after: migrations))")
        }
    }

    /// If the machine has booted since the last opening, removes values that a boot makes invalid. These are delays
    /// (they use the clock since boot), device numbers (the kernel may assign them differently), and the ids of
    /// launched processes.
    private static func clearValuesOfOtherBoots(
        _ connection: Connection, _ directory: StoreDirectory
    ) throws(Failure) {
        let (boot, tables) = (ProcessIdentity.currentBootID, Tables(connection: connection, directory: directory))
        guard try tables.meta.bootID() != boot else { return }
        try inTransaction(connection) { () throws(Failure) in
            try tables.delays.clearAfterBoot()
            try tables.parts.clearDevices()
            try tables.claims.clearDevices()
            try tables.activities.clearDevices()
            try tables.launches.clearAfterBoot()
            try tables.meta.beginBoot(boot)
        }
    }

    /// Runs `body` in one transaction.
    func change(_ body: () throws(Failure) -> Void) throws(Failure) { try Self.inTransaction(connection, body) }

    private static func inTransaction(_ connection: Connection, _ body: () throws(Failure) -> Void) throws(Failure) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(Failure) {
            try body()
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
