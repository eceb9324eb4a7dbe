internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// An exclusive open-file-description lock on a whole file (fcntl(2)), released with its last reference and with the
/// process. Unlike a process lock it is not lost when some other part of the host opens and closes the same file.
final class FileLock: Sendable {
    private let descriptor: Descriptor

    /// Nil when another open file description has the lock.
    init?(_ descriptor: Descriptor) throws(SystemError) {
        guard bhl_lock_exclusive(descriptor.number) == 0 else {
            let error = SystemError.last("cannot lock")
            if error.code == EAGAIN || error.code == EACCES { return nil }
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        // Closing alone would leave it to a process that the host is just starting: until its exec it has a copy.
        if descriptor.isOurs { _ = bhl_unlock(descriptor.number) }
    }

    /// False when the host closed the descriptor under us: someone else may have the lock by now.
    var isHeld: Bool { descriptor.isOurs }
}
