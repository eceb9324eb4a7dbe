internal import BackhaulModel
internal import CSQLite
internal import Glibc

/// A VFS that differs from SQLite's own VFS in four points.
///
/// First, the pages of a database have checksums (`CheckedFile`).
///
/// Second, successive writes to the write-ahead log are joined (`LogFile`).
///
/// Third, paths are used as given. SQLite's VFS resolves links, and refuses a result of more than 512 bytes. The
/// database is in the store, a directory. This process opens the store's files with paths such as
/// `/proc/self/fd/5/NAME`, where 5 is the descriptor of the directory. So these paths are always short, and stay valid
/// when the directory is renamed.
///
/// Fourth, SQLite takes no locks ("unix-none"), because `Database` already has a lock on the file. SQLite's own locks
/// belong to the process, and are lost when any code of the process closes the file.
enum VirtualFileSystem {
    private static let name = "backhaul-store"

    // Unsafe: SQLite owns the object, and never frees it.
    private nonisolated(unsafe) static let original: UnsafeMutablePointer<sqlite3_vfs>? =
        sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find("unix-none") : nil

    /// The number of bytes in which the original VFS keeps its data of one open file.
    static let originalFileSize = original?.pointee.szOsFile ?? 0

    /// Registers the VFS at the first call in the process, and returns the name of the VFS. The host's default VFS does
    /// not change.
    static func registeredName() throws(Failure) -> String {
        guard isRegistered else {
            throw Failure(.outOfResources, "SQLite cannot be set up: there is no memory left")
        }
        return name
    }

    private static let isRegistered: Bool = {
        // Unsafe: SQLite keeps the pointer until the process ends, so the copy is never freed.
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
        copy.pointee.szOsFile = max(CheckedFile.size, LogFile.size)
        copy.pointee.xOpen = { system, path, file, flags, outFlags in
            let code = VirtualFileSystem.original?.pointee.xOpen(system, path, file, flags, outFlags) ?? SQLITE_ERROR
            guard code == SQLITE_OK, let file else { return code }
            if flags & SQLITE_OPEN_WAL != 0 { LogFile.install(in: file) }
            return flags & SQLITE_OPEN_MAIN_DB != 0 ? CheckedFile.install(in: file) : SQLITE_OK
        }
        return sqlite3_vfs_register(copy, 0) == SQLITE_OK
    }()
}
