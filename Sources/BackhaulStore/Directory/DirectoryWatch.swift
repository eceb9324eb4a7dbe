public import BackhaulModel
public import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Tells when the store's directory is moved or deleted under an engine, or something in it is (inotify(7)), without
/// looking again and again.
///
/// A directory that we have open is not deleted to the end, and its deletion is not told; that of the files in it is.
/// The move of a directory above is not told either: whoever opens the path finds that it leads to another store.
public final class DirectoryWatch: Sendable {
    private let directory: StoreDirectory
    private let descriptor: Descriptor
    public var number: Int32 { descriptor.number }

    public init(_ directory: StoreDirectory) throws(SystemError) {
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw SystemError.last("cannot watch the store") }
        descriptor = Descriptor(owning: number)
        self.directory = directory
        let mask = UInt32(IN_MOVE_SELF | IN_DELETE_SELF | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
        guard inotify_add_watch(number, "/proc/self/fd/\(directory.descriptor.number)", mask) >= 0 else {
            throw SystemError.last("cannot watch the store")
        }
    }

    /// Takes what was told, and says why the store cannot be used any more, if so.
    public func displacementNow() -> Failure? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor.number, &buffer, buffer.count) > 0 {}
        return directory.displacement
    }
}

extension StoreDirectory {
    /// Nil while the path leads to this directory and its lock is there.
    public var displacement: Failure? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return gone("was deleted or moved away; open it at its new path, or anew")
        }
        guard isAtItsPath else {
            return gone("was moved away, and another directory has its path; open the application again")
        }
        guard hasLock else {
            return gone("was deleted: its lock is missing; open the application again")
        }
        return nil
    }

    /// Whether the lock's file is there. A store that is being deleted has lost it by the end.
    public var hasLock: Bool {
        var status = stat()
        return fstatat(descriptor.number, Self.lockName, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0
    }

    /// False when the path leads to another directory by now, or nowhere.
    public var isAtItsPath: Bool { pathIsOurs == true }

    /// True when the path leads to another directory by now. One that was only moved away keeps what is written to it.
    var isReplaced: Bool { pathIsOurs == false }

    /// Whether the path leads to this directory; nil when it leads nowhere.
    private var pathIsOurs: Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (bhl_device(&status), UInt64(status.st_ino)) == descriptor.identity
    }

    /// The directory's path without links, for those who tell stores apart by it.
    public var realPath: String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    private func gone(_ what: String) -> Failure { Failure(.storeUnavailable, "the store \(path) \(what)") }
}
