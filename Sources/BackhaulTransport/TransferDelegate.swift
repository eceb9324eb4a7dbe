public import BackhaulModel

/// Receives the results of a transfer. All calls are on the thread of the event loop. Each method may start and cancel
/// transfers, and resume other transfers.
public protocol TransferDelegate: AnyObject {
    /// Receives the head of the final response. If this head arrives, the transport calls this method exactly one time,
    /// before the first byte of the body. The method is also called if there is no body.
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan
    /// Receives an interim response other than 100 (Continue) to the request of the transfer (RFC 9110, section 15.2).
    /// Returns whether it reports progress. The number of others is limited.
    func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead) -> Bool
    /// Receives bytes of the body in order. Content codings are not decoded. If the method returns `pause`, the bytes
    /// do not count as taken: they are passed again after `resume`, perhaps in chunks of other sizes.
    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow
    /// Asks whether the transfer may follow a redirect of the sender to another origin. Returns nil if it may.
    /// Otherwise, returns the delay in milliseconds after which the request may be sent again; the transfer then fails.
    func transfer(_ transfer: Transfer, delayOfRedirectFrom sender: Origin, to target: Origin) -> Int64?
    /// Receives the end of the transfer. The transport calls this method exactly one time for each transfer that was
    /// not cancelled. If the transfer was cancelled, the transport does not call this method.
    func transferEnded(_ transfer: Transfer, _ end: TransferEnd)
}

extension TransferDelegate {
    public func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead) -> Bool { false }
    public func transfer(_ transfer: Transfer, delayOfRedirectFrom sender: Origin, to target: Origin) -> Int64? { nil }
}

public enum BodyPlan: Sendable {
    case receive
    /// The transfer stops, and ends as `refused`.
    case refuse
}

public enum Flow: Sendable {
    case go
    /// Until `resume`, no bytes are passed and the request time-out is paused.
    case pause
}

public enum TransferEnd: Equatable, Sendable {
    case complete
    case refused
    /// `isTransient` states whether the same request may succeed later.
    case failed(Failure, isTransient: Bool, FailureContext = FailureContext())

    var status: Status? { if case .failed(let failure, _, _) = self { failure.status } else { nil } }
}

/// Facts about a failure that only the transport knows. The engine, which runs the tasks, uses these facts when it
/// decides whether to retry.
public struct FailureContext: Equatable, Sendable {
    /// Whether it is certain that no server has acted on the request. This is certain if no byte of the request was
    /// sent, or if the server has refused the request (RFC 9113, section 8.7).
    public var isUnprocessed = false
    /// The errno of the failed connection, or 0.
    public var systemError: Int32 = 0
    /// The numeric address to which the transport has last tried to connect, or an empty string.
    public var triedAddress = ""
    /// Whether the server ended an HTTP/2 connection, for example with GOAWAY, before the head of the response had
    /// arrived. A new connection may work immediately.
    public var connectionWasClosed = false
    /// Whether an HTTP/2 stream ended with an error that means a broken rule, such as PROTOCOL_ERROR. libcurl does not
    /// report whether the server has sent the error, or whether the response has broken the rule.
    public var hasStreamError = false
    /// Whether the request was not handed to libcurl, for example because a variable names no valid proxy. Then no
    /// machine was contacted, and the failure shows nothing about the network.
    public var isLocal = false
    /// Whether the certificate of the server or proxy is not valid yet, by the clock of this machine.
    public var isNotYetValid = false
    /// Whether the server had the whole body of the request, and sent no response before the request time-out.
    public var isUnanswered = false
    /// Set if the delegate has delayed a redirect: the delay in milliseconds.
    public var redirectDelay: Int64?

    public init(
        systemError: Int32 = 0, connectionWasClosed: Bool = false, hasStreamError: Bool = false,
        isUnanswered: Bool = false, redirectDelay: Int64? = nil, isLocal: Bool = false
    ) {
        self.connectionWasClosed = connectionWasClosed
        self.hasStreamError = hasStreamError
        self.isLocal = isLocal
        self.isUnanswered = isUnanswered
        self.redirectDelay = redirectDelay
        self.systemError = systemError
    }
}
