internal import CLinux
internal import Glibc

/// The identity of a file or directory, to which several paths may lead.
public struct FileIdentity: Hashable, Sendable {
    public let device: UInt64
    public let inode: UInt64

    public init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    private init(_ status: inout stat) {
        self.init(device: bhl_device(&status), inode: UInt64(status.st_ino))
    }

    /// The identity of the file that this descriptor refers to. Nil for a closed descriptor.
    public init?(of number: Int32) {
        var status = stat()
        guard fstat(number, &status) == 0 else { return nil }
        self.init(&status)
    }

    /// The identity of the file with this path; if this is a symbolic link, of the file that the link leads to. Nil,
    /// with errno, if the path leads to no file.
    /// - directory: the descriptor of the directory where a relative path starts; nil for the working directory.
    public init?(at path: String, from directory: Int32? = nil) {
        var status = stat()
        guard fstatat(directory ?? AT_FDCWD, path, &status, 0) == 0 else { return nil }
        self.init(&status)
    }

    /// The identity of the file with this name in a directory; for a symbolic link, of the link itself. Nil, with
    /// errno, if the name does not exist.
    public init?(named name: String, in directory: Descriptor) {
        var status = stat()
        guard fstatat(directory.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return nil }
        self.init(&status)
    }
}
