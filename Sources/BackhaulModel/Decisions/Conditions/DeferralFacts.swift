/// What decides whether tasks of a lane are held, in addition to constraints and conditions.
public struct DeferralFacts {
    /// Unix time in milliseconds.
    public var now: Int64
    /// Milliseconds since boot, to compute when a settling condition takes effect; nil: unknown.
    public var bootMilliseconds: Int64?
    /// Returns how many milliseconds local time is ahead of Unix time, at a Unix time in milliseconds.
    public var localOffsetMilliseconds: (Int64) -> Int64
    /// Whether the origin is this machine (`Connectivity.isLoopback`), so that no condition of the network matters.
    public var isLocal: Bool
    /// Whether the origin is reached without the uplink (`Connectivity.needsNoUplink`), so that a portal does not
    /// matter.
    public var needsNoUplink: Bool
    /// Whether an origin beyond the uplink has responded since the network last changed (`UplinkWatch.isProven`). Then
    /// the system's report of a dead uplink is wrong: many networks block the servers that the system uses for its
    /// check.
    public var isUplinkProven: Bool
    /// The reasons for which tasks of this lane are held at this moment. These tasks continue only with the margins of
    /// `DeferralDecision`.
    public var held: Set<WaitReason>
    /// The budgets of the session and the network that apply now (`ByteUsage.budgets`).
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
