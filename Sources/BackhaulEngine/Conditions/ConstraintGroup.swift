internal import BackhaulModel
internal import BackhaulStore

/// The tasks of one session with the same constraints and the same network scope. The scope is where the tasks' servers
/// are: on this machine, on the local network, or beyond it. The engine makes one decision for these tasks, and holds
/// (delays) and releases them together.
struct ConstraintGroup: Hashable, Sendable {
    var session: SessionID
    var constraints: ConstraintsID
    var networkScope: NetworkScope

    var isLocal: Bool { networkScope == .loopback }
}

/// The tasks of a lane that have the same constraints. The throughput of a lane group is measured as a whole.
struct LaneGroup: Hashable, Comparable, Sendable {
    var lane: LaneID
    var constraints: ConstraintsID

    init(lane: LaneID, constraints: ConstraintsID) {
        self.lane = lane
        self.constraints = constraints
    }

    init(of task: StoredTask) { self.init(lane: task.lane, constraints: task.constraints) }

    init(of task: RunningTask) { self.init(lane: task.lane, constraints: task.constraints) }

    static func < (left: LaneGroup, right: LaneGroup) -> Bool {
        (left.lane, left.constraints.rawValue) < (right.lane, right.constraints.rawValue)
    }
}

/// The last decision about a constraint group: whether its tasks may run.
struct GroupState {
    let constraints: EffectiveConstraints
    /// Conditions that must be read before a task of the group starts.
    var needed: ConditionSet = []
    /// Whether a needed condition was not read yet, or is unknown for a moment.
    var isUndecided = true
    /// The holds of the group: the reasons for which its tasks may not run. Nil if there is none.
    var held: Held?
    /// The time of the last judgement, in Unix milliseconds.
    var decidedAt: Int64?

    var mayStart: Bool { !isUndecided && held == nil }
    /// Whether tasks are held only because the uplink, the route to other networks, does not work. If so, an uplink
    /// probe (a task that tests this route) may release the group.
    var isHeldOnlyByUplink: Bool { held?.reasons == [.portal] }
}

/// The reasons for which tasks are held, and since when.
struct Held {
    /// The holds, with the most important first. The list is never empty.
    var holds: [Hold]
    /// The time at which the first hold began, in Unix milliseconds.
    var began: Int64
    var rows: [WaitRow]

    /// The hold that listings show.
    var first: Hold? { holds.first }
    var reasons: Set<WaitReason> { Set(holds.map(\.reason)) }
}

/// The tasks that a hold stops.
enum HeldTasks: Equatable {
    case constraintGroup(ConstraintGroup)
    /// - excludesProbes: true if the lane group was already held because it is slow. In this case, the running task
    /// that tests the speed continues.
    case laneGroup(LaneGroup, excludesProbes: Bool)
}
