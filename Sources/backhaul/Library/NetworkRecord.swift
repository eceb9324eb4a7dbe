import CBackhaul

/// A network, what its administrator says of it, and what was moved on it.
struct NetworkRecord {
    var name: String
    /// BH_YES or BH_NO in place of what the system says.
    var metered: Int32 = 0
    var monthStartsOn: UInt32 = 1
    var daily = Budget(0)
    var monthly = Budget(0)
    var kind: UInt32 = 0
    var isCurrent = false
    var usedToday: UInt64 = 0
    var usedThisMonth: UInt64 = 0
    /// Unix times in milliseconds, or 0.
    var dayEnds: Int64 = 0
    var monthEnds: Int64 = 0

    /// Of which nothing is said yet.
    init(name: String) { self.name = name }

    init(_ network: bh_network) {
        name = text(network.name) ?? ""
        metered = network.metered
        monthStartsOn = network.month_starts_on
        daily = Budget(network.budget.daily)
        monthly = Budget(network.budget.monthly)
        kind = network.kind
        isCurrent = network.is_current
        usedToday = network.used_today
        usedThisMonth = network.used_this_month
        dayEnds = network.day_ends_ms
        monthEnds = network.month_ends_ms
    }

    func network(_ arena: CStringArena) -> bh_network {
        var network = bh_network()
        network.struct_size = MemoryLayout<bh_network>.size
        network.name = arena.string(name)
        network.metered = metered
        network.month_starts_on = monthStartsOn
        network.budget.daily = daily.field
        network.budget.monthly = monthly.field
        return network
    }

    var kindWord: String? { Names.words(kind, Names.networks).first }

    var json: JSON {
        func time(_ milliseconds: Int64) -> JSON { milliseconds == 0 ? .null : .integer(milliseconds) }
        return .object([
            ("name", .string(name)),
            ("metered", Int(metered) == BH_DEFAULT ? .null : .bool(Int(metered) == BH_YES)),
            ("month_starts_on", .unsigned(UInt64(monthStartsOn))), ("daily_budget", daily.json),
            ("monthly_budget", monthly.json), ("kind", .optional(kindWord)), ("is_current", .bool(isCurrent)),
            ("used_today", .unsigned(usedToday)), ("used_this_month", .unsigned(usedThisMonth)),
            ("day_ends_ms", time(dayEnds)), ("month_ends_ms", time(monthEnds)),
        ])
    }
}
