internal import CLinux
internal import Glibc

extension Clock {
    /// Milliseconds of local time minus those of Unix time, at a Unix time in milliseconds, by the rules of the
    /// machine's time zone (localtime_r(3)). 0 for times that no calendar knows.
    public static func localOffsetMilliseconds(at unix: Int64) -> Int64 {
        var seconds = time_t(unix >= 0 ? unix / 1_000 : (unix + 1) / 1_000 - 1)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff) * 1_000
    }

    /// From now on by the rules of the time zone that the machine has now: localtime_r(3) keeps those that it has met
    /// first. Reads a file when it was changed.
    public static func readTimeZone() { tzset() }
}

/// Tells when the machine is given another time zone, which is another link in place of /etc/localtime (localtime(5)).
public final class TimeZoneWatch: Sendable {
    private let descriptor: Descriptor
    private let path: String
    /// Readable when it was.
    public var number: Int32 { descriptor.number }

    public convenience init() throws(SystemError) { try self.init(path: "/etc/localtime") }

    init(path: String) throws(SystemError) {
        let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw SystemError.last("cannot watch the time zone") }
        descriptor = Descriptor(owning: number)
        self.path = path
        guard watchLink() else { throw SystemError.last("cannot watch the time zone") }
    }

    /// Takes what was told, and watches what is there now. False when there is nothing to watch any more.
    public func takeChanges() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor.number, &buffer, buffer.count) > 0 {}
        return watchLink()
    }

    /// The link itself, which loses its name when another takes its place.
    private func watchLink() -> Bool {
        let mask = UInt32(IN_DONT_FOLLOW | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        return inotify_add_watch(descriptor.number, path, mask) >= 0
    }
}
