internal import CBackhaul

/// A network, and what its administrator says of it.
public struct Network: Hashable, Sendable {
    /// NetworkManager's connection, else the interface of the default route; as conditions and listings show it.
    public var name: String
    /// In place of what the system says; nil: as the system says.
    public var isMetered: Bool?
    /// Day on which a month of the budget begins, 1 to 28. Default 1.
    public var monthStartsOn: Int?
    /// Bytes that all sessions may move on it in a day of local time, both ways; 0: none. Default no limit.
    public var dailyBudget: UInt64?
    /// The same, in a month that begins on `monthStartsOn`.
    public var monthlyBudget: UInt64?
    /// From here on only read. Nil when it was not seen by this engine.
    public private(set) var kind: NetworkKinds?
    /// The default route leads there.
    public private(set) var isCurrent = false
    /// Bytes; an engine that is killed forgets those of its last seconds.
    public private(set) var usedToday: UInt64 = 0
    public private(set) var usedThisMonth: UInt64 = 0
    /// Unix time in milliseconds.
    public private(set) var dayEndsMilliseconds: Int64?
    public private(set) var monthEndsMilliseconds: Int64?

    public init(_ name: String) { self.name = name }

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ network: bh_network) {
        name = text(network.name) ?? ""
        isMetered = choice(network.metered)
        monthStartsOn = network.month_starts_on == 0 ? nil : Int(network.month_starts_on)
        dailyBudget = budget(network.daily_budget)
        monthlyBudget = budget(network.monthly_budget)
        kind = network.kind > 0 ? NetworkKinds(rawValue: UInt32(network.kind)) : nil
        isCurrent = network.is_current != 0
        usedToday = network.used_today
        usedThisMonth = network.used_this_month
        dayEndsMilliseconds = network.day_ends_ms == 0 ? nil : network.day_ends_ms
        monthEndsMilliseconds = network.month_ends_ms == 0 ? nil : network.month_ends_ms
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_network {
        var value = bh_network()
        value.struct_size = MemoryLayout<bh_network>.size
        value.name = try arena.string(name, "the network's name")
        value.metered = choice(isMetered)
        value.month_starts_on = try positive(monthStartsOn, "monthStartsOn")
        value.daily_budget = budget(dailyBudget)
        value.monthly_budget = budget(monthlyBudget)
        return value
    }
}

/// In C 0 stands for no limit, and the greatest number for no byte at all.
func budget(_ field: UInt64) -> UInt64? {
    switch field {
    case 0: nil
    case UInt64.max: 0
    default: field
    }
}

func budget(_ bytes: UInt64?) -> UInt64 {
    switch bytes {
    case nil: 0
    case 0: UInt64.max
    case let bytes?: min(bytes, UInt64.max - 1)
    }
}
