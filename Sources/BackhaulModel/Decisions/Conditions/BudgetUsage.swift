/// One budget that applies to tasks now, and how much of it is used. A budget is the number of bytes that may be moved
/// in a day or month.
public struct BudgetUsage: Hashable, Sendable {
    /// The owner of the budget.
    public enum Owner: Hashable, Sendable {
        case session
        /// All sessions together, on one network.
        case network
    }
    public var owner: Owner
    /// The name of the network on which the bytes were moved.
    public var network: String
    public var period: BudgetPeriod
    /// The budget in bytes. If it is 0, no byte may be moved.
    public var limit: UInt64
    public var used: UInt64

    public init(_ owner: Owner, network: String, period: BudgetPeriod, limit: UInt64, used: UInt64) {
        self.owner = owner
        self.network = network
        self.period = period
        self.limit = limit
        self.used = used
    }

    public var isUsedUp: Bool { used >= limit }
    public var left: UInt64 { isUsedUp ? 0 : limit - used }

    /// Whether the budget is too small for the expected bytes, even if no byte of it is used.
    func neverFits(_ expected: UInt64?) -> Bool { limit == 0 || limit < expected ?? 0 }

    /// The hold (the reason why tasks may not run) that this budget causes. `expected`: the bytes that a single task
    /// will move; nil if the budget is used up, so that no task may run.
    func hold(expected: UInt64?) -> Hold {
        let (adjective, this) = period.kind == .day ? ("daily", "today's") : ("monthly", "this month's")
        let whose =
            owner == .session
            ? "the \(adjective) limit of its session" : "the \(adjective) limit of the network \(network)"
        let amount = QuantityFormatter.bytes(limit)
        if limit == 0 {
            return Hold(.budget, "\(whose) is 0 B, so nothing may be moved until the limit is larger")
        }
        if let expected, expected > limit {
            return Hold(
                .budget,
                "the transfer expects \(QuantityFormatter.bytes(expected)), more than \(whose) of \(amount), "
                    + "and waits until the limit is larger")
        }
        let facts =
            if let expected {
                "the transfer expects \(QuantityFormatter.bytes(expected)), but only \(QuantityFormatter.bytes(left)) "
                    + "of \(this) \(amount) are left on \(network)"
            } else if owner == .session {
                "the session has used \(QuantityFormatter.bytes(used)) of \(this) \(amount) on \(network)"
            } else {
                "\(QuantityFormatter.bytes(used)) of \(this) \(amount) are used on \(network)"
            }
        return Hold(.budget, "\(facts); \(next)", nextCheckMilliseconds: period.endMilliseconds)
    }

    private var next: String {
        switch period.kind {
        case .day: return "the next day begins at midnight"
        case .month:
            let date = LocalTime.date(period.nextDay)
            return "the next month begins on \(date.day) \(LocalTime.months[date.month - 1])"
        }
    }
}
