/// The state of a task, which is an upload or a download: `BH_TASK_…`.
public enum TaskState: Int32, Sendable, CaseIterable {
    case waiting = 1
    case running = 2
    case suspended = 3
    case succeeded = 4
    case failed = 5
    case cancelled = 6

    public var hasEnded: Bool { self == .succeeded || self == .failed || self == .cancelled }
}

/// A set of task states, as the bits `1 << BH_TASK_…`.
public struct TaskStates: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public init(_ state: TaskState) { rawValue = 1 << UInt32(state.rawValue) }

    public static let all = TaskStates(TaskState.allCases.map(TaskStates.init))
    public static let live: TaskStates = [
        TaskStates(.waiting), TaskStates(.running), TaskStates(.suspended),
    ]
}

/// Why a task does not progress: `BH_REASON_…`.
public enum WaitReason: Int32, Sendable, CaseIterable {
    case none = 0
    case slot = 1
    case suspended = 2
    case retry = 3
    case connecting = 4
    case stalled = 5
    case disk = 6
    case diskFull = 7
    case credential = 8
    case connectivity = 9
    case rate = 10
    case power = 11
    case battery = 12
    case heat = 13
    case pressure = 14
    case metered = 15
    case network = 16
    case throughput = 17
    case earliestStart = 18
    case quietHours = 19
    case budget = 20
    case sleep = 21
    case portal = 22
    case storage = 23
    case clock = 24
    case origin = 25
    case dependency = 26
}

/// A task as listings show it: `bh_task`.
public struct TaskInfo: Equatable, Sendable {
    public var id: TaskID
    public var round: UInt64
    public var state: TaskState
    public var reason: WaitReason
    /// One sentence about the reason; nil if the task progresses or has ended.
    public var reasonText: String?
    /// The time of the next attempt (run of the task) in Unix milliseconds; 0 if no time is set.
    public var nextAttemptMilliseconds: Int64
    public var url: String
    public var destinationPath: String?
    public var idempotencyKey: String?
    public var userData: [UInt8]?
    public var priority: Int32
    /// The failure of the task, or of its last failed attempt.
    public var failure: Failure?
    public var httpStatus: Int32
    public var attempts: UInt32
    /// How many bytes of the file have arrived.
    public var offset: UInt64
    public var size: UInt64?
    public var bytesPerSecond: UInt64
    public var enqueuedMilliseconds: Int64
    public var kind = TaskKind.download
    public var group: String?
    /// How many bytes of the request's body were sent in this attempt.
    public var bodySent: UInt64 = 0
    public var bodySize: UInt64 = 0
    /// When the task ended, in Unix milliseconds; 0 if it has not ended.
    public var endedMilliseconds: Int64 = 0
    /// The path of the file of a succeeded download.
    public var path: String?
    /// The earliest start in Unix milliseconds; nil: none.
    public var earliestStartMilliseconds: Int64?
    public var latestStartMilliseconds: Int64?
    public var expectedBytesReceived: UInt64?
    public var expectedBytesSent: UInt64?
    /// The constraints that the task itself states; nil: none.
    public var constraints: Boxed<Constraints>?
    /// The task's own limit in bytes per second; nil: none.
    public var rateLimit: UInt64?

    public init(
        id: TaskID, round: UInt64, state: TaskState, reason: WaitReason, reasonText: String?,
        nextAttemptMilliseconds: Int64, url: String, destinationPath: String?, idempotencyKey: String?,
        userData: [UInt8]?, priority: Int32, failure: Failure?, httpStatus: Int32, attempts: UInt32, offset: UInt64,
        size: UInt64?, bytesPerSecond: UInt64, enqueuedMilliseconds: Int64
    ) {
        self.id = id
        self.round = round
        self.state = state
        self.reason = reason
        self.reasonText = reasonText
        self.nextAttemptMilliseconds = nextAttemptMilliseconds
        self.url = url
        self.destinationPath = destinationPath
        self.idempotencyKey = idempotencyKey
        self.userData = userData
        self.priority = priority
        self.failure = failure
        self.httpStatus = httpStatus
        self.attempts = attempts
        self.offset = offset
        self.size = size
        self.bytesPerSecond = bytesPerSecond
        self.enqueuedMilliseconds = enqueuedMilliseconds
    }
}

/// The tasks that a listing or a command selects: `bh_task_selection`.
public struct TaskSelection: Equatable, Sendable {
    /// The ids of the selected tasks; empty: all tasks.
    public var ids: [TaskID] = []
    public var states: TaskStates = .all
    /// The group of the selected tasks; nil: all tasks, with and without a group.
    public var group: String?
    public init(ids: [TaskID] = [], states: TaskStates = .all, group: String? = nil) {
        self.ids = ids
        self.states = states
        self.group = group
    }
}

/// What a command changes about the selected tasks: `bh_tasks_cancel`, `…_suspend`, `…_resume`, `…_set_priority`.
public enum TaskControl: Equatable, Sendable {
    case cancel
    case suspend
    case setAside
    case resume
    case setPriority(Int32)
    /// Sets the rate limit of each task, in bytes per second; nil: no limit.
    case setRate(UInt64?)
    /// Replaces the constraints that each task states.
    case setConstraints(Constraints)
    case reschedule(Rescheduling)
}
