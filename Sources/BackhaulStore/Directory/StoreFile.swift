internal import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

extension StoreDirectory {
    /// Opens a file of the store for reading and writing, or makes it with mode 0600 whatever the umask is.
    func openFile(_ name: String) throws(Failure) -> Descriptor {
        var number = bhl_openat(descriptor.number, name, O_RDWR | O_NOFOLLOW, 0)
        if number < 0, bhl_errno() == ENOENT {
            number = bhl_openat(descriptor.number, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
            if number >= 0 {
                fchmod(number, 0o600)
                fsync(descriptor.number)
            }
        }
        guard number < 0 else { return Descriptor(owning: number) }
        let code = bhl_errno()
        let reason = SystemError.reason(of: code)
        switch code {
        case ENOSPC, EDQUOT:
            throw Failure.system(
                .storeFull, code: code, "the store's file \(name) cannot be made: \(reason); free some space")
        case EROFS, EACCES, EPERM:
            throw Failure.system(
                .storeReadOnly, code: code, "the store's file \(path)/\(name) cannot be written: \(reason)")
        case EMFILE, ENFILE, ENOMEM:
            throw Failure.system(.outOfResources, code: code, "the store's file \(name) cannot be opened: \(reason)")
        default:
            throw Failure.system(
                .storeUnavailable, code: code, "the store's file \(path)/\(name) cannot be opened: \(reason)")
        }
    }
}
