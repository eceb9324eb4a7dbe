internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The fields of stat(2) that this module uses.
struct FileStatus: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
    var size: UInt64
    var isRegular: Bool
    var isDirectory: Bool
    var isLink: Bool
    var linkCount: UInt64
    var owner: UInt32
    var group: UInt32
    var modifiedNanoseconds: Int64
    /// The time of the last change of content or attributes (inode(7), ctime).
    var changedNanoseconds: Int64
    /// The permission bits.
    var mode: UInt32

    init(_ status: stat) {
        var status = status
        device = bhl_device(&status)
        inode = UInt64(status.st_ino)
        size = UInt64(max(0, status.st_size))
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isLink = status.st_mode & S_IFMT == S_IFLNK
        linkCount = UInt64(status.st_nlink)
        mode = status.st_mode & 0o7777
        let nanoseconds = { (time: timespec) in Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
        modifiedNanoseconds = nanoseconds(status.st_mtim)
        changedNanoseconds = nanoseconds(status.st_ctim)
        owner = status.st_uid
        group = status.st_gid
    }

    /// Whether the file is regular, belongs to this user and has only one hard link. Another user cannot have made such
    /// a file. On some file systems, the owner of each file is a mount option.
    func isOurs(on files: FileSystem, _ descriptor: Int32) throws(SystemError) -> Bool {
        guard isRegular, linkCount == 1 else { return false }
        guard owner != geteuid() else { return true }
        return try files.space(descriptor).choosesOwners
    }

    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }

    /// Whether this is the file whose identity was recorded before it was renamed.
    func matches(_ intent: FinishIntent) -> Bool {
        isRegular && [0, device].contains(intent.device) && inode == intent.inode && size == intent.size
    }
}
