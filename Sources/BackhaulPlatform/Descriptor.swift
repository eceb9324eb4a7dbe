internal import Glibc
internal import Synchronization

/// A file descriptor that is closed with its last reference. Kept from forked children by `ForkGuard`.
public final class Descriptor: Sendable {
    public let number: Int32
    private let file: FileIdentity?
    private let registration: UInt64
    private let isAbandoned = Atomic(false)

    /// Takes over an open descriptor.
    public init(owning number: Int32) {
        self.number = number
        file = FileIdentity(of: number)
        registration = file.map { ForkGuard.register(number, $0) } ?? 0
    }

    public var identity: (device: UInt64, inode: UInt64) { (file?.device ?? 0, file?.inode ?? 0) }

    /// False once the host has closed the number under us, whatever has got it since, and in forked children.
    public var isOurs: Bool {
        ForkGuard.isCurrent(number, registration) && file != nil && FileIdentity(of: number) == file
    }

    /// Gives the number up without closing it: for a caller who knows that it is not ours any more. All descriptors of
    /// one kind (epoll, eventfd, timerfd) share an inode, so that `isOurs` takes the host's for this one.
    public func abandon() {
        if !isAbandoned.exchange(true, ordering: .relaxed) { ForkGuard.remove(number, registration) }
    }

    deinit {
        if isAbandoned.load(ordering: .relaxed) { return }
        // A host that closed every descriptor may have a file of its own under this number by now.
        if isOurs { close(number) }
        // Last, so that a child forked in between does not keep it.
        ForkGuard.remove(number, registration)
    }
}
