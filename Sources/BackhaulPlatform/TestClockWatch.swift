#if DEBUG
internal import Glibc

/// Notices that a test has moved the calendar clock of this process: the test has changed the file that
/// `BACKHAUL_CLOCK` names. The kernel reports only changes of its own clock. The type exists in debug builds only,
/// because only these builds use the file.
public final class TestClockWatch: Sendable {
    private let descriptor: Descriptor
    /// The number of the descriptor, which is readable after the clock was moved.
    public var number: Int32 { descriptor.number }

    /// Returns nil if `BACKHAUL_CLOCK` is not set, or if the file that it names cannot be watched.
    public init?() {
        guard let path = getenv("BACKHAUL_CLOCK") else { return nil }
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        guard inotify_add_watch(number, path, UInt32(IN_CLOSE_WRITE)) >= 0 else { return nil }
    }

    /// Reads and discards the reports.
    public func take() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor.number, &buffer, buffer.count) > 0 {}
    }
}
#endif
