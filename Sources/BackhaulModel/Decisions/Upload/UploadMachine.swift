/// One attempt (one run) of an upload, as a state machine without I/O: it gets events and returns actions. The
/// `UploadProtocol` decides which requests the attempt sends. With the plain protocol, it is one request with the whole
/// body, because HTTP cannot report how much of a body has arrived.
public struct UploadMachine: Sendable {
    var state = State.ready
    /// The step of the present or last request; nil before the first one.
    public internal(set) var step: UploadStep?
    public internal(set) var head: ResponseHead?
    /// The received bytes of the bodies of all responses.
    public internal(set) var bytesReceived: UInt64 = 0
    /// The received bytes of the body of the present response.
    var bodyBytes: UInt64 = 0
    /// Whether the body of the response to the upload has arrived whole, and is not longer than what is kept of it.
    public internal(set) var hasWholeResponse = false
    /// The resource that the rest of the body can be sent to; nil if there is none.
    public internal(set) var resource: UploadResource?
    /// How many requests in a row have only asked for the offset, because the server did not take the bytes.
    var fruitlessProbes = 0
    /// The greatest offset of this attempt and the earlier ones. A server that returns to smaller offsets makes no
    /// progress.
    public internal(set) var greatestOffset: UInt64
    /// How many requests for the list of parts this attempt has sent, without those for further pages.
    var listings = 0
    /// The parts that are sent to the resource; nil if the body is not sent in parts.
    var parts: PartPlan?
    /// The only part that this machine sends; nil for the machine of an attempt.
    var ownPart: UploadPart?
    /// The longest delay that the server has demanded with a refusal. It holds also if the connection, or another part,
    /// ends the attempt before the rest of the response is received. The next step clears it.
    public internal(set) var demandedDelay: DemandedDelay?
    /// The body of the present response, if the verdict needs it.
    private(set) var responseBody: [UInt8] = []
    let url: String
    let policy: TransferPolicy
    /// Whether a 401 or 407 response opens a challenge.
    let opensChallenges: Bool
    let limits: ResponseLimits
    /// The size of the body in bytes.
    let size: UInt64
    public let uploadProtocol: UploadProtocol
    /// The greatest offset of the earlier attempts.
    private let furthest: UInt64

    /// - headers: the header fields of the host's request. `size`: the size of the body in bytes. `resource`: the
    /// resource that an earlier attempt has got.
    public init(
        url: String, policy: TransferPolicy, opensChallenges: Bool = false, headers: [HeaderField] = [],
        size: UInt64 = 0, resource: UploadResource? = nil, furthest: UInt64 = 0,
        limits: ResponseLimits = ResponseLimits()
    ) {
        self.url = url
        self.policy = policy
        self.opensChallenges = opensChallenges
        self.limits = limits
        self.size = size
        // The policy may have changed since the resource was made.
        uploadProtocol =
            resource?.uploadProtocol
            ?? UploadProtocol(policy.resumableUploads, url: url, size: size, headers: headers)
        self.resource = resource
        self.furthest = max(furthest, resource?.offset ?? 0)
        greatestOffset = self.furthest
    }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .start: start()
        case .opened: opened()
        case .interim(let head, let location): receivedInterim(head, location)
        case .recorded: recorded()
        case .head(let head, let authChallenge, let location, let wasBodySent):
            received(head, authChallenge, location, wasBodySent)
        case .received(let count, let wasBodySent): received(count, wasBodySent)
        case .transferComplete(let wasBodySent): transferComplete(wasBodySent)
        case .transferFailed(let failure, let isTransient): transferFailed(failure, isTransient)
        case .bodyFailed(let failure): bodyFailed(failure)
        case .concluded: concluded()
        case .retryRefused: retryRefused()
        case .cancel, .stop: stop()
        case .expire(let failure, let wasBodySent): expire(failure, wasBodySent)
        case .tick(let wasBodySent): tick(wasBodySent)
        }
    }

    /// Takes bytes of a response's body, in the phase `reading`. More bytes than any valid body has are dropped, so
    /// that the body is invalid.
    public mutating func read(_ bytes: RawSpan) {
        guard case .reading = state else { return }
        let room = S3Document.sizeLimit + 1 - responseBody.count
        bytes.withUnsafeBytes { responseBody.append(contentsOf: $0.prefix(room)) }
    }

    mutating func forgetResponseBody() { responseBody = [] }

    public var isFinishing: Bool { phase == .concluding }

    /// Whether the server has confirmed more bytes than in all earlier attempts.
    public var madeProgress: Bool { greatestOffset > furthest }

    /// Whether a further attempt repeats no request on which a server may have acted. With tus and S3, a second
    /// resource does no harm.
    public var mayContinue: Bool { resource != nil || uploadProtocol == .tus || uploadProtocol == .s3 }

}

extension UploadMachine {
    /// The state of the attempt, with the data that exists only in that state. In all states before `concluding`, the
    /// attempt has a slot, the right to run.
    enum State: Sendable {
        case ready
        /// The first bytes of the body are being read, so that an unreadable body is found before a connection is
        /// opened.
        case opening(UploadStep)
        /// The resource is being stored. No byte is sent to it before.
        case recording(UploadStep)
        /// The request is being sent, or the head of its response has not come yet.
        case sending(UploadStep)
        /// The body of the response is being received, because the verdict needs it. `ticks`: the seconds since the
        /// head.
        case reading(UploadStep, ticks: Int)
        /// The rest of a response is being received. Then the step follows. `ticks`: the seconds since the head.
        case settling(UploadStep, records: Bool, ticks: Int)
        /// All parts are sent or in flight, and the extra parts are still in flight.
        case awaitingParts
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
            case .ready, .opening, .recording, .sending, .reading, .settling, .awaitingParts, .receiving, .refusing:
                true
            case .concluding, .over: false
            }
        }

        var hasTransfer: Bool {
            switch self {
            case .sending, .reading, .settling, .receiving, .refusing: true
            case .ready, .opening, .recording, .awaitingParts, .concluding, .over: false
            }
        }
    }

    public enum Phase: Sendable {
        case ready, opening, recording, sending, reading, settling, awaitingParts, receiving, receivingErrorBody
        case concluding, over
    }

    /// The state without its data.
    public var phase: Phase {
        switch state {
        case .ready: .ready
        case .opening: .opening
        case .recording: .recording
        case .sending: .sending
        case .reading: .reading
        case .settling: .settling
        case .awaitingParts: .awaitingParts
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
        /// The task gets another attempt if the policy allows it, after `demandedDelay`.
        case retry(Failure)
        /// The server has lost the upload. The next attempt sends the whole body.
        case startOver(Failure)
        case credential(AuthenticationChallenge)
        /// The server has the part. Only the machine of an extra part concludes so.
        case sentPart
        /// The task's row in the store already has the new state (suspended or cancelled), or the engine stops.
        case stopped
    }

    /// The result of an action, or a command from outside. The state machine ignores an event that does not belong to
    /// its present state, because such an event is late or repeated.
    public enum Event: Equatable, Sendable {
        case start
        case opened
        /// An interim response. `location`: its Location field as an absolute URL; nil if there is none that may be
        /// used.
        case interim(ResponseHead, location: String? = nil)
        case recorded
        /// The head of a response. If the task must wait for a credential, the event also has the challenge.
        case head(ResponseHead, AuthenticationChallenge?, location: String? = nil, wasBodySent: Bool = true)
        /// Bytes of the response's body.
        case received(count: Int, wasBodySent: Bool = true)
        /// `wasBodySent`: false if the response ended before the request's body was sent.
        case transferComplete(wasBodySent: Bool = true)
        case transferFailed(Failure, isTransient: Bool)
        /// A file of the body cannot be read, or was changed.
        case bodyFailed(Failure)
        case concluded
        /// If the conclusion is `retry`, `startOver` or `credential`, but the task gets no further attempt, this event
        /// is sent in place of `concluded`. Then the task fails.
        case retryRefused
        case cancel
        case stop
        /// The task's resource time-out is over. The event is sent once a second, in place of `tick`.
        case expire(Failure, wasBodySent: Bool = true)
        /// The event is sent once a second.
        case tick(wasBodySent: Bool = true)
    }

    /// What the caller must do. The caller performs the actions in the order in which they are returned.
    public enum Action: Equatable, Sendable {
        /// Opens the files of the body, and reads the first bytes that the step sends. Results in `opened` or
        /// `bodyFailed`.
        case openBody(UploadStep)
        /// Sends the request of the step. Results in `interim`, `head`, `received` and one `transferComplete` or
        /// `transferFailed`.
        case startTransfer(UploadStep)
        /// Stops the transfer. No further event of the transfer follows.
        case stopTransfer
        /// Stops the extra parts. The action comes before the end of the attempt.
        case stopExtraParts
        /// Stores the resource, or removes the stored one. Results in `recorded`.
        case record(UploadResource?)
        /// Removes the stored resource, and asks the server to remove what it has.
        case abandon
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
