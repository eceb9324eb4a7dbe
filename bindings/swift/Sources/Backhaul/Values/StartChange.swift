internal import CBackhaul

/// What becomes of the earliest or latest start of a task: see `Session.reschedule`.
public enum StartChange: Hashable, Sendable {
    case unchanged
    /// None any more.
    case none
    /// Unix time in milliseconds.
    case at(Int64)

    var value: Int64 {
        switch self {
        case .unchanged: Int64(BH_START_UNCHANGED)
        case .none: 0
        case .at(let milliseconds): milliseconds
        }
    }
}
