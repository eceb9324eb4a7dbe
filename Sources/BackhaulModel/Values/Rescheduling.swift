/// A change of a task's earliest or latest start: an argument of `bh_tasks_reschedule`. A task does not start before
/// its earliest start. After its latest start, a preset such as `discretionary` (which demands external power, for
/// example) does not delay the task any more.
public enum StartChange: Equatable, Sendable {
    /// The start does not change: `BH_START_UNCHANGED`.
    case unchanged
    /// The new time in Unix milliseconds; nil: the start is removed.
    case to(Int64?)

    /// Returns nil if the number is not -1, 0 or a time.
    public init?(code: Int64) {
        switch code {
        case -1: self = .unchanged
        case 0: self = .to(nil)
        case 1...Limits.time: self = .to(code)
        default: return nil
        }
    }

    /// The number that expresses the change in include/backhaul.h.
    public var code: Int64 {
        switch self {
        case .unchanged: -1
        case .to(let time): time ?? 0
        }
    }

    func applied(to time: Int64?) -> Int64? {
        switch self {
        case .unchanged: time
        case .to(let time): time
        }
    }
}

/// The changes of `bh_tasks_reschedule`.
public struct Rescheduling: Equatable, Sendable {
    public var earliest: StartChange
    public var latest: StartChange

    public init(earliest: StartChange = .unchanged, latest: StartChange = .unchanged) {
        self.earliest = earliest
        self.latest = latest
    }
}
