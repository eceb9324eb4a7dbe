public import BackhaulModel

/// A live task as the engine runs it.
public struct StoredTask: Equatable, Sendable {
    public var id: TaskID
    public var session: SessionID
    public var lane: LaneID
    public var round: UInt64
    /// As enqueued, but with the priority that it has now.
    public var request: Request
    public var origin: Origin
    /// In the name of its part file.
    public var part: UInt64 = 0
    public var checkpoint: Checkpoint?
    public var intent: FinishIntent?
    /// Requests sent so far.
    public var attempts: UInt32
    /// The last of them in a row that made no byte durable.
    public var attemptsWithoutProgress: UInt32
    /// Body bytes over all attempts.
    public var bytesReceived: UInt64
    /// Of the request's body, over all attempts.
    public var bytesSent: UInt64 = 0
    /// An engine has ended while a request was under way that is not to be repeated.
    public var isUnderWay = false
    public var enqueuedMilliseconds: Int64
    /// The greatest offset that was ever durable.
    public var furthestOffset: UInt64
    /// How long it was suspended.
    public var suspendedMilliseconds: Int64
    /// What it has stated for itself.
    public var constraints = ConstraintsID.session
    /// What it waits for, or the last that it did wait for.
    public var challenge: ChallengeID?
    /// What the host has given instead of what has expired; `request` has it already.
    public var refreshed: RefreshedRequest?
    /// An attempt has ended with another digest or size than the file should have.
    public var hadMismatch = false
}

/// A task in whatever state it is.
public struct TaskRecord: Equatable, Sendable {
    public var task: StoredTask
    /// As the row has it: a task that runs is `waiting`.
    public var state: TaskState
    /// Nil while it lives.
    public var outcome: Outcome?
}

/// What is written with a checkpoint, so that an attempt counts whose process is killed.
public struct ReceivedSoFar: Equatable, Sendable {
    /// Over the task's whole life, this attempt included.
    public var attempts: UInt32
    /// Body bytes over all attempts.
    public var bytesReceived: UInt64
    /// The greatest offset that was ever durable.
    public var furthestOffset: UInt64
    /// This attempt made bytes durable that no earlier one had.
    public var madeProgress: Bool
    /// As it would be listed if its process ended now.
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
    /// Over the task's whole life, this attempt included.
    public var attempts: UInt32
    public var attemptsWithoutProgress: UInt32
    /// Body bytes over all attempts.
    public var bytesReceived: UInt64
    /// Of the request's body, over all attempts; fewer than the row's change nothing.
    public var bytesSent: UInt64 = 0
    /// The engine ends, and the request of this attempt is not to be repeated.
    public var isUnderWay = false
    /// Nil when the attempt did not fail, for example when the task was suspended.
    public var failure: Failure?
    /// 0 when no answer came.
    public var httpStatus: Int32
    /// When the task is looked at again, as `Clock.bootMilliseconds` of this boot; nil: at its next turn.
    public var nextAttempt: Int64?
    /// Why it waits until then: `retry` or `diskFull`.
    public var reason: WaitReason
    /// What the next attempt may continue from; nil: nothing.
    public var checkpoint: Checkpoint?
    /// The greatest offset that was ever durable; a smaller one than the row's changes nothing.
    public var furthestOffset: UInt64 = 0
    /// Nil when nothing was sent.
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
