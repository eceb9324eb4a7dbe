/// The schema of the database: `current` is the newest version. A database of an earlier version goes through the
/// migrations, so `current` and the result of the migrations must be equal (Tests/Unit/Store/MigrationTests.swift).
enum Schema {
    static let fileName = "backhaul.sqlite3"
    static let walName = fileName + "-wal"

    /// The application id "BHS1" marks a database of Backhaul
    /// (https://www.sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x4248_5331

    /// The size of a page of a new database, in bytes. A transaction writes each page that it changes to the log. So
    /// with SQLite's default of 4096 bytes, the log of small downloads has 1.4 times as many bytes. With 1024 bytes, a
    /// row with a URL of 1000 characters would need a second page. In an index, an entry of more than about 480 bytes
    /// needs a second page.
    static let pageSize = 2_048

    /// The tables and indexes of a new database.
    static let current = sessionTables + taskTables

    /// The migration at index N changes a database of version N + 1 to version N + 2. A released migration is never
    /// edited.
    static let migrations: [String] = []

    /// The version after these migrations.
    static func version(after migrations: [String] = migrations) -> Int { 1 + migrations.count }

    /// The temporary tables of a connection. SQLite keeps them in memory.
    static let temporary = """
        CREATE TEMP TABLE selected (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE running (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE acknowledged (id INTEGER PRIMARY KEY);
        """
}
