import CBackhaul

/// A network with its settings and the bytes moved on it.
struct NetworkRecord {
    var name: String
    /// Whether the network's data may cost money. BH_YES and BH_NO override the system's report. BH_DEFAULT keeps the
    /// system's report.
    var metered: Int32 = 0
    var monthStartsOn: UInt32 = 1
    var daily = Budget(0)
    var monthly = Budget(0)
    var kind: UInt32 = 0
    var isCurrent = false
    var usedToday: UInt64 = 0
    var usedThisMonth: UInt64 = 0
    /// The end of the present day in Unix milliseconds; 0 if the record is not from the engine. `monthEnds` is the end
    /// of the network's present month in the same form.
    var dayEnds: Int64 = 0
    var monthEnds: Int64 = 0

    /// A network without settings.
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
        network.budget = budget
        return network
    }

    private var budget: bh_budget { bh_budget(daily: daily.field, monthly: monthly.field) }

    var kindWord: String? { Names.words(kind, Names.networks).first }

    var json: JSON {
        .record(of: bh_network.self, [
            ("name", .string(name)), ("metered", .choice(metered)), ("month_starts_on", .number(monthStartsOn)),
            ("budget", Budget.json(budget)), ("kind", .optional(kindWord)), ("is_current", .bool(isCurrent)),
            ("used_today", .number(usedToday)), ("used_this_month", .number(usedThisMonth)),
            ("day_ends_ms", .number(unlessZero: dayEnds)), ("month_ends_ms", .number(unlessZero: monthEnds)),
        ])
    }
}
