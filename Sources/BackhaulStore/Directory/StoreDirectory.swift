public import BackhaulModel
public import BackhaulPlatform
internal import CLinux
internal import Glibc

/// An open, checked store directory, which has all data of the tasks. Any process of the user may open the directory.
/// Only the process that has the store lock is the engine.
public final class StoreDirectory: Sendable {
    /// The absolute path, without a slash at its end.
    public let path: String
    /// The open directory. The descriptor still refers to this directory after a rename.
    public let descriptor: Descriptor
    public let identity: FileIdentity

    /// The folder for downloaded files. If a request names no path (destination), the downloaded file goes into this
    /// folder. The name of each file is the number of its task.
    public var keptPath: String { path + "/kept" }

    public func keptFile(of task: TaskID) -> String { "\(keptPath)/\(task.rawValue)" }

    /// The folder of the files that uploads send: snapshots (copies of a program's files), and consumed files (a
    /// program's files that were moved into the store).
    public var bodiesPath: String { path + "/bodies" }

    public func bodyFile(named name: String) -> String { "\(bodiesPath)/\(name)" }

    /// The names of these two folders.
    static let folderNames = ["bodies", "kept"]

    /// The path of the journal of part files. A download writes to a part file until all bytes have arrived. The
    /// journal has the length of each part file after the last write to the file.
    public var partJournalPath: String { path + "/parts" }

    /// Throws when files of tasks exist. The caller uses this function when it has found no database. In this case, the
    /// files show that the database was lost, and a new database would not know the files.
    func refuseFilesWithoutDatabase() throws(Failure) {
        for name in Self.folderNames {
            do throws(SystemError) {
                guard try !DirectoryReader.textNames(in: "\(path)/\(name)").isEmpty else { continue }
            } catch where error.code == ENOENT {
                continue
            } catch {
                throw fileFailure(name, error.code)
            }
            throw lostFailure("files of its tasks lie in \(path)/\(name)")
        }
        if try hasPartRecords() { throw lostFailure("\(partJournalPath) knows of downloads that were under way") }
    }

    /// Throws when a log exists but the database is missing or empty, because SQLite would remove the log. Also throws
    /// when the disk cannot report whether the files exist.
    func refuseWALWithoutDatabase() throws(Failure) {
        guard try sizeOfFile(Schema.fileName) ?? 0 == 0, try sizeOfFile(Schema.walName) ?? 0 > 0 else { return }
        throw lostFailure("its log \(path)/\(Schema.walName) has commits")
    }

    /// Throws when a repair has moved the damaged database away, and has not put the new one in its place.
    func refuseUnfinishedRepair() throws(Failure) {
        guard try hasUnfinishedRepair() else { return }
        throw Failure(
            .storeDamaged, "the repair of the store's database did not end; run `backhaul doctor --repair` again")
    }

    /// A link in place of the repair's folder does not count.
    func hasUnfinishedRepair() throws(Failure) -> Bool {
        guard try openIfPresent(StoreRepair.folder, O_RDONLY | O_DIRECTORY) != nil else { return false }
        let (old, new) = (try sizeOfFile(Schema.fileName), try sizeOfFile(StoreRepair.newName))
        return old == nil && new != nil
    }

    private func lostFailure(_ what: String) -> Failure {
        Failure(
            .storeDamaged,
            "the database of the store is empty or gone, and \(what); put a copy of the database back, or move these "
                + "files away to start over")
    }

    private func hasPartRecords() throws(Failure) -> Bool {
        guard let file = try openIfPresent("parts", O_RDONLY | O_NONBLOCK) else { return false }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = pread(file.number, &bytes, bytes.count, 0)
        guard count >= 0 else { throw fileFailure("parts") }
        return bytes[..<count].contains { $0 != 0 }
    }

    /// The path must be shorter than this number of bytes. With a longer path, the paths of files in the store would
    /// exceed the kernel's limit.
    static let pathSize = 4_000

    private init(path: String, descriptor: Descriptor, identity: FileIdentity) {
        self.path = path
        self.descriptor = descriptor
        self.identity = identity
    }

    /// Opens the directory, or makes it with mode 0700 if its parent exists.
    ///
    /// Throws invalidArgument if the path is not absolute, is too long, or is not the path of a directory. Throws
    /// storeUnavailable when the directory cannot be made, has another owner or is open to other users. Also throws
    /// storeOnNetworkFileSystem, storeReadOnly, storeFull and outOfResources.
    public static func open(path: String) throws(Failure) -> StoreDirectory {
        try open(path: path, fileSystemType: FileSystemType.of)
    }

    static func open(
        path: String, fileSystemType: (Descriptor) -> FileSystemType?
    ) throws(Failure) -> StoreDirectory {
        let path = try checked(path)
        guard access("/proc/self/fd", X_OK) == 0 else {
            throw Failure(
                .storeUnavailable,
                "/proc is not mounted, and the library reaches the store's files through /proc/self/fd; mount it: "
                    + "mount -t proc proc /proc")
        }
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
        if let kernel = KernelDirectory.above(path) ?? KernelDirectory.above(parent) {
            throw Failure(
                .storeUnavailable,
                "the store \(path) is in \(kernel), where only the kernel makes files; set options.store to a "
                    + "directory on a local disk")
        }
        let isNew = try make(path)
        do throws(Failure) {
            let descriptor = try opened(path, isNew: isNew)
            try checkOwner(of: descriptor, path, isNew: isNew)
            if let name = fileSystemType(descriptor)?.networkName {
                throw Failure(
                    .storeOnNetworkFileSystem,
                    "the store \(path) is on a network file system (\(name)), where locks do not hold; "
                        + "set options.store to a directory on a local disk")
            }
            try checkWritable(descriptor, path)
            guard let identity = FileIdentity(of: descriptor.number) else {
                throw unavailable(path, bhl_errno(), SystemError.reason(of: bhl_errno()))
            }
            return StoreDirectory(path: path, descriptor: descriptor, identity: identity)
        } catch {
            if isNew { rmdir(path) }
            throw error
        }
    }

    private static func checked(_ path: String) throws(Failure) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Failure(.invalidArgument, "the store's path is not absolute; begin it with a slash")
        }
        guard path.utf8.count < pathSize else {
            throw Failure(
                .invalidArgument,
                "the store's path has \(path.utf8.count) bytes; fewer than \(pathSize) are allowed")
        }
        guard !path.utf8.contains(0) else {
            throw Failure(.invalidArgument, "the store's path contains a NUL byte")
        }
        var trimmed = Substring(path)
        while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
        return String(trimmed)
    }

    /// Makes the directory. Returns whether it is new.
    private static func make(_ path: String) throws(Failure) -> Bool {
        // stat(2) comes first, because on a frozen file system mkdir(2) blocks even if the directory exists.
        var status = stat()
        if stat(path, &status) == 0 { return false }
        if mkdir(path, 0o700) == 0 { return true }
        let code = bhl_errno()
        switch code {
        case EEXIST: return false
        case EROFS: throw readOnly(path, code)
        case ENOSPC, EDQUOT: throw full(path, code)
        case ENOENT: throw unavailable(path, code, "its parent directory does not exist; make that first")
        case ENOTDIR: throw unavailable(path, code, "a part of its path is not a directory")
        case EACCES: throw unavailable(path, code, "its parent directory does not let this user make it")
        default: throw unavailable(path, code, SystemError.reason(of: code))
        }
    }

    private static func opened(_ path: String, isNew: Bool) throws(Failure) -> Descriptor {
        var number = bhl_open(path, O_RDONLY | O_DIRECTORY, 0)
        if number < 0, isNew, bhl_errno() == EACCES {
            // EACCES for a new directory shows that the umask has removed the owner's permissions.
            chmod(path, 0o700)
            number = bhl_open(path, O_RDONLY | O_DIRECTORY, 0)
        }
        guard number < 0 else { return Descriptor(owning: number) }
        let code = bhl_errno()
        switch code {
        case ENOTDIR: throw Failure.system(.invalidArgument, code: code, "the store \(path) is not a directory")
        case EMFILE, ENFILE, ENOMEM:
            throw Failure.system(
                .outOfResources, code: code, "the store \(path) cannot be opened: \(SystemError.reason(of: code))")
        case EACCES:
            throw unavailable(path, code, "this user may not read it; if it is this user's, run chmod 700 on it")
        default: throw unavailable(path, code, SystemError.reason(of: code))
        }
    }

    private static func checkOwner(of descriptor: Descriptor, _ path: String, isNew: Bool) throws(Failure) {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else {
            throw unavailable(path, bhl_errno(), SystemError.reason(of: bhl_errno()))
        }
        if isNew {
            if status.st_mode & 0o777 != 0o700 { fchmod(descriptor.number, 0o700) }
            return
        }
        guard status.st_uid == geteuid() else {
            throw Failure(
                .storeUnavailable,
                "the store \(path) belongs to user \(status.st_uid), not to this process's user \(geteuid()); "
                    + "set options.store to a directory of this user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw Failure(
                .storeUnavailable,
                "the store \(path) is open to other users (mode \(String(status.st_mode & 0o777, radix: 8))); "
                    + "run chmod 700 on it")
        }
    }

    private static func checkWritable(_ descriptor: Descriptor, _ path: String) throws(Failure) {
        guard faccessat(descriptor.number, ".", W_OK | X_OK, Int32(AT_EACCESS)) != 0 else { return }
        let code = bhl_errno()
        throw readOnly(path, code)
    }

    private static func unavailable(_ path: String, _ code: Int32, _ reason: String) -> Failure {
        .system(.storeUnavailable, code: code, "the store \(path) cannot be opened: \(reason)")
    }

    private static func readOnly(_ path: String, _ code: Int32) -> Failure {
        .system(
            .storeReadOnly, code: code,
            "the store \(path) cannot be written (\(SystemError.reason(of: code))); "
                + "make it writable or set options.store to another directory")
    }

    private static func full(_ path: String, _ code: Int32) -> Failure {
        .system(.storeFull, code: code, "the store \(path) cannot be made: its file system is full; free some space")
    }
}
