internal import CLinux
internal import Glibc

/// A process whose end is noticed, and which can get signals. It need not be a child of this process. It is never
/// confused with a later process with the same id.
public final class WatchedProcess: Sendable {
    public let identity: ProcessIdentity
    /// A pidfd, readable after the process has ended; nil if the kernel (before 5.3) or a filter does not provide one.
    public let descriptor: Descriptor?

    /// Returns nil if the process has ended.
    public init?(_ identity: ProcessIdentity) {
        let number = bhl_pidfd_open(identity.processID)
        let descriptor = number >= 0 ? Descriptor(owning: number) : nil
        // The check comes after the pidfd was opened. If the process is alive now, the pidfd belongs to it, because it
        // has had the id all the time.
        guard identity.isAlive else { return nil }
        self.identity = identity
        self.descriptor = descriptor
    }

    public var hasEnded: Bool {
        guard let descriptor, descriptor.isOurs else { return !identity.isAlive }
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) > 0
    }

    /// Sends SIGTERM to the process. If the process is in the first process group of its session, the whole group gets
    /// the signal, unless this process is in that group. A stopped process gets the signal when it continues.
    public func terminate() { signal(SIGTERM) }

    /// Sends SIGKILL to the process and the same group.
    public func kill() { signal(SIGKILL) }

    private func signal(_ number: Int32) {
        guard !hasEnded, identity.isAlive else { return }
        // Processes that a detached program starts stay in the first group of its session, unless they leave the group
        // by themselves. The id of a group is not reused while one of its processes exists.
        let group = getpgid(identity.processID)
        if group > 1, group == getsid(identity.processID), group != getpgrp() { Glibc.kill(-group, number) }
        guard let descriptor, descriptor.isOurs else {
            Glibc.kill(identity.processID, number)
            return
        }
        _ = bhl_pidfd_signal(descriptor.number, number)
    }
}
