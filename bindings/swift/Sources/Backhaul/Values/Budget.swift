internal import CBackhaul

/// The number of bytes that may be moved on one network, in both directions together. The budget of a network limits
/// all sessions together. The budget of a session limits this session on each network. A property that is nil means no
/// limit. A property that is 0 means that no byte may be moved.
public struct Budget: Hashable, Sendable {
    /// The budget of a day in local time.
    public var daily: UInt64?
    /// The budget of a month. For a network, a month begins on the day `Network.monthStartsOn`. For a session, a month
    /// begins on the first day of the calendar month.
    public var monthly: UInt64?

    /// Makes a budget. Without arguments, it has no limits.
    public init(daily: UInt64? = nil, monthly: UInt64? = nil) {
        self.daily = daily
        self.monthly = monthly
    }

    init(_ value: bh_budget) { self.init(daily: Budget.bytes(value.daily), monthly: Budget.bytes(value.monthly)) }

    var value: bh_budget { bh_budget(daily: Budget.field(daily), monthly: Budget.field(monthly)) }

    private static func bytes(_ field: UInt64) -> UInt64? { field == nothing ? 0 : nonzero(field) }

    private static func field(_ bytes: UInt64?) -> UInt64 {
        switch bytes {
        case nil: 0
        case 0: nothing
        case let bytes?: min(bytes, nothing - 1)
        }
    }

    private static let nothing = UInt64(BH_BUDGET_NOTHING)
}
