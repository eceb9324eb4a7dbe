public import BackhaulModel

/// One GET, as the transport needs to know it.
public struct TransferRequest: Sendable {
    public var url: String
    /// Of the host; sent to `origin` only, also across redirects.
    public var headers: [HeaderField]
    /// 0: the whole file; else `Range: bytes=offset-` (RFC 9110, section 14.2).
    public var offset: UInt64
    /// A strong entity tag or a date (RFC 9110, section 13.1.5).
    public var ifRange: String?
    /// Without a byte from the server, connecting included; starts anew with each byte.
    public var requestTimeoutMilliseconds: UInt32
    /// PEM certificates to trust instead of the system's.
    public var caFile: String?
    public var maximumRedirects = 20
    public var origin: Origin

    public init(
        url: String, headers: [HeaderField], offset: UInt64 = 0, ifRange: String? = nil,
        requestTimeoutMilliseconds: UInt32, caFile: String? = nil, origin: Origin
    ) {
        self.url = url
        self.headers = headers
        self.offset = offset
        self.ifRange = ifRange
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.caFile = caFile
        self.origin = origin
    }
}

/// Who is told what a transfer receives. On the loop's thread. It may start, cancel and resume transfers from inside
/// these calls.
public protocol TransferDelegate: AnyObject {
    /// Once, before the first byte of the body of the final response, and also when there is no body.
    func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyPlan
    /// With `.pause` the same bytes come again after `resume`.
    func transfer(_ transfer: Transfer, received bytes: RawSpan) -> Flow
    /// Once, and never after `cancel`.
    func transferEnded(_ transfer: Transfer, _ end: TransferEnd)
}

public enum BodyPlan: Sendable {
    case receive
    /// Stop now; the end is `.refused`.
    case refuse
}

public enum Flow: Sendable {
    case go
    case pause
}

public enum TransferEnd: Sendable {
    case complete
    case refused
    /// `isTransient`: trying again may help.
    case failed(Failure, isTransient: Bool)
}
