/// How many bytes may be received and sent on a network in a day and in a month. Nil: no limit; 0: no byte may be
/// moved.
public struct ByteBudget: Hashable, Sendable {
    public var daily: UInt64?
    public var monthly: UInt64?

    public init(daily: UInt64? = nil, monthly: UInt64? = nil) {
        self.daily = daily
        self.monthly = monthly
    }
}

/// An administrator's settings for a network: the settable fields of `bh_network`.
public struct NetworkSettings: Equatable, Sendable {
    public var name: String
    /// Whether the network counts as metered; nil: the system decides.
    public var isMetered: Bool?
    /// The day of the month on which the budget's month begins, 1 to 28.
    public var monthStartsOn: UInt8 = 1
    public var budget = ByteBudget()

    public init(name: String) { self.name = name }

    /// Whether all settings have their defaults. If so, the database needs no row for them.
    public var isDefault: Bool { self == NetworkSettings(name: name) }
}

/// A network as listings show it: `bh_network`.
public struct NetworkInfo: Equatable, Sendable {
    public var settings: NetworkSettings
    /// The kind of the network; nil if this engine has not seen the network.
    public var kind: NetworkKinds?
    public var isCurrent = false
    public var usedToday: UInt64 = 0
    public var usedThisMonth: UInt64 = 0
    /// When the day of the budget ends, in Unix milliseconds.
    public var dayEndsMilliseconds: Int64 = 0
    public var monthEndsMilliseconds: Int64 = 0

    public init(_ settings: NetworkSettings) { self.settings = settings }
}
