public import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Checks a file that the host wants to upload. The check runs in the host's process, and with the host's rights.
public enum BodyCheck {
    /// Returns the file's present identity. Throws `invalidArgument` for a path that is not absolute, and
    /// `bodyUnavailable` for a file that cannot be read. With `orAbsent`, returns an identity of zeros for a missing
    /// file. The engine, which runs the uploads, then decides whether it accepts the request without the file. It does
    /// so if it already has an upload with the same idempotency key (a text that marks repeated requests).
    public static func check(path: String, orAbsent: Bool = false) throws(Failure) -> BodyFile {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Failure(.invalidArgument, "the body's file \(path) is not an absolute path")
        }
        guard let status = try status(path, orAbsent: orAbsent) else {
            return BodyFile(path: path, device: 0, inode: 0, size: 0, modifiedNanoseconds: 0)
        }
        guard status.isRegular else { throw Failure(.bodyUnavailable, "the body's file \(path) is no regular file") }
        return BodyFile(
            path: path, device: status.device, inode: status.inode, size: status.size,
            modifiedNanoseconds: status.modifiedNanoseconds)
    }

    private static func status(_ path: String, orAbsent: Bool) throws(Failure) -> FileStatus? {
        let files = FileSystem()
        do throws(SystemError) {
            try files.checkAccess(path, R_OK)
            guard let status = try files.status(of: path) else { throw SystemError(code: ENOENT, messageStart: "") }
            return status
        } catch {
            if orAbsent, error.code == ENOENT { return nil }
            throw .system(
                .bodyUnavailable, code: error.code, "the body's file \(path) cannot be read: \(error.reason)")
        }
    }
}
