internal import Glibc
internal import Synchronization

/// A file descriptor that is closed when the last reference to this object ends. `ForkGuard` closes the descriptor in
/// forked children.
public final class Descriptor: Sendable {
    public let number: Int32
    private let file: FileIdentity?
    private let registration: UInt64
    private let isAbandoned = Atomic(false)

    /// Takes the ownership of an open descriptor.
    public init(owning number: Int32) {
        self.number = number
        file = FileIdentity(of: number)
        registration = file.map { ForkGuard.register(number, $0) } ?? 0
    }

    public var identity: (device: UInt64, inode: UInt64) { (file?.device ?? 0, file?.inode ?? 0) }

    /// Whether the number still refers to this descriptor's file. The result is false in forked children. The result is
    /// also false after the host (the program that embeds the library) has closed the number, because another file may
    /// have the number by then.
    public var isOurs: Bool {
        ForkGuard.isCurrent(number, registration) && file != nil && FileIdentity(of: number) == file
    }

    /// Gives up the number without closing it. A caller uses this function if it knows that another file has the
    /// number. For epoll, eventfd and timerfd, `isOurs` cannot detect this: all descriptors of one of these kinds share
    /// an inode.
    public func abandon() {
        if !isAbandoned.exchange(true, ordering: .relaxed) { ForkGuard.remove(number, registration) }
    }

    /// Closes the descriptor now, before its last reference ends. If the number does not belong to this object any
    /// more, closes nothing and returns false.
    @discardableResult
    public func close() -> Bool {
        if isAbandoned.exchange(true, ordering: .relaxed) { return false }
        // If the host has closed every descriptor, this number may belong to a file of the host.
        let isOurs = isOurs
        if isOurs { Glibc.close(number) }
        // The registration is removed after the close. In the other order, a child that is forked in between would keep
        // the descriptor.
        ForkGuard.remove(number, registration)
        return isOurs
    }

    deinit { close() }
}
