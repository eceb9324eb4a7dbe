/// One look at the machine's two clocks.
public struct ClockReading: Equatable, Sendable {
    /// Milliseconds since 1970 by the calendar, which somebody may set.
    public var wall: Int64
    /// Milliseconds since boot, sleep included.
    public var boot: Int64
    public var bootID: String

    public init(wall: Int64, boot: Int64, bootID: String) {
        self.wall = wall
        self.boot = boot
        self.bootID = bootID
    }
}

/// How far somebody has moved the calendar. The age of a task counts what has passed, not what the calendar skipped:
/// a machine without a battery for its clock boots in 1970 and is set right by the network minutes later.
public enum CalendarJump {
    /// A clock that is slewed, or set again and again, is not moved.
    public static let tolerance: Int64 = 10_000
    /// 2020-01-01. No calendar that was ever set says less.
    public static let neverSet: Int64 = 1_577_836_800_000

    /// Milliseconds by which the calendar has jumped between the two readings; 0: it went on.
    public static func between(_ former: ClockReading, _ now: ClockReading) -> Int64 {
        let (passed, overflow) = now.wall.subtractingReportingOverflow(former.wall)
        if overflow { return 0 }
        guard former.bootID == now.bootID else {
            // Nothing has counted the time between two boots, so it is believed unless it cannot be true.
            let wasSetOnlyNow = former.wall < neverSet && now.wall >= neverSet
            return passed < 0 || wasSetOnlyNow ? passed : 0
        }
        let (jump, isTooFar) = passed.subtractingReportingOverflow(now.boot &- former.boot)
        return isTooFar || abs(jump) < tolerance ? 0 : jump
    }
}
