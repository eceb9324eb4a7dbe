internal import CLinux
internal import Glibc

extension Clock {
    /// How many milliseconds the machine's local time is ahead of Unix time (localtime_r(3)). `unix` is the time for
    /// which to compute this offset, as milliseconds of Unix time. Returns 0 if localtime_r cannot convert the time.
    public static func localOffsetMilliseconds(at unix: Int64) -> Int64 {
        var seconds = time_t(unix >= 0 ? unix / 1_000 : (unix + 1) / 1_000 - 1)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff) * 1_000
    }

    /// Reads the machine's present time zone. Without this call, localtime_r(3) keeps the zone that it read first.
    public static func readTimeZone() { tzset() }
}

/// Notices that the machine gets another time zone: a new link replaces the link /etc/localtime (localtime(5)). During
/// the replacement there may be no link for a moment, so the directory is watched.
public final class TimeZoneWatch: Sendable {
    public enum Change: Sendable {
        /// Only other files of the directory have changed.
        case none
        case zone
        /// The directory was removed or moved, and no further change is reported.
        case end
    }

    private let inotify: Inotify
    private let name: String
    /// The number of the descriptor, which is readable after a change.
    public var number: Int32 { inotify.number }

    public convenience init() throws(SystemError) { try self.init(directory: "/etc", name: "localtime") }

    init(directory: String, name: String) throws(SystemError) {
        let messageStart = "cannot watch the time zone"
        inotify = try Inotify(messageStart)
        self.name = name
        let changes = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_CLOSE_WRITE
        guard inotify.watch(directory, for: Int32(changes | IN_MOVE_SELF | IN_ONLYDIR)) else {
            throw SystemError.last(messageStart)
        }
    }

    /// Reads all waiting reports of changes, and returns the most important one.
    public func takeChanges() -> Change {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var change = Change.none
        while true {
            let count = read(number, &buffer, buffer.count)
            guard count > 0 else { return change }
            for (mask, file) in TimeZoneWatch.events(in: buffer[..<count]) {
                if mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_UNMOUNT) != 0 { return .end }
                // After an overflow, the kernel has dropped reports, and one of them may have been about the time zone.
                if file == name || mask & UInt32(IN_Q_OVERFLOW) != 0 { change = .zone }
            }
        }
    }

    /// Splits the reports of inotify(7). Each report begins with the watch, the mask, the cookie and the length of the
    /// name, four bytes each. The name follows, with zeros at its end.
    private static func events(in bytes: ArraySlice<UInt8>) -> [(mask: UInt32, name: String)] {
        let head = 16
        var events: [(mask: UInt32, name: String)] = []
        var rest = bytes
        // Unsafe: four bytes of the slice are copied at once.
        func number(at offset: Int) -> UInt32 {
            rest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        }
        while rest.count >= head {
            let end = head + Int(number(at: 12))
            let name = rest.dropFirst(head).prefix(end - head).prefix { $0 != 0 }
            events.append((number(at: 4), String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(end)
        }
        return events
    }
}
