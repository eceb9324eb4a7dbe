public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// What is left on a file system.
public enum FreeSpace {
    /// Bytes that this user may still write where `path` lies (statvfs(3), f_bavail). Quotas are not counted.
    public static func available(at path: String) throws(Failure) -> UInt64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .disk(.last("Cannot ask for the free space at"), path) }
        return Space(status).available
    }
}

/// The space of a file system.
struct Space {
    /// Left to the databases and logs of everyone, the store's own among them: a full disk is worse for them than for a
    /// download.
    private static let largestReserve: UInt64 = 32 << 20
    private static let reservedPart: UInt64 = 100

    /// Bytes of all files that it can hold; 0 where the file system does not tell.
    let total: UInt64
    /// Bytes that this user may still write. Quotas are not counted.
    let available: UInt64
    let reserve: UInt64

    init(_ status: statvfs) {
        func bytes(_ blocks: UInt64) -> UInt64 {
            let (bytes, overflow) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflow ? .max : bytes
        }
        total = bytes(UInt64(status.f_blocks))
        available = bytes(UInt64(status.f_bavail))
        reserve = min(Self.largestReserve, total / Self.reservedPart)
    }

    /// False when a file of this size fits into no part of it, whatever is removed.
    func canEverHold(_ size: UInt64) -> Bool { total == 0 || size <= total }

    /// Whether so many bytes fit in, and the reserve stays.
    func holds(_ count: UInt64) -> Bool {
        // Some file systems do not tell: then writing will.
        available >= reserve && available - reserve >= count || reserve == 0
    }
}
