import CSQLite
import Glibc
import Testing

@testable import BackhaulStore

/// Runs the statements with a SQLite that writes no checksums, such as the shell of SQLite. Then calls `body` while the
/// database is open.
func withPlainSQLite<Value>(_ path: String, _ statements: [String], _ body: () throws -> Value) throws -> Value {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    try #require(sqlite3_open(path, &database) == SQLITE_OK)
    for sql in statements {
        try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    }
    return try body()
}

func withPlainSQLite(_ path: String, _ statements: String...) throws { try withPlainSQLite(path, statements) {} }

extension FilledStore {
    /// Makes a database without valid checksums in the folder: a copy by another program.
    func makeCopy(in folder: String) throws {
        let (original, file) = (folder + "/original", folder + "/" + Schema.fileName)
        try Self.write(bytes, to: original)
        try withPlainSQLite(original + "/" + Schema.fileName, "VACUUM INTO '\(file)'")
        unlink(original + "/" + Schema.fileName)
        rmdir(original)
        chmod(file, 0o600)
    }
}
