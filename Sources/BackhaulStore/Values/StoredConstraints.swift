public import BackhaulModel

/// A row of *constraints*, which are demands on the system, such as external power. All tasks of a session that state
/// the same constraints share one row.
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

/// The result of an enqueue, which stores requests as tasks.
public struct EnqueuedTasks: Equatable, Sendable {
    /// The result of each request, in the order of the requests.
    public var results: [Enqueued] = []
    /// The lanes of the new tasks that are not suspended.
    public var lanes: Set<LaneID> = []
    /// When the store's next delayed task is due, in milliseconds of the boot clock; nil if no new task is delayed.
    public var nextDue: Int64?
    /// The earliest of the latest starts of all tasks in the store, in Unix milliseconds; nil if no new task has a
    /// latest start. After the latest start of a task, no preset (such as `discretionary`) delays the task.
    public var nextLatestStart: Int64?
    /// As in `Change`.
    public var withdrawsEnd = false

    public init(
        results: [Enqueued] = [], lanes: Set<LaneID> = [], nextDue: Int64? = nil, nextLatestStart: Int64? = nil,
        withdrawsEnd: Bool = false
    ) {
        self.results = results
        self.lanes = lanes
        self.nextDue = nextDue
        self.nextLatestStart = nextLatestStart
        self.withdrawsEnd = withdrawsEnd
    }
}

/// Tasks whose constraints changed, either by a command or because their latest start has come.
public struct RestatedTasks: Equatable, Sendable {
    /// The lanes of the tasks.
    public var lanes: Set<LaneID> = []
    public var tasks: [TaskID: ConstraintsID] = [:]
    /// The rows of the new constraints.
    public var constraints: [ConstraintsID: StoredConstraints] = [:]
    /// The earliest of the latest starts that tasks still have, in Unix milliseconds. It may be in the past, because
    /// one call changes a limited number of tasks.
    public var next: Int64?
}

/// The number of ready tasks (waiting tasks without a delay) that have the same constraints and the same lane (session
/// and server).
public struct WaitingCount: Equatable, Sendable {
    public var session: SessionID
    public var constraints: ConstraintsID
    public var lane: LaneID
    public var count: UInt64
}
