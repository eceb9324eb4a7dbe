/// The window of time in which an activity may start. From `begin` to `end`, the activity starts if the system meets
/// its constraints (demands such as external power). From `end`, it starts under any conditions. `begin` and `end` are
/// Unix times in milliseconds.
public struct ActivityWindow: Hashable, Sendable {
    public var begin: Int64
    public var end: Int64

    public init(begin: Int64, toleranceMilliseconds: UInt64) {
        self.begin = begin
        end = begin.saturatingAdd(Int64(clamping: toleranceMilliseconds))
    }

    /// The first window of an activity that a program registers now. If the activity states a first time, the window
    /// begins at that time. Otherwise, the window begins after one interval.
    public static func first(of activity: Activity, now: Int64) -> ActivityWindow {
        let begin = activity.firstMilliseconds ?? now.saturatingAdd(Int64(clamping: activity.intervalMilliseconds))
        return ActivityWindow(begin: begin, toleranceMilliseconds: activity.toleranceMilliseconds)
    }

    /// The window that counts now. If later windows have begun, for example while the engine did not run, the latest of
    /// them counts, and the activity starts only one time for all of them. Otherwise, `self` counts.
    public func current(intervalMilliseconds: UInt64, toleranceMilliseconds: UInt64, repeats: Bool, now: Int64)
        -> ActivityWindow
    {
        guard repeats, now > begin else { return self }
        let passed = Self.intervals(from: begin, to: now, intervalMilliseconds)
        return moved(passed, intervalMilliseconds, toleranceMilliseconds)
    }

    /// The next window of an activity that starts now; nil if the activity does not repeat. The next window begins
    /// after `now`, so windows that began earlier cause no further start.
    public func next(intervalMilliseconds: UInt64, toleranceMilliseconds: UInt64, repeats: Bool, now: Int64)
        -> ActivityWindow?
    {
        guard repeats else { return nil }
        let passed = now > begin ? Self.intervals(from: begin, to: now, intervalMilliseconds) : 0
        return moved(passed.saturatingAdd(1), intervalMilliseconds, toleranceMilliseconds)
    }

    /// Whether the activity should start now. `holds`: the constraints that the system does not meet now
    /// (`DeferralDecision.holds`). The quality of service of the activity determines its constraints.
    public func shouldStart(now: Int64, holds: [Hold]) -> Bool { now >= end || now >= begin && holds.isEmpty }

    /// The next time at which the activity may start without a change of the conditions: `begin` or `end`, in Unix
    /// milliseconds. Nil if `end` has passed.
    public func nextCheck(now: Int64) -> Int64? { now < begin ? begin : now < end ? end : nil }

    private static func intervals(from begin: Int64, to now: Int64, _ interval: UInt64) -> Int64 {
        let (passed, overflow) = now.subtractingReportingOverflow(begin)
        return (overflow ? .max : passed) / max(1, Int64(clamping: interval))
    }

    private func moved(_ count: Int64, _ interval: UInt64, _ tolerance: UInt64) -> ActivityWindow {
        let (distance, overflow) = count.multipliedReportingOverflow(by: Int64(clamping: interval))
        return ActivityWindow(begin: begin.saturatingAdd(overflow ? .max : distance), toleranceMilliseconds: tolerance)
    }
}

extension QualityOfService {
    /// The constraints of an activity until the end of its window.
    public var constraints: Constraints {
        var constraints = Constraints()
        switch self {
        case .background: constraints.preset = .discretionary
        case .utility: constraints.requiresUnmetered = true
        case .userInitiated: break
        }
        return constraints
    }
}
