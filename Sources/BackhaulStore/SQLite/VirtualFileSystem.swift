internal import BackhaulModel
internal import CSQLite
internal import Glibc

/// SQLite's own access to files, with three differences.
///
/// The pages of a database have checksums (`CheckedFile`).
///
/// Paths are taken as they stand. By default it resolves links first and refuses what is then longer than 512 bytes;
/// the store is reached through its directory's descriptor, whose path is short however long the directory's own is,
/// and stays right when the directory is renamed.
///
/// It takes no locks ("unix-none"): `Database` holds one on the file. SQLite's own are process locks, lost when anyone
/// in the process closes the file, and remembered in a table of the process: a forked child inherits the table without
/// the lock and could never open the store, nor could a process whose host closed SQLite's descriptors.
enum VirtualFileSystem {
    private static let name = "backhaul-store"

    // Unsafe: SQLite's own, of which it frees none.
    private nonisolated(unsafe) static let original: UnsafeMutablePointer<sqlite3_vfs>? =
        sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find("unix-none") : nil

    /// Bytes of SQLite's own object of an open file.
    static let originalFileSize = original?.pointee.szOsFile ?? 0

    /// Registers it beside the others, once in the process; the host's default stays what it is.
    static func registeredName() throws(Failure) -> String {
        guard isRegistered else {
            throw Failure(.outOfResources, "SQLite cannot be set up: there is no memory left")
        }
        return name
    }

    private static let isRegistered: Bool = {
        // Unsafe: SQLite keeps the pointer for the process's life, so the copy is never freed.
        guard let original, let name = strdup(name) else { return false }
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        copy.initialize(to: original.pointee)
        copy.pointee.pNext = nil
        copy.pointee.zName = UnsafePointer(name)
        copy.pointee.xFullPathname = { _, path, size, out in
            guard let path, let out, size > 0 else { return SQLITE_CANTOPEN }
            let length = strlen(path)
            guard length < Int(size) else { return SQLITE_CANTOPEN }
            out.update(from: path, count: length + 1)
            return SQLITE_OK
        }
        copy.pointee.szOsFile = CheckedFile.size(behind: originalFileSize)
        copy.pointee.xOpen = { system, path, file, flags, outFlags in
            let code = VirtualFileSystem.original?.pointee.xOpen(system, path, file, flags, outFlags) ?? SQLITE_ERROR
            if code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file {
                CheckedFile.install(in: file, behind: originalFileSize)
            }
            return code
        }
        return sqlite3_vfs_register(copy, 0) == SQLITE_OK
    }()
}
