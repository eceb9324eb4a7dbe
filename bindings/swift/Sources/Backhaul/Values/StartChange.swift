internal import CBackhaul

/// A change of a task's earliest or latest start, for `Session.reschedule`.
public enum StartChange: Hashable, Sendable {
    /// The start does not change.
    case unchanged
    /// The start is removed from the task.
    case removed
    /// The task gets this start, as Unix time in milliseconds.
    case at(Int64)

    var value: Int64 {
        switch self {
        case .unchanged: Int64(BH_TIME_UNCHANGED)
        case .removed: 0
        case .at(let milliseconds): milliseconds
        }
    }
}
