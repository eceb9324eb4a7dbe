internal import CBackhaul

/// A change of the earliest or latest start of a task: see `Session.reschedule`.
public enum StartChange: Hashable, Sendable {
    case unchanged
    /// Removes it.
    case none
    /// Unix time in milliseconds.
    case at(Int64)

    var value: Int64 {
        switch self {
        case .unchanged: Int64(BH_TIME_UNCHANGED)
        case .none: 0
        case .at(let milliseconds): milliseconds
        }
    }
}
