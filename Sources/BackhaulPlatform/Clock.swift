internal import CLinux
internal import Glibc

/// A moment on the clock that stands still in system sleep, up to which a thread of the host may wait.
public struct Deadline: Sendable {
    let nanoseconds: UInt64

    public static func after(milliseconds: Int64) -> Deadline {
        // An absurdly long wait becomes one of 146 years.
        let wait = UInt64(max(0, min(milliseconds, Int64.max / 2_000_000))) * 1_000_000
        return Deadline(nanoseconds: Clock.read(CLOCK_MONOTONIC) + wait)
    }

    public var hasPassed: Bool { Clock.read(CLOCK_MONOTONIC) >= nanoseconds }

    /// Whole milliseconds left, rounded up; 0 when it has passed.
    public var millisecondsLeft: Int64 {
        let now = Clock.read(CLOCK_MONOTONIC)
        return now >= nanoseconds ? 0 : Int64((nanoseconds - now + 999_999) / 1_000_000)
    }

    var monotonic: timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

/// The clocks of the machine. Nothing else reads them.
public enum Clock {
    /// Milliseconds since 1970 by the machine's calendar, which may be wrong and may jump.
    public static var wallMilliseconds: Int64 { Int64(read(CLOCK_REALTIME) / 1_000_000) }

    /// Milliseconds since boot, sleep included: for durations.
    public static var bootMilliseconds: Int64 { Int64(read(CLOCK_BOOTTIME) / 1_000_000) }

    static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
