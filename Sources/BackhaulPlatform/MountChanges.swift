internal import CLinux
internal import Glibc

/// The list of the process's mounts (proc_pid_mountinfo(5)). When a file system is mounted, unmounted or remounted, the
/// descriptor has urgent data (POLLPRI), until the loop has reported this.
public final class MountChanges: Sendable {
    private let descriptor: Descriptor
    public var number: Int32 { descriptor.number }

    public init() throws(SystemError) {
        let number = bhl_open("/proc/self/mountinfo", O_RDONLY, 0)
        guard number >= 0 else { throw SystemError.last("cannot open the list of mounts") }
        descriptor = Descriptor(owning: number)
    }

    /// Whether the mounts have changed since the last call, or since the list was opened.
    public func takeChange() -> Bool {
        var polled = pollfd(fd: number, events: Int16(POLLPRI), revents: 0)
        return poll(&polled, 1, 0) > 0
    }
}
