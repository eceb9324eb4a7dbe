public import BackhaulModel

/// A task with all values that the engine needs to run the task.
public struct StoredTask: Equatable, Sendable {
    public var id: TaskID
    public var session: SessionID
    public var lane: LaneID
    public var round: UInt64
    /// The request as it was enqueued, with two changes. The priority is the current one. If the host has given a new
    /// URL or new headers (`refreshed`), the request has these values.
    public var request: Request
    public var origin: Origin
    /// The number in the name of the task's part file, to which the download writes.
    public var part: UInt64 = 0
    public var checkpoint: Checkpoint?
    public var intent: FinishIntent?
    /// The number of attempts (runs of the task) so far.
    public var attempts: UInt32
    /// The number of attempts since the last attempt that made a new byte durable.
    public var attemptsWithoutProgress: UInt32
    /// The received bytes of response bodies in all attempts.
    public var bytesReceived: UInt64
    /// The sent bytes of the request's body in all attempts.
    public var bytesSent: UInt64 = 0
    /// Whether an earlier engine ended during a request that must not be repeated.
    public var isUnderWay = false
    public var enqueuedMilliseconds: Int64
    /// The greatest offset of the part file that was ever durable.
    public var furthestOffset: UInt64
    /// How long the task was suspended in total, in milliseconds.
    public var suspendedMilliseconds: Int64
    /// The id of the task's own constraints.
    public var constraints = ConstraintsID.session
    /// The challenge for which the task waits, or for which it last waited.
    public var challenge: ChallengeID?
    /// The URL or the headers that the host gave to replace expired ones. `request` contains them.
    public var refreshed: RefreshedRequest?
    /// The resource to which the rest of the upload is sent; nil if no server has made one.
    public var uploadResource: UploadResource?
    /// Whether an attempt ended with a file whose digest or size was not the expected one.
    public var hadMismatch = false
}

/// A task in any state.
public struct TaskRecord: Equatable, Sendable {
    public var task: StoredTask
    /// The state in the row. For a running task it is `waiting`.
    public var state: TaskState
    /// The outcome; nil while the task is live.
    public var outcome: Outcome?
}

/// The values that are written together with a checkpoint, so that an attempt counts even if the engine is killed.
public struct AttemptProgress: Equatable, Sendable {
    /// The number of attempts over the task's whole life, including this one.
    public var attempts: UInt32
    /// The received bytes of response bodies in all attempts.
    public var bytesReceived: UInt64
    /// The greatest offset of the part file that was ever durable.
    public var furthestOffset: UInt64
    /// Whether this attempt made more bytes of the file durable than any earlier attempt.
    public var madeProgress: Bool
    /// The record of this attempt with its values up to now. If the engine is killed, listings show this record.
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

/// The values that are written after an attempt that did not end its task.
public struct AttemptRecord: Equatable, Sendable {
    /// The number of attempts over the task's whole life, including this one.
    public var attempts: UInt32
    public var attemptsWithoutProgress: UInt32
    /// The received bytes of response bodies in all attempts.
    public var bytesReceived: UInt64
    /// The sent bytes of the request's body in all attempts. A value below the stored one has no effect.
    public var bytesSent: UInt64 = 0
    /// Whether the attempt stops because the engine exits during a request that must not be repeated.
    public var isUnderWay = false
    /// Why the attempt failed; nil when it did not fail, for example when the task was suspended.
    public var failure: Failure?
    /// The status of the response; 0 when no response arrived.
    public var httpStatus: Int32
    /// When the task may start again, in milliseconds of the boot clock; nil if the task may start now.
    public var nextAttempt: Int64?
    /// Why the task waits until `nextAttempt`: `retry`, `diskFull` or `storage`.
    public var reason: WaitReason
    /// The checkpoint from which the next attempt can continue; nil if the next attempt must start from the beginning.
    public var checkpoint: Checkpoint?
    /// The greatest offset of the part file that was ever durable. A value below the stored one has no effect.
    public var furthestOffset: UInt64 = 0
    /// The resource that the server has made for the upload; nil: the stored resource stays.
    public var uploadResource: UploadResource?
    /// The record of the attempt for listings; nil when no request was sent.
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
