/// One attempt of an upload as a value: events in, actions out, no I/O. An attempt always sends the whole body: HTTP
/// has no way to ask how much of it has arrived.
public struct UploadMachine: Sendable {
    public internal(set) var phase = Phase.ready
    public internal(set) var head: ResponseHead?
    /// Bytes of the answer's body.
    public internal(set) var bytesReceived: UInt64 = 0

    public enum Phase: Equatable, Sendable {
        case ready
        /// The first bytes of the body are being read: what is wrong with it is found out before a connection is made.
        case opening
        /// From the first byte of the request to the head of its answer.
        case sending
        /// The body of an answer that is accepted.
        case receiving
        /// The body of an answer that is not.
        case receivingErrorBody
        case concluding
        case over
    }

    /// How this attempt leaves the task.
    public enum Conclusion: Equatable, Sendable {
        case succeeded
        case failed(Failure)
        /// If the policy lets it be tried again, and after `retryAfterSeconds` at least, if the server asked for that.
        case retry(Failure, retryAfterSeconds: Int64?)
        case credential(AuthenticationDemand)
        /// The row says already what the task is (suspended, cancelled), or the engine stops.
        case left
    }

    /// An event that its phase does not wait for (late, repeated) changes nothing.
    public enum Event: Equatable, Sendable {
        case start
        case opened
        /// With what it asks for, if its tasks are to wait for that.
        case head(ResponseHead, AuthenticationDemand?)
        /// Bytes of the answer's body.
        case received(count: Int, bodyIsSent: Bool = true)
        /// `bodyIsSent`: false when the response came before the request's body had been sent.
        case transferComplete(bodyIsSent: Bool = true)
        case transferFailed(Failure, isTransient: Bool)
        /// A file of the body cannot be read, or was changed.
        case bodyFailed(Failure)
        case concluded
        /// In place of `concluded` after a `retry` or `credential`: there is no further try.
        case retryRefused
        case cancel
        case leave
        case expire(Failure)
        /// Once a second.
        case tick(bodyIsSent: Bool = true)
    }

    /// What is to be done, in the order given.
    public enum Action: Equatable, Sendable {
        /// Answered by `opened` or `bodyFailed`.
        case openBody
        /// Answered by `head`, `received` and one `transferComplete` or `transferFailed`.
        case startTransfer
        /// The transfer tells nothing more.
        case stopTransfer
        /// The connection is free for another task. Given once.
        case releaseTurn
        /// Commit how the attempt ended. Answered by `concluded` or, with nothing committed, by `retryRefused`.
        case conclude(Conclusion)
        /// The last action.
        case close
    }

    let policy: TransferPolicy
    let limits: AnswerLimits
    var transferIsOver = true
    var holdsTurn = true
    /// Ticks since the head of the response, or since the end of the request's body if that came later.
    var ticks = 0
    /// Why the answer is not accepted.
    var refusal: Conclusion?
    /// The failure of a `retry` or `credential` that is being concluded.
    var retriedFailure: Failure?

    /// How much of an answer's body is read.
    public struct AnswerLimits: Sendable {
        /// Of one that is accepted. What is kept of it is less: the rest is read so that the connection can be used
        /// again.
        public var body: UInt64 = 1 << 20
        public var errorBody = UInt64(Limits.errorBodySize)
        /// For so many ticks at the most: a body that drips holds a connection that other tasks wait for.
        public var bodyTicks = 30
        public var errorTicks = 5
        public init() {}
    }

    public init(policy: TransferPolicy, limits: AnswerLimits = AnswerLimits()) {
        self.policy = policy
        self.limits = limits
    }

    public var isFinishing: Bool { phase == .concluding }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start: start()
        case .opened: opened()
        case .head(let head, let demand): received(head, demand)
        case .received(let count, let bodyIsSent): received(count, bodyIsSent)
        case .transferComplete(let bodyIsSent): transferComplete(bodyIsSent)
        case .transferFailed(let failure, let isTransient): transferFailed(failure, isTransient)
        case .bodyFailed(let failure): bodyFailed(failure)
        case .concluded: concluded()
        case .retryRefused: retryRefused()
        case .cancel, .leave: leave()
        case .expire(let failure): expire(failure)
        case .tick(let bodyIsSent): tick(bodyIsSent)
        }
    }
}
