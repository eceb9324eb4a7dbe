/// One attempt (one run) of an upload, as a state machine without I/O: it gets events and returns actions. An attempt
/// always sends the whole body, because HTTP cannot report how much of the body has arrived.
public struct UploadMachine: Sendable {
    var state = State.ready
    public internal(set) var head: ResponseHead?
    /// The received bytes of the response's body.
    public internal(set) var bytesReceived: UInt64 = 0
    let url: String
    let policy: TransferPolicy
    /// Whether a 401 or 407 response opens a challenge.
    let opensChallenges: Bool
    let limits: ResponseLimits

    public init(
        url: String, policy: TransferPolicy, opensChallenges: Bool = false, limits: ResponseLimits = ResponseLimits()
    ) {
        self.url = url
        self.policy = policy
        self.opensChallenges = opensChallenges
        self.limits = limits
    }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start: start()
        case .opened: opened()
        case .head(let head, let authChallenge): received(head, authChallenge)
        case .received(let count, let wasBodySent): received(count, wasBodySent)
        case .transferComplete(let wasBodySent): transferComplete(wasBodySent)
        case .transferFailed(let failure, let isTransient): transferFailed(failure, isTransient)
        case .bodyFailed(let failure): bodyFailed(failure)
        case .concluded: concluded()
        case .retryRefused: retryRefused()
        case .cancel, .stop: stop()
        case .expire(let failure): expire(failure)
        case .tick(let wasBodySent): tick(wasBodySent)
        }
    }

    public var isFinishing: Bool { phase == .concluding }
}

extension UploadMachine {
    /// The state of the attempt, with the data that exists only in that state. In all states before `concluding`, the
    /// attempt has a slot, the right to run.
    enum State: Sendable {
        case ready
        /// The first bytes of the body are being read, so that an unreadable body is found before a connection is
        /// opened.
        case opening
        /// The request is being sent, or the head of its response has not come yet.
        case sending
        /// The body of an accepted response is being received. `ticks`: the seconds since the head of the response, or
        /// since the end of the request's body if that was later.
        case receiving(ticks: Int)
        /// The body of a response that is not accepted is being received. `ticks`: the seconds since the head of the
        /// response.
        case refusing(Conclusion, ticks: Int)
        case concluding(Conclusion)
        case over

        var holdsSlot: Bool {
            switch self {
            case .ready, .opening, .sending, .receiving, .refusing: true
            case .concluding, .over: false
            }
        }

        var hasTransfer: Bool {
            switch self {
            case .sending, .receiving, .refusing: true
            case .ready, .opening, .concluding, .over: false
            }
        }
    }

    public enum Phase: Sendable {
        case ready, opening, sending, receiving, receivingErrorBody, concluding, over
    }

    /// The state without its data.
    public var phase: Phase {
        switch state {
        case .ready: .ready
        case .opening: .opening
        case .sending: .sending
        case .receiving: .receiving
        case .refusing: .receivingErrorBody
        case .concluding: .concluding
        case .over: .over
        }
    }

    /// How this attempt ends for the task.
    public enum Conclusion: Equatable, Sendable {
        case succeeded
        case failed(Failure)
        /// The task gets another attempt if the policy allows it. `retryAfterSeconds`: the least delay before that
        /// attempt, if the server demanded one.
        case retry(Failure, retryAfterSeconds: Int64?)
        case credential(AuthenticationChallenge)
        /// The task's row in the store already has the new state (suspended or cancelled), or the engine stops.
        case stopped
    }

    /// The result of an action, or a command from outside. The state machine ignores an event that does not belong to
    /// its present state, because such an event is late or repeated.
    public enum Event: Equatable, Sendable {
        case start
        case opened
        /// The head of a response. If the task must wait for a credential, the event also has the challenge.
        case head(ResponseHead, AuthenticationChallenge?)
        /// Bytes of the response's body.
        case received(count: Int, wasBodySent: Bool = true)
        /// `wasBodySent`: false if the response ended before the request's body was sent.
        case transferComplete(wasBodySent: Bool = true)
        case transferFailed(Failure, isTransient: Bool)
        /// A file of the body cannot be read, or was changed.
        case bodyFailed(Failure)
        case concluded
        /// If the conclusion is `retry` or `credential`, but the task gets no further attempt, this event is sent in
        /// place of `concluded`. Then the task fails.
        case retryRefused
        case cancel
        case stop
        case expire(Failure)
        /// The event is sent once a second.
        case tick(wasBodySent: Bool = true)
    }

    /// What the caller must do. The caller performs the actions in the order in which they are returned.
    public enum Action: Equatable, Sendable {
        /// Opens the files of the body, and reads its first bytes. Results in `opened` or `bodyFailed`.
        case openBody
        /// Sends the request. Results in `head`, `received` and one `transferComplete` or `transferFailed`.
        case startTransfer
        /// Stops the transfer. No further event of the transfer follows.
        case stopTransfer
        /// Releases the slot, because the connection is free for another task. An attempt returns this action only one
        /// time.
        case releaseSlot
        /// Commits the end of the attempt. Results in `concluded`, or in `retryRefused` if nothing was committed.
        case conclude(Conclusion)
        /// Closes the body. It is the last action of an attempt.
        case close
    }

    /// How much of a response's body is read.
    public struct ResponseLimits: Sendable {
        /// The most bytes that are read from the body of an accepted response. Only the first bytes are kept. The other
        /// bytes are read so that the connection can be reused.
        public var body: UInt64 = 1 << 20
        public var errorBody = UInt64(Limits.errorBodySize)
        /// The most ticks (seconds) for which a body is read. A slow body occupies a connection that other tasks need.
        public var bodyTicks = 30
        public var errorTicks = 5
        public init() {}
    }
}
