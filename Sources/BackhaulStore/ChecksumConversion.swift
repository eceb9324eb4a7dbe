internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Adds a checksum to each page of a database whose pages have no valid checksums. Earlier versions of the library made
/// databases without checksums. Another program that copies or changes a database with SQLite writes no valid
/// checksums.
///
/// The conversion writes a new database beside the old one, syncs it, and renames it over the old one. After a crash
/// before the rename, the old database stays in use. The next conversion removes the unfinished new file.
enum ChecksumConversion {
    private static let newName = Schema.fileName + "-new"
    /// The names of the new database and of the files that SQLite makes for it.
    private static let names = [newName, newName + "-wal", newName + "-journal"]

    /// Converts the database, closes the connection, and returns the lock of the new file. Returns nil when no new
    /// database was made, for example on a full disk. Then the old database stays in use, and the next *engine* (the
    /// process that uses the database) tries the conversion again.
    ///
    /// Throws storeDamaged when SQLite's integrity check finds damage: checksums of damaged pages would hide the
    /// damage.
    static func convert(_ connection: Connection, _ directory: StoreDirectory) throws(Failure) -> FileLock? {
        removeFiles(directory)
        try refuseDamage(connection)
        do throws(Failure) {
            let file = try directory.openFile(newName)
            let lock = try Database.lockDatabaseFile(file)
            try copy(connection, to: directory.reachablePath(of: newName), file)
            // The log must be empty before the rename. Otherwise SQLite would apply the old log to the new database.
            connection.checkpoint(truncating: true)
            guard directory.sizeOfFile(Schema.walName) ?? 0 == 0, try isCopy(directory, of: connection) else {
                removeFiles(directory)
                return nil
            }
            connection.close()
            let number = directory.descriptor.number
            guard renameat(number, newName, number, Schema.fileName) == 0, fsync(number) == 0 else {
                throw directory.fileFailure(Schema.fileName)
            }
            return lock
        } catch where error.status == .storeFull {
            removeFiles(directory)
            return nil
        }
    }

    private static func copy(_ connection: Connection, to path: String, _ file: Descriptor) throws(Failure) {
        try connection.reserveChecksums()
        // SQLite accepts an empty file as the target of VACUUM INTO, and does not sync it.
        try connection.run(Query("VACUUM INTO ?"), .text(path))
        guard fsync(file.number) == 0 else {
            throw Failure.system(
                .engineFailed, code: errno, "the store's database cannot be written: \(SystemError.reason(of: errno))")
        }
    }

    /// Whether the new database is complete. If SQLite was built without VACUUM, `VACUUM INTO` does nothing, and the
    /// new database is empty.
    private static func isCopy(_ directory: StoreDirectory, of connection: Connection) throws(Failure) -> Bool {
        let copy = try Database.open(directory, newName)
        defer { copy.close() }
        let count = "SELECT count(*) FROM sqlite_schema"
        return try copy.pragma(count) == connection.pragma(count) && copy.hasChecksums
    }

    private static func refuseDamage(_ connection: Connection) throws(Failure) {
        let found = try connection.pragma("PRAGMA integrity_check(1)")
        // `found` is nil if SQLite was built without this pragma.
        guard let found, found != "ok" else { return }
        throw .damaged(found)
    }

    private static func removeFiles(_ directory: StoreDirectory) {
        for name in names { unlinkat(directory.descriptor.number, name, 0) }
    }
}
