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
    case failed(Failure, isTransient: Bool)
}
