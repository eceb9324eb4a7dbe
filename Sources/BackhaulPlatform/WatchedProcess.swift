internal import CLinux
internal import Glibc

/// Watches a process: notices the end of the process, and can send signals to it. The process need not be a child of
/// this process. A later process with the same id is never mistaken for the watched process.
public final class WatchedProcess: Sendable {
    public let identity: ProcessIdentity
    /// A pidfd, which is readable after the process has ended. Nil if the kernel is older than 5.3, or if a filter of
    /// system calls (seccomp) forbids the call.
    public let descriptor: Descriptor?

    /// Returns nil if the process has ended.
    public init?(_ identity: ProcessIdentity) {
        let number = bhl_pidfd_open(identity.processID)
        let descriptor = number >= 0 ? Descriptor(owning: number) : nil
        // The check comes after the pidfd was opened. If the process is alive now, the pidfd belongs to it, because the
        // process has had its id all the time.
        guard identity.isAlive else { return nil }
        self.identity = identity
        self.descriptor = descriptor
    }

    public var hasEnded: Bool {
        guard let descriptor else { return !identity.isAlive }
        var item = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) > 0
    }

    /// Sends SIGTERM to the process. The whole process group gets the signal under two conditions: the group's id is
    /// also the id of the process's session (setsid(2)), and the calling process is in another group. A stopped process
    /// gets the signal when it continues.
    public func terminate() { signal(SIGTERM) }

    /// Sends SIGKILL to the same processes to which `terminate` sends SIGTERM.
    public func kill() { signal(SIGKILL) }

    private func signal(_ number: Int32) {
        guard !hasEnded, identity.isAlive else { return }
        // A detached program is in the group that has the id of the program's session. The processes that the program
        // starts are also in this group, until they change their group. The id of a group is not reused while one of
        // its processes exists.
        let group = getpgid(identity.processID)
        if group > 1, group == getsid(identity.processID), group != getpgrp() { Glibc.kill(-group, number) }
        guard let descriptor else {
            Glibc.kill(identity.processID, number)
            return
        }
        _ = bhl_pidfd_signal(descriptor.number, number)
    }
}
