internal import Glibc
internal import Synchronization

/// A file descriptor that is closed when the last reference to this object ends.
public final class Descriptor: Sendable {
    public let number: Int32
    private let closesOnFork: Bool
    private let isClosed = Atomic(false)

    /// Takes the ownership of an open descriptor. `closesOnFork`: whether `ForkGuard` closes the copies in forked
    /// children.
    public init(owning number: Int32, closesOnFork: Bool = false) {
        self.number = number
        self.closesOnFork = closesOnFork
        if closesOnFork { ForkGuard.add(number) }
    }

    /// The device and inode of the open file. Each read is a system call.
    public var identity: (device: UInt64, inode: UInt64) {
        let file = FileIdentity(of: number)
        return (file?.device ?? 0, file?.inode ?? 0)
    }

    /// Closes the descriptor now, before its last reference ends. A second call has no effect.
    public func close() {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        // The guard ends before the close, because another file may get the number after the close.
        if closesOnFork { ForkGuard.remove(number) }
        Glibc.close(number)
    }

    deinit { close() }
}
