/// One reading of the machine's two clocks.
public struct ClockReading: Equatable, Sendable {
    /// Milliseconds since 1970 by the calendar clock, which a user or the network may set.
    public var wall: Int64
    /// Milliseconds since boot, including sleep.
    public var boot: Int64
    public var bootID: String

    public init(wall: Int64, boot: Int64, bootID: String) {
        self.wall = wall
        self.boot = boot
        self.bootID = bootID
    }
}

/// Computes by how many milliseconds the calendar clock was set (a clock step). The age of a task is the time that has
/// really passed, so a clock step must not change it. For example, a machine without a battery for its clock boots in
/// 1970, and the network sets the clock minutes later.
public enum ClockStep {
    /// The smallest difference that counts as a clock step, in milliseconds. Smaller differences come from a clock that
    /// is slewed (made slightly faster or slower), or that is often set by small amounts.
    public static let tolerance: Int64 = 10_000
    /// 2020-01-01 in Unix milliseconds. A clock that shows an earlier time was never set.
    public static let neverSet: Int64 = 1_577_836_800_000

    /// Returns the milliseconds by which the calendar clock was set between the two readings; 0 if it was not set.
    public static func between(_ former: ClockReading, _ now: ClockReading) -> Int64 {
        let (passed, overflow) = now.wall.subtractingReportingOverflow(former.wall)
        if overflow { return 0 }
        guard former.bootID == now.bootID else {
            // No clock measures the time between two boots. So the result is 0, except in two cases: the calendar clock
            // shows an earlier time than before, or it was set for the first time. Then the whole difference counts as
            // a clock step.
            let wasSetOnlyNow = former.wall < neverSet && now.wall >= neverSet
            return passed < 0 || wasSetOnlyNow ? passed : 0
        }
        let (step, isTooFar) = passed.subtractingReportingOverflow(now.boot &- former.boot)
        return isTooFar || abs(step) < tolerance ? 0 : step
    }
}
