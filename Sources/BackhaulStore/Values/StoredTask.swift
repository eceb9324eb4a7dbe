public import BackhaulModel

/// A live task as the engine runs it.
public struct StoredTask: Equatable, Sendable {
    public var id: TaskID
    public var session: SessionID
    public var lane: LaneID
    public var round: UInt64
    /// The request as enqueued, but with the current priority and with replacements from the host (`refreshed`).
    public var request: Request
    public var origin: Origin
    /// The number in the name of its part file.
    public var part: UInt64 = 0
    public var checkpoint: Checkpoint?
    public var intent: FinishIntent?
    /// Number of attempts so far.
    public var attempts: UInt32
    /// Number of the latest consecutive attempts that stored no new durable byte.
    public var attemptsWithoutProgress: UInt32
    /// Received body bytes over all attempts.
    public var bytesReceived: UInt64
    /// Sent bytes of the request's body, over all attempts.
    public var bytesSent: UInt64 = 0
    /// Whether an engine ended while a request was in progress that must not be repeated.
    public var isUnderWay = false
    public var enqueuedMilliseconds: Int64
    /// The greatest offset that was ever durable.
    public var furthestOffset: UInt64
    /// How long the task was suspended, in milliseconds.
    public var suspendedMilliseconds: Int64
    /// The constraints that the task states itself.
    public var constraints = ConstraintsID.session
    /// The challenge that the task waits for, or waited for last.
    public var challenge: ChallengeID?
    /// What the host gave to replace expired parts of the request. `request` contains it.
    public var refreshed: RefreshedRequest?
    /// Whether an attempt ended with another digest or size than expected.
    public var hadMismatch = false
}

/// A task in any state.
public struct TaskRecord: Equatable, Sendable {
    public var task: StoredTask
    /// The state in the row: a running task is `waiting`.
    public var state: TaskState
    /// The outcome; nil while the task is live.
    public var outcome: Outcome?
}

/// What is written with a checkpoint, so that an attempt counts even if its process is killed.
public struct AttemptProgress: Equatable, Sendable {
    /// Number of attempts over the task's whole life, including this one.
    public var attempts: UInt32
    /// Received body bytes over all attempts.
    public var bytesReceived: UInt64
    /// The greatest offset that was ever durable.
    public var furthestOffset: UInt64
    /// Whether this attempt made bytes durable that no earlier attempt had.
    public var madeProgress: Bool
    /// The attempt as listings would show it if the process ended now.
    public var attempt: Attempt?

    public init(
        attempts: UInt32, bytesReceived: UInt64, furthestOffset: UInt64, madeProgress: Bool, attempt: Attempt? = nil
    ) {
        self.attempt = attempt
        self.attempts = attempts
        self.bytesReceived = bytesReceived
        self.furthestOffset = furthestOffset
        self.madeProgress = madeProgress
    }
}

/// What is written about an attempt that did not end its task.
public struct AttemptRecord: Equatable, Sendable {
    /// Number of attempts over the task's whole life, including this one.
    public var attempts: UInt32
    public var attemptsWithoutProgress: UInt32
    /// Received body bytes over all attempts.
    public var bytesReceived: UInt64
    /// Sent bytes of the request's body, over all attempts. A value below the row's changes nothing.
    public var bytesSent: UInt64 = 0
    /// Whether the engine ends while a request of this attempt is in progress that must not be repeated.
    public var isUnderWay = false
    /// Why the attempt failed. Nil when it did not fail, for example when the task was suspended.
    public var failure: Failure?
    /// The status of the response; 0 when no response came.
    public var httpStatus: Int32
    /// When the task may start again, as `Clock.bootMilliseconds` of this boot; nil: it is ready now.
    public var nextAttempt: Int64?
    /// Why the task waits until then: `retry` or `diskFull`.
    public var reason: WaitReason
    /// What the next attempt can continue from; nil if it must start over.
    public var checkpoint: Checkpoint?
    /// The greatest offset that was ever durable. A value below the row's changes nothing.
    public var furthestOffset: UInt64 = 0
    /// The attempt to record; nil when no request was sent.
    public var attempt: Attempt?

    public init(
        attempts: UInt32, attemptsWithoutProgress: UInt32, bytesReceived: UInt64, failure: Failure? = nil,
        httpStatus: Int32 = 0, nextAttempt: Int64? = nil, reason: WaitReason = .none, checkpoint: Checkpoint? = nil,
        attempt: Attempt? = nil
    ) {
        self.attempt = attempt
        self.attempts = attempts
        self.attemptsWithoutProgress = attemptsWithoutProgress
        self.bytesReceived = bytesReceived
        self.failure = failure
        self.httpStatus = httpStatus
        self.nextAttempt = nextAttempt
        self.reason = reason
        self.checkpoint = checkpoint
    }
}
