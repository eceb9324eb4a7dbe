internal import BackhaulModel
internal import BackhaulStore

/// The tasks of one session with the same constraints and the same network scope. The engine judges these tasks by one
/// decision, and holds and releases them together.
struct ConstraintGroup: Hashable, Sendable {
    var session: SessionID
    var constraints: ConstraintsID
    var networkScope: NetworkScope

    var isLocal: Bool { networkScope == .loopback }
}

/// The tasks of a lane that have the same constraints. Their throughput is measured together.
struct LaneGroup: Hashable, Sendable {
    var lane: LaneID
    var constraints: ConstraintsID

    init(lane: LaneID, constraints: ConstraintsID) {
        self.lane = lane
        self.constraints = constraints
    }

    init(of task: StoredTask) { self.init(lane: task.lane, constraints: task.constraints) }

    init(of task: RunningTask) { self.init(lane: task.lane, constraints: task.constraints) }
}

/// The judgement of a constraint group.
struct GroupState {
    let constraints: EffectiveConstraints
    /// Conditions that must be read before a task of the group starts.
    var needed: ConditionSet = []
    /// Whether a needed condition was not read yet, or is unknown for a moment.
    var isUndecided = true
    /// The holds of the group; nil if no hold stops its tasks.
    var held: Held?
    /// The time of the last judgement, in Unix milliseconds.
    var decidedAt: Int64?

    var mayStart: Bool { !isUndecided && held == nil }
    /// Whether the uplink is the only reason of the hold. If so, an uplink probe may release the group.
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
    /// - excludesProbes: true if the lane was slow before. In this case, the slow probe of the lane continues.
    case laneGroup(LaneGroup, excludesProbes: Bool)
}
