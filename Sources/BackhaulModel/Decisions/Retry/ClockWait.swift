/// Decides whether a certificate that is not valid yet shows that the machine's clock is wrong. A machine without a
/// battery for its clock starts in the past. Some time later, the clock is set by the network.
public struct ClockWait: Sendable {
    /// A clock before this time is wrong: 2026-11-01, in Unix milliseconds. Each release sets a newer date.
    public static let versionDate: Int64 = 1_793_491_200_000
    /// The delay between two attempts.
    public static let recheckMilliseconds: Int64 = 10_000
    /// The longest time for which tasks wait. Some machines never synchronise their clock, although it is right.
    public static let longestMilliseconds: Int64 = 3_600_000

    /// The time of the first such certificate while the clock was not trusted, in milliseconds since boot.
    private var began: Int64?
    /// The time of the last such certificate.
    private var last: Int64 = 0

    public init() {}

    /// Notes that a certificate is not valid yet. Returns whether the task waits for the clock. Otherwise, the task
    /// fails. `wall`: Unix milliseconds. `now`: milliseconds since boot.
    public mutating func mustWait(wall: Int64, isSynchronised: Bool, now: Int64) -> Bool {
        guard wall < Self.versionDate || !isSynchronised else {
            began = nil
            return false
        }
        // While a task waits, there is an attempt every `recheckMilliseconds`. After a long pause, a new wait begins.
        if now - last > Self.longestMilliseconds { began = nil }
        last = now
        let start = began ?? now
        began = start
        return now - start < Self.longestMilliseconds
    }
}
