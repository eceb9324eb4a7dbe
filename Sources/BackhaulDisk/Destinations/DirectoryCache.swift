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
    /// file system is unknown, throws if this is not the directory that the host saw.
    mutating func directory(of destination: Destination) throws(Failure) -> OpenDirectory {
        let directory = try openDirectory(of: destination)
        let hasSameInode = directory.status.inode == destination.directoryInode
        if !hasSameInode { try Self.checkLinks(to: directory, files) }
        // A device of 0 is not compared. It means that the host saw the directory in an earlier boot, and the numbers
        // of devices may change with each boot.
        let isSame = hasSameInode && [0, directory.status.device].contains(destination.directoryDevice)
        guard let expected = destination.fileSystem else {
            guard isSame else { throw DirectoryCache.replacedFailure(destination.directory) }
            return directory
        }
        // Another mount of the same file system may have the same directory, such as a bind mount.
        let isRight = directory.identity.map { present in
            present == expected || hasSameInode && FileSystemIdentities.areOfSameSystem(present, expected)
        }
        guard isRight ?? isSame else { throw .away(destination.directory, from: expected) }
        return directory
    }

    private mutating func openDirectory(of destination: Destination) throws(Failure) -> OpenDirectory {
        do {
            return try directory(at: destination.directory)
        } catch where [Int64(ENOENT), Int64(ENOTDIR)].contains(error.detail) {
            throw .away(destination.directory, from: destination.fileSystem)
        }
    }

    mutating func isFileSystemAway(_ destination: Destination) -> Bool {
        isFileSystemAway(destination.directory, destination.fileSystem)
    }

    /// Whether a file that is missing in this directory may be away with its file system, so that it was perhaps not
    /// removed. `expected`: the identity of the file system; nil if it is unknown.
    mutating func isFileSystemAway(_ path: String, _ expected: String?) -> Bool {
        guard let expected else { return false }
        var path = path
        // If the directory is missing, the nearest directory above it shows whether the file system is there.
        while true {
            if let directory = try? directory(at: path) { return directory.identity != expected }
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
            let status = try files.status(descriptor.number)
            let directory = OpenDirectory(path: path, descriptor: descriptor, status: status, files: files)
            if open.count >= DirectoryCache.capacity { open.removeAll() }
            open[path] = directory
            return directory
        } catch {
            throw .disk(error, path)
        }
    }

    mutating func closeAll() { open.removeAll(keepingCapacity: true) }
}

/// An open directory. What was asked about it is known until it is closed.
final class OpenDirectory {
    let path: String
    let status: FileStatus
    /// The space of the directory's file system; nil before the first call of `reserve`.
    private(set) var space: FileSystemSpace?
    /// The identity of its file system; nil if it is unknown.
    private(set) lazy var identity = files.identities?.identity(of: number, at: path, status)

    private let descriptor: Descriptor
    private let files: FileSystem
    private lazy var defaultAccess = DefaultAccess(of: number, files)

    var number: Int32 { descriptor.number }

    init(path: String, descriptor: Descriptor, status: FileStatus, files: FileSystem) {
        self.path = path
        self.descriptor = descriptor
        self.status = status
        self.files = files
    }

    /// Reserves room for the first bytes of a new file. Returns the space before this reservation: the space at the
    /// first call of the batch, minus the reservations since then.
    func reserve(_ bytes: UInt64) throws(SystemError) -> FileSystemSpace {
        let known = if let space { space } else { try files.space(number) }
        space = known.without(bytes)
        return known
    }

    /// The permissions of a new file: the requested bits, or the default ACL of the directory, or the umask's bits.
    func newFileMode(_ mode: FileMode) -> UInt32 {
        guard mode.isDefault else { return mode.bits }
        return defaultAccess.bits.map { 0o666 & $0 } ?? mode.bits
    }
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
