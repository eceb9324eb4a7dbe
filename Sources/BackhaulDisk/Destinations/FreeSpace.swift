public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The free space of a file system.
public enum FreeSpace {
    /// Bytes that this user may still write on the file system of `path` (statvfs(3), f_bavail). Quotas are not
    /// counted.
    public static func available(at path: String) throws(Failure) -> UInt64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .disk(.last("Cannot ask for the free space at"), path) }
        return FileSystemSpace(status).available
    }
}

/// The space of a file system.
struct FileSystemSpace {
    /// The part that downloads leave free for other writers, such as databases, logs and the store itself. A full disk
    /// harms them more than a download.
    private static let largestReserve: UInt64 = 32 << 20
    private static let reserveDivisor: UInt64 = 100

    /// Size of the file system in bytes; 0 if it does not report that.
    let total: UInt64
    /// Bytes that this user may still write. Quotas are not counted.
    private(set) var available: UInt64
    let reserve: UInt64

    init(_ status: statvfs) {
        func bytes(_ blocks: UInt64) -> UInt64 {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflow ? .max : bytes
        }
        total = bytes(UInt64(status.f_blocks))
        available = bytes(UInt64(status.f_bavail))
        reserve = min(Self.largestReserve, total / Self.reserveDivisor)
    }

    /// False if a file of this size does not fit even on an empty file system.
    func isLargeEnough(_ size: UInt64) -> Bool { total == 0 || size <= total }

    func without(_ bytes: UInt64) -> FileSystemSpace {
        var rest = self
        rest.available -= min(bytes, available)
        return rest
    }

    /// Whether this many bytes fit and leave the reserve free.
    func fits(_ count: UInt64) -> Bool {
        // A file system that does not report its size is not checked; the write then fails if it is full.
        available >= reserve && available - reserve >= count || reserve == 0
    }
}
