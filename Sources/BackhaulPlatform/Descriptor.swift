internal import CLinux
internal import Glibc
internal import Synchronization

/// A file descriptor that is closed with its last reference. Kept from forked children by `ForkGuard`.
public final class Descriptor: Sendable {
    public let number: Int32
    private let device: UInt64
    private let inode: UInt64
    private let isAbandoned = Atomic(false)

    /// Takes over an open descriptor.
    public init(owning number: Int32) {
        self.number = number
        (device, inode) = Descriptor.identity(number) ?? (0, 0)
        ForkGuard.add(number)
    }

    public var identity: (device: UInt64, inode: UInt64) { (device, inode) }

    /// False once the host has closed the number under us, or has opened something else that got it.
    public var isOurs: Bool { Descriptor.identity(number).map { $0 == (device, inode) } ?? false }

    /// Gives the number up without closing it: for a caller who knows that it is not ours any more. All descriptors of
    /// one kind (epoll, eventfd, timerfd) share an inode, so that `isOurs` takes another of its kind for this one.
    public func abandon() {
        if !isAbandoned.exchange(true, ordering: .relaxed) { ForkGuard.remove(number) }
    }

    deinit {
        if isAbandoned.load(ordering: .relaxed) { return }
        ForkGuard.remove(number)
        // A host that closed every descriptor may have a file of its own under this number by now.
        if isOurs { close(number) }
    }

    private static func identity(_ number: Int32) -> (UInt64, UInt64)? {
        var status = stat()
        return fstat(number, &status) == 0 ? (bhl_device(&status), UInt64(status.st_ino)) : nil
    }
}
