/// One reading of the machine's two clocks.
public struct ClockReading: Equatable, Sendable {
    /// Milliseconds since 1970 by the calendar, which a user or the network may set.
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

/// Computes how far the calendar was set. A task ages by the time that has passed, not by what the calendar skipped. A
/// machine without a battery for its clock boots in 1970, and the network sets the clock minutes later.
public enum ClockStep {
    /// The smallest clock step, in milliseconds. A smaller difference comes from a clock that is slewed, or set again
    /// and again.
    public static let tolerance: Int64 = 10_000
    /// 2020-01-01 in Unix milliseconds. A calendar that shows an earlier time was never set.
    public static let neverSet: Int64 = 1_577_836_800_000

    /// Returns the milliseconds by which the calendar has jumped between the two readings; 0: it was not set.
    public static func between(_ former: ClockReading, _ now: ClockReading) -> Int64 {
        let (passed, overflow) = now.wall.subtractingReportingOverflow(former.wall)
        if overflow { return 0 }
        guard former.bootID == now.bootID else {
            // No clock measures the time between two boots, so the calendar is trusted unless its difference is
            // impossible.
            let wasSetOnlyNow = former.wall < neverSet && now.wall >= neverSet
            return passed < 0 || wasSetOnlyNow ? passed : 0
        }
        let (jump, isTooFar) = passed.subtractingReportingOverflow(now.boot &- former.boot)
        return isTooFar || abs(jump) < tolerance ? 0 : jump
    }
}
