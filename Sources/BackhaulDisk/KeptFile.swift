internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// A finished file without a destination, kept in the store.
struct KeptFile {
    let path: String
    let files: FileSystem

    func status() throws(Failure) -> FileStatus? {
        do { return try files.status(in: AT_FDCWD, path) } catch { throw .disk(error, path) }
    }

    /// Absent is fine. The directory is synced so that the file does not come back with a power loss.
    func remove() throws(Failure) {
        do throws(SystemError) {
            guard try files.status(in: AT_FDCWD, path) != nil else { return }
            try files.remove(path, in: AT_FDCWD)
            try syncDirectory()
        } catch {
            throw .disk(error, path)
        }
    }

    func syncDirectory() throws(SystemError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        let directory = end == path.utf8.startIndex ? "/" : String(path[..<end])
        try files.syncDirectory(try files.openDirectory(directory).number)
    }
}
