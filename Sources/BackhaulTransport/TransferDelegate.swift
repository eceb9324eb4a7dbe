public import BackhaulModel

/// Receives what a transfer brings, on the loop's thread. Every call may start and cancel transfers, and resume others.
public protocol TransferDelegate: AnyObject {
    /// The head of the final response, once, before its first body byte, also when it has no body.
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan
    /// Body bytes as sent (no content coding is undone), in order. With `pause` they are not taken: the same bytes come
    /// again after `resume`, perhaps divided otherwise.
    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow
    /// The end, exactly once, unless the transfer was cancelled.
    func transferEnded(_ transfer: Transfer, _ end: TransferEnd)
}

public enum BodyPlan: Sendable {
    case receive
    /// Stop now; the transfer ends as `refused`.
    case refuse
}

public enum Flow: Sendable {
    case go
    /// Bring nothing until `resume`. The request time-out stands still meanwhile.
    case pause
}

public enum TransferEnd: Equatable, Sendable {
    case complete
    case refused
    /// `isTransient`: the same request may succeed later.
    case failed(Failure, isTransient: Bool, FailureCircumstances = FailureCircumstances())

    var status: Status? { if case .failed(let failure, _, _) = self { failure.status } else { nil } }
}

/// What only the transport knows of a failure, for whoever decides about another try.
public struct FailureCircumstances: Equatable, Sendable {
    /// No server has acted on the request: nothing of it was sent, or the server has said so (RFC 9113, section 8.7).
    public var surelyNotProcessed = false
    /// errno of the connection that could not be made, or 0.
    public var systemError: Int32 = 0
    /// The server has ended an HTTP/2 connection before it answered, as with a GOAWAY: another one may serve at once.
    public var wentAway = false

    public init(surelyNotProcessed: Bool = false, systemError: Int32 = 0, wentAway: Bool = false) {
        self.wentAway = wentAway
        self.surelyNotProcessed = surelyNotProcessed
        self.systemError = systemError
    }
}
