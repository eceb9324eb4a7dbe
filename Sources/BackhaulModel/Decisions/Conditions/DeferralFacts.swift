/// What, beside constraints and conditions, decides whether tasks of a lane are held back.
public struct DeferralFacts {
    /// Unix time in milliseconds.
    public var now: Int64
    /// Milliseconds since boot, for the end of what is settling; nil: not told.
    public var bootMilliseconds: Int64?
    /// Milliseconds of local time minus those of Unix time, at a Unix time in milliseconds.
    public var localOffsetMilliseconds: (Int64) -> Int64
    /// The origin is this machine (`Connectivity.isLoopback`): nothing about the network matters.
    public var isLocal: Bool
    /// The origin is reached without the uplink (`Connectivity.needsNoUplink`): a portal does not matter.
    public var needsNoUplink: Bool
    /// Some origin beyond the uplink has answered since the network was last changed (`UplinkWatch.isProven`): whoever
    /// says that the uplink is dead is wrong. Networks that close the way to the servers which the system asks are
    /// common.
    public var isUplinkProven: Bool
    /// Why tasks of this lane are held at this moment. What was held goes on only with some room to spare.
    public var held: Set<WaitReason>
    /// Those of the session and the network that hold now (`ByteUsage.budgets`).
    public var budgets: [BudgetUse]

    public init(
        now: Int64, bootMilliseconds: Int64? = nil,
        localOffsetMilliseconds: @escaping (Int64) -> Int64 = { _ in 0 }, isLocal: Bool = false,
        needsNoUplink: Bool = false, isUplinkProven: Bool = false, held: Set<WaitReason> = [], budgets: [BudgetUse] = []
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
