internal import Glibc
internal import Synchronization

/// A file descriptor that is closed with its last reference. `ForkGuard` closes it in forked children.
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

    /// Whether the number is still this descriptor. False in forked children, and after the host has closed the number,
    /// even if a new file has it.
    public var isOurs: Bool {
        ForkGuard.isCurrent(number, registration) && file != nil && FileIdentity(of: number) == file
    }

    /// Gives up the number without closing it, when the caller knows that another file has it. All descriptors of one
    /// kind (epoll, eventfd, timerfd) share an inode, so `isOurs` cannot distinguish the host's from this one.
    public func abandon() {
        if !isAbandoned.exchange(true, ordering: .relaxed) { ForkGuard.remove(number, registration) }
    }

    /// Closes the descriptor now instead of with its last reference. Returns false if the number was not ours any more;
    /// then nothing is closed.
    @discardableResult
    public func close() -> Bool {
        if isAbandoned.exchange(true, ordering: .relaxed) { return false }
        // A host that closed every descriptor may have its own file under this number now.
        let isOurs = isOurs
        if isOurs { Glibc.close(number) }
        // This is last, so that a child that is forked in between does not keep the descriptor.
        ForkGuard.remove(number, registration)
        return isOurs
    }

    deinit { close() }
}
