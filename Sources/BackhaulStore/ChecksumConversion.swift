internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Gives each page of a database its checksum: of one that an earlier version has made, or that another program has
/// copied or changed.
///
/// A new database is written beside the old one, synced, and renamed over it. A crash before leaves the
/// old database, and a file that the next conversion removes.
enum ChecksumConversion {
    private static let newName = Schema.fileName + "-new"
    /// What SQLite makes beside it.
    private static let names = [newName, newName + "-wal", newName + "-journal"]

    /// Closes the connection, and returns the lock of the new file. Nil when none was made, for lack of space
    /// above all: the old one stays in use, and the next engine tries again.
    ///
    /// Throws storeDamaged where SQLite itself sees the damage: a checksum would only hide it.
    static func convert(_ connection: Connection, _ directory: StoreDirectory) throws(Failure) -> FileLock? {
        removeFiles(directory)
        try refuseDamage(connection)
        do throws(Failure) {
            let file = try directory.openFile(newName)
            let lock = try Database.keepOthersOut(file)
            try copy(connection, to: directory.reachablePath(of: newName), file)
            // A log that stayed would be taken for one of the new database.
            connection.checkpoint(truncating: true)
            guard directory.sizeOfFile(Schema.logName) ?? 0 == 0, try isCopy(directory, of: connection) else {
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
        // SQLite writes an empty file, and does not sync it.
        try connection.run(Query("VACUUM INTO ?"), .text(path))
        guard fsync(file.number) == 0 else {
            throw Failure.system(
                .engineFailed, code: errno, "the store's database cannot be written: \(SystemError.reason(of: errno))")
        }
    }

    /// SQLite may have been built without VACUUM, which then does nothing.
    private static func isCopy(_ directory: StoreDirectory, of connection: Connection) throws(Failure) -> Bool {
        let copy = try Database.open(directory, newName)
        defer { copy.close() }
        let count = "SELECT count(*) FROM sqlite_schema"
        return try copy.pragma(count) == connection.pragma(count) && copy.hasChecksums
    }

    private static func refuseDamage(_ connection: Connection) throws(Failure) {
        let found = try connection.pragma("PRAGMA integrity_check(1)")
        // Nil from an SQLite that was built without it.
        guard let found, found != "ok" else { return }
        throw .damaged(found)
    }

    private static func removeFiles(_ directory: StoreDirectory) {
        for name in names { unlinkat(directory.descriptor.number, name, 0) }
    }
}
