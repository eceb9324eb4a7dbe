import Glibc

enum Clock {
    /// Milliseconds of the monotonic clock.
    static var milliseconds: Int64 { read(CLOCK_MONOTONIC) }

    /// Milliseconds since 1970 of the wall clock.
    static var wallMilliseconds: Int64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
