/// What the engine knows when it decides about holds.
public struct HoldFacts {
    /// The present Unix time in milliseconds.
    public var wall: Int64
    /// The present time in milliseconds since boot.
    public var boot: Int64
    /// Returns, for a Unix time in milliseconds, how many milliseconds local time is ahead of this Unix time.
    public var localOffsetMilliseconds: (Int64) -> Int64 = { _ in 0 }
    /// The conditions after `ConditionsFilter`.
    public var conditions = Conditions()
    /// The conditions that have been read.
    public var read = ConditionSet.all
    /// The budgets of each session that has budgets. The list is empty while the network is unknown.
    public var budgets: [SessionID: [BudgetUsage]] = [:]
    public var sessions: [SessionID: SessionConfiguration] = [:]
    public var lanes: [LaneID: Lane] = [:]
    /// The lane groups with running or ready tasks.
    public var active: Set<LaneGroup> = []
    /// Whether the limits permit one more task of the lane to run.
    public var hasSlot: (Lane) -> Bool = { _ in true }

    public init(wall: Int64, boot: Int64) {
        self.wall = wall
        self.boot = boot
    }
}
