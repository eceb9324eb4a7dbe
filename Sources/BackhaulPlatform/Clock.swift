internal import CLinux
internal import Glibc

/// A time until which a thread waits. It is a time of the monotonic clock, which stops during system sleep.
public struct Deadline: Comparable, Sendable {
    let nanoseconds: UInt64

    /// A deadline that has always passed.
    static let passed = Deadline(nanoseconds: 0)

    public static func after(milliseconds: Int64) -> Deadline {
        // The bound prevents an overflow. The longest wait is 146 years.
        let wait = UInt64(max(0, min(milliseconds, Int64.max / 2_000_000))) * 1_000_000
        return Deadline(nanoseconds: Clock.read(CLOCK_MONOTONIC) + wait)
    }

    /// The deadline at a time of the monotonic clock, in microseconds.
    public static func at(monotonicMicroseconds: UInt64) -> Deadline {
        Deadline(
            nanoseconds: monotonicMicroseconds.multipliedReportingOverflow(by: 1_000).overflow
                ? UInt64.max : monotonicMicroseconds * 1_000)
    }

    public var hasPassed: Bool { Clock.read(CLOCK_MONOTONIC) >= nanoseconds }

    /// The milliseconds that are left, rounded up; 0 after the deadline.
    public var millisecondsLeft: Int64 {
        let now = Clock.read(CLOCK_MONOTONIC)
        return now >= nanoseconds ? 0 : Int64((nanoseconds - now + 999_999) / 1_000_000)
    }

    public static func < (left: Deadline, right: Deadline) -> Bool { left.nanoseconds < right.nanoseconds }

    var monotonic: timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

/// The clocks of the machine. The library reads the calendar clock and the boot clock only with this type.
public enum Clock {
    /// Milliseconds since 1970, by the machine's calendar. The calendar may be wrong, and users may set it.
    public static var wallMilliseconds: Int64 {
        let milliseconds = Int64(read(CLOCK_REALTIME) / 1_000_000)
        #if DEBUG
        return milliseconds + movedBy
        #else
        return milliseconds
        #endif
    }

    /// Whether a program, such as an NTP client, keeps the calendar clock right (adjtimex(2)). True if this is not
    /// known.
    public static var isSynchronised: Bool { bhl_clock_is_synchronised() != 0 }

    /// Milliseconds since boot, including sleep, for durations.
    public static var bootMilliseconds: Int64 { Int64(read(CLOCK_BOOTTIME) / 1_000_000) }

    /// Microseconds since boot, including sleep, for measurements.
    public static var bootMicroseconds: Int64 { Int64(read(CLOCK_BOOTTIME) / 1_000) }

    #if DEBUG
    // Unsafe: the address of a page of the file that BACKHAUL_CLOCK names. The page is mapped until the process ends.
    // In debug builds, tests move the calendar clock of the running process by the milliseconds in the first eight
    // bytes of the page.
    private static let moved: UInt? = {
        guard let path = getenv("BACKHAUL_CLOCK") else { return nil }
        let descriptor = bhl_open(path, O_RDONLY, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let page = mmap(nil, 8, PROT_READ, MAP_SHARED, descriptor, 0)
        return page == MAP_FAILED ? nil : page.map { UInt(bitPattern: $0) }
    }()

    private static var movedBy: Int64 {
        moved.flatMap { UnsafePointer<Int64>(bitPattern: $0)?.pointee } ?? 0
    }
    #endif

    static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
