public import BackhaulModel

/// What tasks of a session have stated for themselves, as a row.
public struct StoredConstraints: Equatable, Sendable {
    public var id: ConstraintsID
    public var session: SessionID
    public var constraints: TaskConstraints

    public init(id: ConstraintsID, session: SessionID, constraints: TaskConstraints) {
        self.id = id
        self.session = session
        self.constraints = constraints
    }
}

/// What an enqueue has made.
public struct EnqueuedTasks: Equatable, Sendable {
    /// What became of each request, in order.
    public var results: [Enqueued] = []
    /// That got tasks which may run.
    public var lanes: Set<LaneID> = []
    /// When the next delayed task is due, in milliseconds of the boot clock; nil: no new one is delayed.
    public var nextDue: Int64?
    /// When the next latest start comes, in Unix milliseconds; nil: no new one has any.
    public var nextLatestStart: Int64?

    public init(
        results: [Enqueued] = [], lanes: Set<LaneID> = [], nextDue: Int64? = nil, nextLatestStart: Int64? = nil
    ) {
        self.results = results
        self.lanes = lanes
        self.nextDue = nextDue
        self.nextLatestStart = nextLatestStart
    }
}

/// Tasks that state something else now: their latest start has come, or somebody has said so.
public struct RestatedTasks: Equatable, Sendable {
    /// Their lanes.
    public var lanes: Set<LaneID> = []
    public var tasks: [TaskID: ConstraintsID] = [:]
    /// What they state from now on.
    public var constraints: [ConstraintsID: StoredConstraints] = [:]
    /// When the next comes, in Unix milliseconds; it may have come already.
    public var next: Int64?
}

/// How many tasks of one lane wait for their turn with the same constraints.
public struct WaitingCount: Equatable, Sendable {
    public var session: SessionID
    public var constraints: ConstraintsID
    public var lane: LaneID
    public var count: UInt64
}
