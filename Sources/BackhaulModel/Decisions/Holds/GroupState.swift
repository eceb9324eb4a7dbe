/// The last decision about a constraint group: whether its tasks may run.
public struct GroupState: Equatable, Sendable {
    public let constraints: EffectiveConstraints
    /// The conditions that must be read before a task of the group starts.
    public private(set) var needed: ConditionSet = []
    /// Whether a needed condition was not read yet, or is unknown for a moment. Until all needed conditions are read,
    /// the group's running tasks continue, and its other tasks do not start.
    public private(set) var isUndecided = true
    /// The reasons for which the tasks may not run, with the most important first. Empty if they may run.
    public private(set) var holds: [Hold]
    /// The next time at which the wall clock may change the decision, in Unix milliseconds.
    public private(set) var nextChange: Int64?
    /// Whether a budget may hold the group.
    public private(set) var hasBudgets = false

    /// - holds: the holds before a change of the constraints.
    public init(constraints: EffectiveConstraints, holds: [Hold] = []) {
        self.constraints = constraints
        self.holds = holds
    }

    public var mayStart: Bool { !isUndecided && holds.isEmpty }
    public var reasons: Set<WaitReason> { Set(holds.map(\.reason)) }
    /// Whether an uplink probe may release the group.
    public var isHeldOnlyByUplink: Bool { reasons == [.portal] }

    public static func needed(
        _ group: ConstraintGroup, _ constraints: EffectiveConstraints, hasBudgets: Bool
    ) -> ConditionSet {
        let needed = constraints.neededAtStart(isLocal: group.isLocal)
        // How many bytes of a budget are left depends on the network.
        return hasBudgets && !group.isLocal ? needed.union(.network) : needed
    }

    /// Returns the decision by these facts. `uplink`: the state of the uplink.
    public func judged(_ group: ConstraintGroup, by facts: HoldFacts, uplink: UplinkWatch) -> GroupState {
        var state = self
        state.hasBudgets = !group.isLocal && facts.budgets[group.session] != nil
        state.needed = Self.needed(group, constraints, hasBudgets: state.hasBudgets)
        state.isUndecided = !state.needed.isSubset(of: facts.read)
        if state.isUndecided { return state }
        state.holds = presentHolds(of: group, by: facts, uplink: uplink)
        state.nextChange = DeferralDecision.nextChange(constraints, deferralFacts(of: group, facts, uplink))
        return state
    }

    /// The holds by these facts, even if conditions were not read yet.
    public func presentHolds(of group: ConstraintGroup, by facts: HoldFacts, uplink: UplinkWatch) -> [Hold] {
        var holds = DeferralDecision.holds(constraints, facts.conditions, deferralFacts(of: group, facts, uplink))
        if group.networkScope == .uplink, !holds.contains(where: { $0.reason == .portal }),
            let hold = uplink.hold(now: facts.boot, unix: facts.wall)
        {
            holds.append(hold)
        }
        return holds
    }

    private func deferralFacts(
        of group: ConstraintGroup, _ facts: HoldFacts, _ uplink: UplinkWatch
    ) -> DeferralFacts {
        DeferralFacts(
            now: facts.wall, bootMilliseconds: facts.boot, localOffsetMilliseconds: facts.localOffsetMilliseconds,
            isLocal: group.isLocal, needsNoUplink: group.networkScope == .localNetwork, isUplinkProven: uplink.isProven,
            held: reasons, budgets: group.isLocal ? [] : facts.budgets[group.session] ?? [])
    }

    /// What follows when the decision about the group was `former` and is now `self`. `lanes`: the lanes in which tasks
    /// of the group may wait.
    public func actions(
        _ group: ConstraintGroup, after former: GroupState, lanes: @autoclosure () -> Set<LaneID>
    ) -> [HoldAction] {
        let tasks = HeldTasks.constraintGroup(group)
        if isUndecided { return former.isUndecided ? [] : [.unload(tasks)] }
        guard let first = holds.first else {
            if former.mayStart { return [] }
            return (former.holds.isEmpty ? [] : [.endWait(tasks)]) + [.load(lanes())]
        }
        var actions: [HoldAction] = []
        if former.holds.first?.reason != first.reason { actions.append(.beginWait(tasks, first)) }
        // A probe tests one reason. If another reason begins to hold the group, the probe stops, too.
        if !reasons.isSubset(of: former.reasons) { actions.append(.stop(tasks, for: first.reason)) }
        return actions
    }
}
