public import BackhaulModel

/// Receives the results of a transfer, on the loop's thread. Every method may start and cancel transfers, and resume
/// other transfers.
public protocol TransferDelegate: AnyObject {
    /// Receives the head of the final response. Called once, before the first byte of the body, and also without a
    /// body.
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan
    /// Receives bytes of the body in order, as sent: content codings are not decoded. After `pause` these bytes do not
    /// count as taken. They come again after `resume`, perhaps in other portions.
    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow
    /// Receives the end. Called exactly once, unless the transfer was cancelled.
    func transferEnded(_ transfer: Transfer, _ end: TransferEnd)
}

public enum BodyPlan: Sendable {
    case receive
    /// Stop now. The transfer ends as `refused`.
    case refuse
}

public enum Flow: Sendable {
    case go
    /// Deliver nothing until `resume`. The request time-out is paused too.
    case pause
}

public enum TransferEnd: Equatable, Sendable {
    case complete
    case refused
    /// `isTransient`: whether the same request may succeed later.
    case failed(Failure, isTransient: Bool, FailureCircumstances = FailureCircumstances())

    var status: Status? { if case .failed(let failure, _, _) = self { failure.status } else { nil } }
}

/// Facts about a failure that only the transport has. They serve the decision about another attempt.
public struct FailureCircumstances: Equatable, Sendable {
    /// Whether certainly no server has acted on the request. Nothing of it was sent, or the server has refused it (RFC
    /// 9113, section 8.7).
    public var surelyNotProcessed = false
    /// The errno of the failed connection, or 0.
    public var systemError: Int32 = 0
    /// Whether the server ended an HTTP/2 connection before its response, for example with GOAWAY. A new connection may
    /// work immediately.
    public var wentAway = false

    public init(surelyNotProcessed: Bool = false, systemError: Int32 = 0, wentAway: Bool = false) {
        self.wentAway = wentAway
        self.surelyNotProcessed = surelyNotProcessed
        self.systemError = systemError
    }
}
