internal import CLinux
internal import Glibc

/// A process that need not be a child of this one. Its end can be waited for, and it can be signalled. It is never
/// confused with a later one with the same id.
public final class WatchedProcess: Sendable {
    public let identity: ProcessIdentity
    /// A pidfd, readable after the process has ended; nil if the kernel (before 5.3) or a filter does not provide one.
    public let descriptor: Descriptor?

    /// Nil when the process has ended.
    public init?(_ identity: ProcessIdentity) {
        let number = bhl_pidfd_open(identity.processID)
        let descriptor = number >= 0 ? Descriptor(owning: number) : nil
        // This is checked after opening. If the process is alive now, it was so then, and has had the number all the
        // time.
        guard identity.isAlive else { return nil }
        self.identity = identity
        self.descriptor = descriptor
    }

    public var hasEnded: Bool {
        guard let descriptor, descriptor.isOurs else { return !identity.isAlive }
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) > 0
    }

    /// Sends SIGTERM to the process, and to the first process group of its session if the process is in that and this
    /// one is not. A stopped process gets the signal when it continues.
    public func terminate() { signal(SIGTERM) }

    /// Sends SIGKILL to the process and the same group.
    public func kill() { signal(SIGKILL) }

    private func signal(_ number: Int32) {
        guard !hasEnded, identity.isAlive else { return }
        // What a detached program starts stays in the first group of its session, unless it leaves the group by itself.
        // The number of a group is not reused while one of its processes lives.
        let group = getpgid(identity.processID)
        if group > 1, group == getsid(identity.processID), group != getpgrp() { Glibc.kill(-group, number) }
        guard let descriptor, descriptor.isOurs else {
            Glibc.kill(identity.processID, number)
            return
        }
        _ = bhl_pidfd_signal(descriptor.number, number)
    }
}
