internal import CLinux
internal import Glibc

/// Syncs a file or directory to the disk.
///
/// Some file systems of virtual machines, old CIFS servers and FUSE servers have no fsync(2), mostly for directories.
/// The next best way is a sync of the whole file system. A file system that has no such sync either is not synced, and
/// this is no error.
public enum FileSync {
    /// Syncs the file or directory of an open descriptor.
    public static func sync(_ number: Int32) throws(SystemError) {
        try sync(
            { () throws(SystemError) in try check(fsync(number)) },
            orFileSystem: { () throws(SystemError) in try check(syncfs(number)) })
    }

    /// Syncs with the given calls. The second one is made if the file system does not support the first one.
    public static func sync(
        _ syncFile: () throws(SystemError) -> Void, orFileSystem syncFileSystem: () throws(SystemError) -> Void
    ) throws(SystemError) {
        let unsupported = [EINVAL, ENOSYS, EOPNOTSUPP]
        do {
            try syncFile()
        } catch where unsupported.contains(error.code) || error.code == EBADF {
            let original = error
            do {
                try syncFileSystem()
            } catch where unsupported.contains(error.code) {
                if original.code == EBADF { throw original }
            }
        }
    }

    private static func check(_ result: Int32) throws(SystemError) {
        guard result == 0 else { throw .last("cannot sync") }
    }
}
