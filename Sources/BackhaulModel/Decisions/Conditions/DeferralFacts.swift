/// The facts that decide, together with constraints and conditions, whether tasks of a lane are held (may not run).
/// Conditions are the present state of the system.
public struct DeferralFacts {
    /// The present Unix time in milliseconds.
    public var now: Int64
    /// The present time in milliseconds since boot; nil if it is unknown. With this time, the rest of a *settling
    /// period* is computed. During this period, a better condition does not release tasks yet.
    public var bootMilliseconds: Int64?
    /// Returns, for a Unix time in milliseconds, how many milliseconds local time is ahead of this Unix time.
    public var localOffsetMilliseconds: (Int64) -> Int64
    /// Whether the origin is this machine (`Connectivity.isLoopback`). If so, no condition of the network matters.
    public var isLocal: Bool
    /// Whether the origin is reached without the uplink, which is the route to the internet
    /// (`Connectivity.needsNoUplink`). If so, a portal, which is a network's login page, does not matter.
    public var needsNoUplink: Bool
    /// Whether an origin beyond the uplink has responded since the network last changed (`UplinkWatch.isProven`). If
    /// so, the system's report of a dead uplink is wrong. Such wrong reports occur because many networks block the
    /// servers with which the system checks the uplink.
    public var isUplinkProven: Bool
    /// The reasons for which tasks of this lane are held at this moment. If such a reason is the battery or pressure,
    /// the tasks continue only when the condition is better than its limit by the margin in `DeferralDecision`.
    public var held: Set<WaitReason>
    /// The budgets (limits of the bytes in a day or month) that apply now: the budgets of the session and of the
    /// network (`ByteUsage.budgets`).
    public var budgets: [BudgetUsage]

    public init(
        now: Int64, bootMilliseconds: Int64? = nil,
        localOffsetMilliseconds: @escaping (Int64) -> Int64 = { _ in 0 }, isLocal: Bool = false,
        needsNoUplink: Bool = false, isUplinkProven: Bool = false, held: Set<WaitReason> = [],
        budgets: [BudgetUsage] = []
    ) {
        self.now = now
        self.bootMilliseconds = bootMilliseconds
        self.localOffsetMilliseconds = localOffsetMilliseconds
        self.isLocal = isLocal
        self.needsNoUplink = needsNoUplink
        self.isUplinkProven = isUplinkProven
        self.held = held
        self.budgets = budgets
    }
}
