internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The directories that a disk thread has opened for one batch: the jobs that it performs together. They are closed
/// after the batch, because an open descriptor prevents an unmount of the disk, and because another directory may get
/// the path later.
struct DirectoryCache {
    /// The limit on open directories. In a batch with more directories, some of them are opened again.
    static let capacity = 16

    private let files: FileSystem
    private var open: [String: OpenDirectory] = [:]

    init(files: FileSystem) { self.files = files }

    /// Returns the destination's directory. Throws `storageAway` if it is missing, or on another file system than at
    /// the enqueue. So nothing is written below an empty mount point. The directory itself may be another one. If the
    /// file system of the enqueue is unknown, throws if this process sees another directory than the host.
    mutating func directory(of destination: Destination) throws(Failure) -> OpenDirectory {
        let directory = try openDirectory(of: destination)
        if let expected = destination.fileSystem {
            guard let present = identity(of: directory), present != expected else { return directory }
            // Another mount of the same file system may have the same directory, such as a bind mount.
            let isSameSystem = Self.withoutRoot(present) == Self.withoutRoot(expected)
            if isSameSystem, directory.status.inode == destination.directoryInode { return directory }
            throw .away(destination.directory, from: expected)
        }
        guard directory.status.inode == destination.directoryInode,
            // A device of 0 is not compared. It means that the host saw the directory in an earlier boot, and the
            // numbers of devices may change with each boot.
            [0, directory.status.device].contains(destination.directoryDevice)
        else { throw DirectoryCache.replacedFailure(destination.directory) }
        return directory
    }

    /// The identity of a file system without the directory that is mounted.
    private static func withoutRoot(_ identity: String) -> Substring {
        identity[..<(identity.lastIndex(of: " ") ?? identity.endIndex)]
    }

    private mutating func openDirectory(of destination: Destination) throws(Failure) -> OpenDirectory {
        do {
            return try directory(at: destination.directory)
        } catch where [Int64(ENOENT), Int64(ENOTDIR)].contains(error.detail) {
            throw .away(destination.directory, from: destination.fileSystem)
        }
    }

    /// The identity of the directory's file system, which is determined once in a batch.
    mutating func identity(of directory: OpenDirectory) -> String? {
        if let known = open[directory.path]?.identity { return known }
        let identity = files.identities?.identity(of: directory.number, at: directory.path, directory.status)
        open[directory.path]?.identity = identity
        return identity
    }

    mutating func isFileSystemAway(_ destination: Destination) -> Bool {
        isFileSystemAway(destination.directory, destination.fileSystem)
    }

    /// Whether a file that is missing in this directory was removed, or is away with its file system. `expected`: the
    /// identity of the file system; nil if it is unknown.
    mutating func isFileSystemAway(_ path: String, _ expected: String?) -> Bool {
        guard let expected else { return false }
        var path = path
        // If the directory is missing, the nearest directory above it shows whether the file system is there.
        while true {
            if let directory = try? directory(at: path) {
                return identity(of: directory).map { $0 != expected } ?? false
            }
            if path == "/" { return true }
            path = SplitPath(path).directory
        }
    }

    static func replacedFailure(_ path: String) -> Failure {
        Failure(
            .destinationUnavailable,
            "the engine sees another directory at \(path) than the program that asked for the download; start both in "
                + "the same mount namespace, and do not replace the directory")
    }

    mutating func directory(at path: String) throws(Failure) -> OpenDirectory {
        if let known = open[path] { return known }
        do throws(SystemError) {
            let descriptor = try files.openDirectory(path)
            let directory = OpenDirectory(
                path: path, descriptor: descriptor, status: try files.status(descriptor.number))
            if open.count >= DirectoryCache.capacity { open.removeAll() }
            open[path] = directory
            return directory
        } catch {
            throw .disk(error, path)
        }
    }

    /// Reserves room for the first bytes of a new file. Returns the space before this reservation: the space at the
    /// first call of the batch, minus the reservations since then.
    mutating func reserve(_ bytes: UInt64, in directory: OpenDirectory) throws(SystemError) -> FileSystemSpace {
        let known = open[directory.path]?.space
        let space = if let known { known } else { try files.space(directory.number) }
        open[directory.path]?.space = space.without(bytes)
        return space
    }

    /// The permissions of a new file: the requested bits, or the default ACL of the directory, or the umask's bits.
    mutating func newFileMode(_ mode: FileMode, in directory: OpenDirectory) -> UInt32 {
        guard mode.isDefault else { return mode.bits }
        let access = open[directory.path]?.defaultAccess ?? DefaultAccess(of: directory.number, files)
        open[directory.path]?.defaultAccess = access
        return access.bits.map { 0o666 & $0 } ?? mode.bits
    }

    mutating func closeAll() { open.removeAll(keepingCapacity: true) }
}

struct OpenDirectory {
    let path: String
    let descriptor: Descriptor
    let status: FileStatus
    /// The space of the directory's file system; nil before the first call of `reserve`.
    fileprivate(set) var space: FileSystemSpace?
    /// The identity of its file system; nil if it is unknown, or not needed yet.
    fileprivate var identity: String?
    /// Nil before the first call of `newFileMode`.
    fileprivate var defaultAccess: DefaultAccess?
    var number: Int32 { descriptor.number }
}

/// The permission bits that the default ACL of a directory leaves to a new file (acl(5)).
private struct DefaultAccess {
    /// Nil without such an ACL.
    let bits: UInt32?

    init(of directory: Int32, _ files: FileSystem) {
        bits = (try? files.attribute("system.posix_acl_default", of: directory)).flatMap(AccessList.permissionBits)
    }
}

/// The two parts of an absolute path: the directory, and the name in this directory.
struct SplitPath {
    let directory: String
    let name: String

    init(_ path: String) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        directory = end == path.utf8.startIndex ? "/" : String(path[..<end])
        name = String(path[end...].drop { $0 == "/" })
    }
}
