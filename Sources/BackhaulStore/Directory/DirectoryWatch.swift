public import BackhaulModel
public import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Reports that the store (a directory), or a file in it, was moved or deleted. The engine watches the store in this
/// way while it runs. This type uses inotify(7), so no polling is needed.
///
/// Two events are not reported. The first is the deletion of the directory itself while this process has it open. The
/// second is the move of a parent directory. After such a move, a process that opens the path finds another store, or
/// no store.
public final class DirectoryWatch: Sendable {
    private let directory: StoreDirectory
    private let inotify: Inotify
    public var number: Int32 { inotify.number }

    public init(_ directory: StoreDirectory) throws(SystemError) {
        let messageStart = "cannot watch the store"
        inotify = try Inotify(messageStart)
        self.directory = directory
        let events = IN_MOVE_SELF | IN_DELETE_SELF | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
        guard inotify.watch("/proc/self/fd/\(directory.descriptor.number)", for: Int32(events)) else {
            throw SystemError.last(messageStart)
        }
    }

    /// Reads the pending notifications. Returns why the store cannot be used any more, or nil if it can be used.
    public func readReplacementFailure() -> Failure? {
        inotify.takeNames()
        return directory.replacementFailure
    }
}

extension StoreDirectory {
    /// Why the store cannot be used any more. Nil while the path leads to this directory and the lock file exists, and
    /// while the disk does not report whether this is so.
    public var replacementFailure: Failure? {
        guard let found = FileIdentity(at: path) else {
            guard [ENOENT, ENOTDIR, ELOOP].contains(bhl_errno()) else { return nil }
            return goneFailure("was deleted or moved away; open the application again, at the new path if it was moved")
        }
        guard found == identity else {
            return goneFailure("was moved away, and another directory has its path; open the application again")
        }
        guard hasLock else {
            return goneFailure("was deleted: its lock is missing; open the application again")
        }
        return nil
    }

    /// Whether the lock file exists. When a store is deleted, the lock file is removed before the directory, so a
    /// missing lock file shows the deletion. True if the disk does not report whether the file exists.
    public var hasLock: Bool {
        var status = stat()
        return fstatat(descriptor.number, Self.lockName, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0
            || bhl_errno() != ENOENT
    }

    /// Whether the path leads to this directory. False if the path leads to another directory or nowhere, or if the
    /// disk does not report this.
    public var isAtPath: Bool { FileIdentity(at: path) == identity }

    /// Whether the path leads to another directory. False if this directory was only moved away: the directory still
    /// exists, and writes to it are not lost.
    var isReplaced: Bool { FileIdentity(at: path).map { $0 != identity } ?? false }

    /// The directory's path with all symbolic links resolved. It identifies the store.
    public var realPath: String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    private func goneFailure(_ what: String) -> Failure { Failure(.storeUnavailable, "the store \(path) \(what)") }
}
