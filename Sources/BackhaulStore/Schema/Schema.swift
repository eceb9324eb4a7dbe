/// The schema of the database. Migrations make and change its tables. A released migration is never edited: each change
/// is a new migration. So the comments in the SQL of released migrations keep words that were replaced later. After a
/// change of the migrations, run `scripts/generate-database-schema`, which writes their result to `current`.
enum Schema {
    static let fileName = "backhaul.sqlite3"
    static let walName = fileName + "-wal"

    /// The application id "BHS1" marks a database of Backhaul
    /// (https://www.sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x4248_5331

    /// The size of a page of a new database, in bytes. A transaction writes each page that it changes to the log. So
    /// with SQLite's default of 4096 bytes, the log of small downloads has 1.4 times as many bytes. With 1024 bytes, a
    /// row with a URL of 1000 characters would need a second page. In an index, an entry of more than about 480 bytes
    /// needs a second page. Databases of earlier versions keep their 4096 bytes.
    static let pageSize = 2_048

    /// The migration at index N changes a database of version N to version N + 1.
    static let migrations = [
        migration001, migration002, migration003, migration004, migration005, migration006, migration007,
        migration008, migration009,
    ]

    /// The temporary tables of a connection. SQLite keeps them in memory.
    static let temporary = """
        CREATE TEMP TABLE selected (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE running (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE acknowledged (id INTEGER PRIMARY KEY);
        """
}
