#if DEBUG
internal import Glibc

/// Tells when a test has moved the calendar (`BACKHAUL_CLOCK`): the kernel tells of a calendar that was set, and not of
/// this one. In debug builds only, as the calendar that it is about.
public final class MovedCalendarWatch: Sendable {
    private let descriptor: Descriptor
    /// Readable when it was moved.
    public var number: Int32 { descriptor.number }

    /// Nil: nobody moves it.
    public init?() {
        guard let path = getenv("BACKHAUL_CLOCK") else { return nil }
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        guard inotify_add_watch(number, path, UInt32(IN_CLOSE_WRITE)) >= 0 else { return nil }
    }

    /// Takes what was told.
    public func take() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor.number, &buffer, buffer.count) > 0 {}
    }

    /// The descriptor is not ours any more.
    public func abandon() { descriptor.abandon() }
}
#endif
