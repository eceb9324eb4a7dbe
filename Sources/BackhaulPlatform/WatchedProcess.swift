internal import CLinux
internal import Glibc

/// A process that need not be a child of this one: its end can be waited for and it can be signalled, and is never
/// mistaken for a later one with the same id.
public final class WatchedProcess: Sendable {
    public let identity: ProcessIdentity
    /// A pidfd, readable from the process's end on; nil where the kernel (before 5.3) or a filter has none to give.
    public let descriptor: Descriptor?

    /// Nil when it has ended.
    public init?(_ identity: ProcessIdentity) {
        let number = bhl_pidfd_open(identity.processID)
        let descriptor = number >= 0 ? Descriptor(owning: number) : nil
        // After opening: what is alive now was so then, and has had the number all the time.
        guard identity.isAlive else { return nil }
        self.identity = identity
        self.descriptor = descriptor
    }

    public var hasEnded: Bool {
        guard let descriptor, descriptor.isOurs else { return !identity.isAlive }
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) > 0
    }

    /// Asks it to end (SIGTERM), and with it the group of its session, when that is another than this process's. A
    /// stopped one is asked when it continues.
    public func askToEnd() { signal(SIGTERM) }

    /// Ends it at once (SIGKILL), and the same group.
    public func kill() { signal(SIGKILL) }

    private func signal(_ number: Int32) {
        guard !hasEnded, identity.isAlive else { return }
        // What a detached program starts stays in the first group of its session, unless it wants to be apart. The
        // number of a group is not given away while one of its processes lives.
        let group = getpgid(identity.processID)
        if group > 1, group == getsid(identity.processID), group != getpgrp() { Glibc.kill(-group, number) }
        guard let descriptor, descriptor.isOurs else {
            Glibc.kill(identity.processID, number)
            return
        }
        _ = bhl_pidfd_signal(descriptor.number, number)
    }
}
