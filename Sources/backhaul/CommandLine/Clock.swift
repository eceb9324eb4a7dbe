import CLinux
import Glibc

enum Clock {
    /// The time of the monotonic clock, in milliseconds.
    static var milliseconds: Int64 { read(CLOCK_MONOTONIC) }

    /// The time of the wall clock, in milliseconds since 1970.
    static var wallMilliseconds: Int64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
