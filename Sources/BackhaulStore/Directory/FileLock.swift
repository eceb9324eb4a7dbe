internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// An exclusive open-file-description lock on a whole file (fcntl(2)). It is released when this object is freed or the
/// process ends. Unlike a traditional record lock, it stays when other code of the process opens and closes the same
/// file.
final class FileLock: Sendable {
    private let descriptor: Descriptor

    /// Takes the lock. Returns nil when another open file description has it.
    init?(_ descriptor: Descriptor) throws(SystemError) {
        guard bhl_lock_exclusive(descriptor.number) == 0 else {
            let error = SystemError.last("cannot lock")
            if error.code == EAGAIN || error.code == EACCES { return nil }
            throw error
        }
        self.descriptor = descriptor
        ForkGuard.add(descriptor.number)
    }

    deinit {
        ForkGuard.remove(descriptor.number)
        // A close is not enough: if this process has just forked a child, the child has a copy of the descriptor. The
        // child would keep the lock until its exec.
        _ = bhl_unlock(descriptor.number)
    }
}
