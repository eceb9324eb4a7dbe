/// When an activity may start: from `begin` on when the conditions are good, from `end` on in any case. Unix times in
/// milliseconds.
public struct ActivityWindow: Hashable, Sendable {
    public var begin: Int64
    public var end: Int64

    public init(begin: Int64, toleranceMilliseconds: UInt64) {
        self.begin = begin
        end = begin.saturatingAdd(Int64(clamping: toleranceMilliseconds))
    }

    /// Of an activity that is set now: at its stated time, else after its interval.
    public static func first(of activity: Activity, now: Int64) -> ActivityWindow {
        let begin = activity.firstMilliseconds ?? now.saturatingAdd(Int64(clamping: activity.intervalMilliseconds))
        return ActivityWindow(begin: begin, toleranceMilliseconds: activity.toleranceMilliseconds)
    }

    /// The window that counts now. One that is to come stays; of those that have opened, the latest makes up for all:
    /// several pass while no engine runs.
    public func current(intervalMilliseconds: UInt64, toleranceMilliseconds: UInt64, repeats: Bool, now: Int64)
        -> ActivityWindow
    {
        guard repeats, now > begin else { return self }
        let passed = Self.intervals(from: begin, to: now, intervalMilliseconds)
        return moved(passed, intervalMilliseconds, toleranceMilliseconds)
    }

    /// The window after this one, in which it has started now; nil: it does not repeat. The first of the grid that is
    /// to come, so that one start is never followed by another for a window that had opened before.
    public func next(intervalMilliseconds: UInt64, toleranceMilliseconds: UInt64, repeats: Bool, now: Int64)
        -> ActivityWindow?
    {
        guard repeats else { return nil }
        let passed = now > begin ? Self.intervals(from: begin, to: now, intervalMilliseconds) : 0
        return moved(passed.saturatingAdd(1), intervalMilliseconds, toleranceMilliseconds)
    }

    /// `holds`: what `DeferralDecision.holds` says for the constraints of its quality of service.
    public func shouldStart(now: Int64, holds: [Hold]) -> Bool { now >= end || now >= begin && holds.isEmpty }

    /// When time alone may let it start, as Unix time in milliseconds; nil: it may already.
    public func nextLook(now: Int64) -> Int64? { now < begin ? begin : now < end ? end : nil }

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
    /// What an activity waits for within its window.
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
