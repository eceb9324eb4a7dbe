public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// What is left on a file system.
public enum FreeSpace {
    /// Bytes that this user may still write where `path` lies (statvfs(3), f_bavail). Quotas are not counted.
    public static func available(at path: String) throws(Failure) -> UInt64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .disk(.last("Cannot ask for the free space at"), path) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : bytes
    }
}
