internal import CBackhaul

/// A network and its administrator's settings.
public struct Network: Hashable, Sendable {
    /// NetworkManager's connection, else the interface of the default route; as conditions and lists show it.
    public var name: String
    /// In place of what the system says; nil: as the system says.
    public var isMetered: Bool?
    /// First day of the budget's month: 1 to 28. Default 1.
    public var monthStartsOn: Int?
    /// Of all sessions together.
    public var budget = Budget()
    /// Read only, as all that follow. Nil when this engine has not seen it.
    public private(set) var kind: NetworkKinds?
    /// The default route uses it.
    public private(set) var isCurrent = false
    /// Bytes; an engine that is killed loses the count of its last seconds.
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
        monthStartsOn = number(network.month_starts_on)
        budget = Budget(network.budget)
        kind = nonzero(network.kind).map { NetworkKinds(rawValue: $0) }
        isCurrent = network.is_current
        usedToday = network.used_today
        usedThisMonth = network.used_this_month
        dayEndsMilliseconds = nonzero(network.day_ends_ms)
        monthEndsMilliseconds = nonzero(network.month_ends_ms)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_network {
        var value = bh_network()
        value.struct_size = MemoryLayout<bh_network>.size
        value.name = try arena.string(name, "the network's name")
        value.metered = choice(isMetered)
        value.month_starts_on = try positive(monthStartsOn, "monthStartsOn")
        value.budget = budget.value
        return value
    }
}
