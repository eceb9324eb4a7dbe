internal import BackhaulModel

/// One request of a transfer, and the part of its response that the transport itself keeps. A redirect, and each
/// repetition of the request by the transport, begins with a new exchange.
struct Exchange {
    enum State {
        /// libcurl does not have the request yet. If the transport waits for a file of certificates, `reads` is this
        /// file.
        case preparing(reads: CertificateFile?)
        /// `tunnelRefusal` has the header fields of a proxy's 407 response to CONNECT, if there was one.
        case waitingForHead(tunnelRefusal: [ResponseField]?)
        /// The head of a 401 or 407 response is buffered, because libcurl may repeat the request and get another head.
        case holdingHead
        /// The body of a redirect is read and dropped, so that the connection can be reused. The number of dropped
        /// bytes is limited. The reading ends at the time `until` at the latest (milliseconds of the boot clock).
        case redirecting(to: [UInt8], skipped: Int, until: Int64)
        case receiving(isPaused: Bool)
        /// The response is complete before the server has taken the whole body of the request. The transfer waits for
        /// the server, at most until the time `until`.
        case draining(ConnectionSocket, until: Int64)
        /// The transport makes libcurl end the request.
        case stopped(Stop)
        case over
    }

    /// Why the transport has ended a request.
    enum Stop {
        case refused
        /// The transport has found the end of the body. libcurl would wait for the end of the connection.
        case complete
        /// The response has a fault that the transport has found, and that libcurl does not report.
        case violation(Failure, headIsWhole: Bool)
        /// The request is sent again. If `needsNewConnection` is true, its connection cannot be used for that.
        case again(needsNewConnection: Bool)
    }

    /// Whether the request must use a new connection.
    var needsNewConnection = false
    /// Whether the request uses HTTP/1.1 only because HTTP/2 failed before.
    var fallsBack = false
    /// The origin of the HTTP proxy, in the form of `ProxyRoute.origin`; nil if there is no HTTP proxy.
    var proxy: String?
    /// The server and the credentials of a request for an object of S3; nil before they are known.
    var s3: S3Access?
    /// When the request first needed a file of certificates, in milliseconds of the boot clock; nil before that.
    var certificatesNeededAt: Int64?
    var state = State.preparing(reads: nil)
    var timing = HopTiming()
    var authentication = AuthExchange()
    var isOverHTTP2 = false
    var head = HeadCollector()
    /// Whether the server or a proxy has sent a header line since the request began.
    var hasReceived = false
    var bodyEnd = BodyEnd.notChecked
    /// Whether the kernel still had unsent bytes of the request's body when the response began or ended.
    var hasUndrainedBody = false

    /// Whether the head of the final response has arrived, and is not buffered.
    var headIsWhole: Bool {
        switch state {
        case .preparing, .waitingForHead, .holdingHead: false
        case .stopped(.violation(_, let headIsWhole)): headIsWhole
        default: true
        }
    }

    /// Whether the head of a response has arrived, including a buffered head.
    var hasResponse: Bool { headIsWhole || isHoldingHead }

    var isHoldingHead: Bool { if case .holdingHead = state { true } else { false } }

    var isStopped: Bool { if case .stopped = state { true } else { false } }

    var isOver: Bool { if case .over = state { true } else { false } }

    var isPaused: Bool { if case .receiving(let isPaused) = state { isPaused } else { false } }

    /// Whether the request was sent over HTTP/1.x on a reused connection and has no response head yet.
    var waitsOnUsedConnection: Bool {
        if case .waitingForHead(.some) = state { return false }
        return !hasResponse && !head.isComplete && !isOverHTTP2 && timing.isReused
    }

    /// Whether the body ended because its TLS connection ended without close_notify. Such a body may be incomplete.
    var isTruncated: Bool {
        if case .withoutCloseNotify = bodyEnd { headIsWhole } else { false }
    }

    mutating func noteCloseNotify(_ hasCloseNotify: @autoclosure () -> Bool?) {
        guard case .withoutCloseNotify = bodyEnd, hasCloseNotify() == true else { return }
        bodyEnd = .withCloseNotify
    }

    /// Prepares for a header line. After a buffered head, a line is a trailer field, or the first line after a
    /// repetition of the request.
    /// - connections: the number of connections that libcurl has made for the request so far.
    mutating func prepareForHeader(connections: @autoclosure () -> Int) {
        switch state {
        case .holdingHead where authentication.isRequestSent || timing.isBehind(connections: connections()):
            head = HeadCollector()
            state = .waitingForHead(tunnelRefusal: nil)
        // If a reused connection to a proxy was closed, libcurl repeats the request on a new connection. The head that
        // begins now is the proxy's response to CONNECT.
        case .waitingForHead where timing.isProxied && authentication.isRequestSent:
            if timing.isBehind(connections: connections()) { authentication.requestIsRepeated() }
        default: break
        }
    }
}

/// Where a transfer's current request goes. A redirect makes a new value.
struct Target {
    var url: String
    var origin: Origin
    var keepsHeaders = true
    /// The number of redirects that led here.
    var redirects = 0
    /// Whether libcurl has lost this server's response over HTTP/2. The request is then repeated over HTTP/1.1.
    var needsHTTP1 = false
    /// The schemes that the proxy offered in a response whose body was too long to be read; empty if there was none.
    var proxyOffer: AuthenticationSchemes = []

    init(_ request: TransferRequest) { (url, origin) = (request.url, request.origin) }

    init(_ redirect: Redirect, from last: Target) {
        (url, origin, keepsHeaders) = (redirect.url, redirect.origin, redirect.keepsHeaders)
        redirects = last.redirects + 1
        needsHTTP1 = last.needsHTTP1 && redirect.origin == last.origin
    }
}

/// Which requests a transfer has sent so far, as far as this decides whether it may send a request again.
struct ResendHistory {
    /// Whether a server may have received at least a part of the request, and may act on it.
    var mayHaveBeenSent = false
    /// The number of requests that were sent again over a new connection.
    var reconnects = 0
    var reasons: ResendReasons = []
}

/// The libcurl handle that has a transfer's request, and the connection of this request.
struct CurlUse {
    let stack: CurlStack
    let easy: EasyHandle
    private(set) var socket: ConnectionSocket?
    private var receivedBefore: Int64 = 0
    /// The number of bytes in the socket's send queue at the last check.
    var lastUnsent: Int32?

    init(_ stack: CurlStack, _ easy: EasyHandle) {
        (self.stack, self.easy) = (stack, easy)
        stack.began()
    }

    /// The number of bytes received over the connection since the request began, or nil without a connection.
    var receivedBytes: Int64? { socket?.received.map { $0 - receivedBefore } }

    mutating func use(_ socket: ConnectionSocket?) {
        self.socket?.users -= 1
        self.socket = socket
        socket?.users += 1
        receivedBefore = socket?.received ?? 0
        lastUnsent = nil
    }

    mutating func end(now: Int64) {
        use(nil)
        stack.ended(now: now)
    }
}

/// The credentials that a transfer has sent, by their numbers in `SessionCredentials`.
public struct SentCredentials {
    /// The server's credential in the last request; nil if the request had none.
    public internal(set) var server: UInt64?
    /// The proxy's credential in the last request.
    public internal(set) var proxy: UInt64?
    /// The credentials that a response has accepted.
    public internal(set) var accepted: [UInt64] = []

    /// Records which credentials a response accepts. A response over https is always from the server, because a proxy
    /// only forwards the bytes of the tunnel.
    mutating func noteAccepted(by status: Int32, isTunnelled: Bool) {
        let isChecked = status != 407 && ResponseHead.showsCheckedCredential(status)
        if isChecked, status != 401, let server { accepted.append(server) }
        if isChecked || isTunnelled, let proxy { accepted.append(proxy) }
    }
}
