internal import Glibc
internal import Synchronization

/// A file descriptor that is closed when the last reference to this object ends.
public final class Descriptor: Sendable {
    public let number: Int32
    private let file: FileIdentity?
    private let closesOnFork: Bool
    private let isAbandoned = Atomic(false)

    /// Takes the ownership of an open descriptor. `closesOnFork`: whether `ForkGuard` closes the copies in forked
    /// children.
    public init(owning number: Int32, closesOnFork: Bool = false) {
        self.number = number
        self.closesOnFork = closesOnFork
        file = FileIdentity(of: number)
        if closesOnFork { ForkGuard.add(number) }
    }

    public var identity: (device: UInt64, inode: UInt64) { (file?.device ?? 0, file?.inode ?? 0) }

    /// Whether the number still refers to this descriptor's file. The result is false after the host has closed the
    /// number, because another file may have the number by then.
    public var isOurs: Bool { file != nil && FileIdentity(of: number) == file }

    /// Gives up the number without closing it. A caller uses this function if it knows that another file has the
    /// number. For epoll, eventfd and timerfd, `isOurs` cannot detect this: all descriptors of one of these kinds share
    /// an inode.
    public func abandon() {
        if !isAbandoned.exchange(true, ordering: .relaxed), closesOnFork { ForkGuard.remove(number) }
    }

    /// Closes the descriptor now, before its last reference ends. If the number does not belong to this object any
    /// more, closes nothing and returns false.
    @discardableResult
    public func close() -> Bool {
        if isAbandoned.exchange(true, ordering: .relaxed) { return false }
        // The guard ends before the close, because another file may get the number after the close.
        if closesOnFork { ForkGuard.remove(number) }
        // If the host has closed every descriptor, this number may belong to a file of the host.
        let isOurs = isOurs
        if isOurs { Glibc.close(number) }
        return isOurs
    }

    deinit { close() }
}
