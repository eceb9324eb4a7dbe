internal import CBackhaul

/// A network and its administrator's settings.
public struct Network: Hashable, Sendable {
    /// The name that conditions and lists show: NetworkManager's connection, else the interface of the default route.
    public var name: String
    /// Whether the network is metered, in place of the system's value; nil: the system's value.
    public var isMetered: Bool?
    /// The first day of the budget's month: 1 to 28. Default: 1.
    public var monthStartsOn: Int?
    /// The budget of all sessions together.
    public var budget = Budget()
    /// The network's kind; nil if this engine has not seen the network. This property and the following are read only.
    public private(set) var kind: NetworkKinds?
    /// Whether the default route uses the network.
    public private(set) var isCurrent = false
    /// The bytes moved today. A killed engine does not count the bytes of its last seconds.
    public private(set) var usedToday: UInt64 = 0
    public private(set) var usedThisMonth: UInt64 = 0
    /// When the present day of the budget ends, as Unix time in milliseconds.
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
