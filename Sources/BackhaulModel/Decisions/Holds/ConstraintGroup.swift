/// The tasks of one session with the same constraints and the same network scope. The engine makes one decision for
/// these tasks, and holds and releases them together.
public struct ConstraintGroup: Hashable, Comparable, Sendable {
    public let session: SessionID
    public let constraints: ConstraintsID
    public let networkScope: NetworkScope

    public init(session: SessionID, constraints: ConstraintsID, networkScope: NetworkScope) {
        self.session = session
        self.constraints = constraints
        self.networkScope = networkScope
    }

    public init(_ constraints: ConstraintsID, in lane: Lane) {
        self.init(session: lane.session, constraints: constraints, networkScope: lane.networkScope)
    }

    public var isLocal: Bool { networkScope == .loopback }

    /// The order has no meaning. It only makes decisions repeatable.
    public static func < (one: Self, other: Self) -> Bool {
        (one.session.rawValue, one.constraints.rawValue, one.networkScope)
            < (other.session.rawValue, other.constraints.rawValue, other.networkScope)
    }
}

/// The tasks of a lane that have the same constraints. The throughput of a lane group is measured as a whole.
public struct LaneGroup: Hashable, Comparable, Sendable {
    public let lane: LaneID
    public let constraints: ConstraintsID

    public init(lane: LaneID, constraints: ConstraintsID) {
        self.lane = lane
        self.constraints = constraints
    }

    /// The order has no meaning. It only makes decisions repeatable.
    public static func < (one: Self, other: Self) -> Bool {
        (one.lane.rawValue, one.constraints.rawValue) < (other.lane.rawValue, other.constraints.rawValue)
    }
}

/// The tasks that one hold stops.
public enum HeldTasks: Hashable, Sendable {
    case constraintGroup(ConstraintGroup)
    case laneGroup(LaneGroup)

    /// Whether a task of these groups is among the tasks.
    public func contains(_ key: LaneGroup, in group: ConstraintGroup) -> Bool {
        switch self {
        case .constraintGroup(let held): held == group
        case .laneGroup(let held): held == key
        }
    }
}

/// What a probe tests.
public enum ProbeKind: Equatable, Sendable {
    /// Whether a slow lane is faster now.
    case slow
    /// Whether the uplink works.
    case uplink
}

/// What follows from a decision about holds.
public enum HoldAction: Equatable, Sendable {
    /// The largest number of wait records of single lanes for one reason. The store keeps the newest 1,000 records of a
    /// session, and a hold of many lanes must not evict all other records.
    public static let recordLimit = 64

    /// The ready tasks among these tasks return to the store.
    case unload(HeldTasks)
    /// The ready tasks among these tasks return to the store, and the running tasks stop. `sparesProbe`: the running
    /// probe of these tasks continues.
    case stop(HeldTasks, for: WaitReason, sparesProbe: Bool = false)
    /// Tasks of these lanes may run again.
    case load(Set<LaneID>)
    /// The tasks wait for this reason from now on. `isRecorded`: whether the store gets wait records.
    case beginWait(HeldTasks, Hold, isRecorded: Bool = true)
    case endWait(HeldTasks)
    /// The first waiting task of the lane group is loaded and started as a probe.
    case loadProbe(LaneGroup, ProbeKind)
}
