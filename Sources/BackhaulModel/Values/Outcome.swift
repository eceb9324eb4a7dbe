/// How a task ended. The task's event reports these values.
public struct Outcome: Equatable, Sendable {
    /// The state in which the task ended: `succeeded`, `failed` or `cancelled`.
    public var state: TaskState
    /// The failure; nil if the task succeeded.
    public var failure: Failure?
    /// The path of the complete and synced file; nil if the task did not succeed.
    public var path: String?
    public var size: UInt64 = 0
    public var response = ResponseSummary()
    public var attempts: UInt32 = 0
    /// Body bytes received in all attempts (runs of the task).
    public var bytesReceived: UInt64 = 0
    /// Body bytes sent in all attempts.
    public var bytesSent: UInt64 = 0
    /// The digest of the file, if it was computed.
    public var checksum: Checksum?

    public init(state: TaskState, failure: Failure? = nil, path: String? = nil) {
        self.state = state
        self.failure = failure
        self.path = path
    }
}

/// What the database keeps of the last response that a task received.
public struct ResponseSummary: Equatable, Sendable {
    /// The status of the response; 0 if there was no response.
    public var httpStatus: Int32 = 0
    public var finalURL: String?
    public var mediaType: String?
    /// The header fields that fit into the limits of `ResponseSummary.init(_:_:)`.
    public var headers: [HeaderField] = []
    /// The first bytes of an error body: the body of a response that was not accepted.
    public var errorBody: [UInt8]?
    /// The first bytes of the response body of a succeeded upload.
    public var responseBody: [UInt8]?
    /// Whether `responseBody` is not known to be the whole body, so no other task takes values from it. Not sent to
    /// hosts.
    public var isBodyIncomplete = false
    public init() {}
}

/// A stored message for the host: `bh_event`.
public struct Event: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case taskEnded(EndedTask)
        case sessionFinished
        /// A challenge was opened. Nil if the challenge is not open any more.
        case challenge(Challenge?)
        case groupFinished(FinishedGroup)
        /// An activity is due. The host does this work, because the activity has no request that would become a task.
        /// The text is the identifier of the activity.
        case activity(String)
    }
    public var id: EventID
    public var round: UInt64
    /// The time of the commit, in Unix milliseconds.
    public var timeMilliseconds: Int64
    public var kind: Kind

    public init(id: EventID, round: UInt64, timeMilliseconds: Int64, kind: Kind) {
        self.id = id
        self.round = round
        self.timeMilliseconds = timeMilliseconds
        self.kind = kind
    }
}

/// How many tasks of a group succeeded, failed and were cancelled. A group is tasks with one common event, which
/// reports that all of them have ended. If tasks are added to the group after this event, the group gets a further
/// event. Then only the tasks that have ended since the previous event count.
public struct FinishedGroup: Equatable, Sendable {
    public var name: String
    public var succeeded: UInt64
    public var failed: UInt64
    public var cancelled: UInt64

    public init(name: String, succeeded: UInt64, failed: UInt64, cancelled: UInt64) {
        self.name = name
        self.succeeded = succeeded
        self.failed = failed
        self.cancelled = cancelled
    }
}

/// The ended task that an event reports, with the values that the host gave in the request.
public struct EndedTask: Equatable, Sendable {
    public var id: TaskID
    public var url: String
    public var idempotencyKey: String?
    public var userData: [UInt8]?
    public var outcome: Outcome
    public var kind: TaskKind
    public var group: String?

    public init(
        id: TaskID, url: String, idempotencyKey: String?, userData: [UInt8]?, outcome: Outcome,
        kind: TaskKind = .download, group: String? = nil
    ) {
        self.id = id
        self.url = url
        self.idempotencyKey = idempotencyKey
        self.userData = userData
        self.outcome = outcome
        self.kind = kind
        self.group = group
    }
}
