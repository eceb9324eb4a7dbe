internal import CBackhaul

/// A network, and the settings that a user has made for it. A *budget* limits the bytes that are moved in a day or a
/// month.
public struct Network: Hashable, Sendable {
    /// The name of the connection in NetworkManager. Without NetworkManager: the name of the network interface that has
    /// the default route. Conditions and listings use the same name.
    public var name: String
    /// Whether the network is metered, which means that data may cost money. Nil: the system's value applies.
    public var isMetered: Bool?
    /// The day on which each month of the budget begins: 1 to 28. Default: 1.
    public var monthStartsOn: Int?
    /// The budget of all sessions together on this network.
    public var budget = Budget()
    /// The kind of the network. The *engine* finds out the kind. If the present engine process has not used the
    /// network, the kind is nil. This property and the properties below it are read-only.
    public private(set) var kind: NetworkKinds?
    /// Whether the default route uses the network.
    public private(set) var isCurrent = false
    /// The bytes that were moved today. If an engine is killed, the bytes of its last seconds are not counted.
    public private(set) var usedToday: UInt64 = 0
    /// The bytes that were moved in the present month of the budget.
    public private(set) var usedThisMonth: UInt64 = 0
    /// When the present day of the budget ends, as Unix time in milliseconds.
    public private(set) var dayEndsMilliseconds: Int64?
    /// When the present month of the budget ends, as Unix time in milliseconds.
    public private(set) var monthEndsMilliseconds: Int64?

    /// Makes the settings of the network with this name. All settings have their defaults.
    public init(_ name: String) { self.name = name }

    // Unsafe: the pointers are valid, because the C library's list is released only after its items are copied.
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
