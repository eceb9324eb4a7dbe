public import BackhaulModel
internal import CCurl

/// A running transfer: an HTTP request, and the further requests after redirects or demands for a password. Each of
/// these requests is a *hop*. The delegate gets the final response. All calls are on the thread of the event loop.
///
/// Unsafe: the bytes that libcurl passes to a call-back live until the call-back returns, and are not used later.
public final class Transfer {
    /// The number of bytes of the response's body that the delegate has taken.
    public private(set) var bytesReceived: UInt64 = 0
    /// The metrics of the latest request, as far as they are known.
    public internal(set) var metrics = TransferMetrics()
    public var isHTTP2: Bool { head.isHTTP2 }
    /// The numbers of the server's and the proxy's credential in the last request; nil if it had no such credential.
    public internal(set) var serverCredentialNumber: UInt64?
    public internal(set) var proxyCredentialNumber: UInt64?
    /// The numbers of the sent credentials that a response has accepted.
    public internal(set) var acceptedCredentials: [UInt64] = []

    /// The secrets of all credentials that this transfer has sent.
    public internal(set) var secrets = SecretRedactor()

    let request: TransferRequest
    private(set) var url: String
    private(set) var origin: Origin
    private(set) var keepsHeaders = true
    private(set) var redirects = 0
    private(set) var phase = Phase.waitingForHead
    /// A fault of the response that the transport has found, and that libcurl does not report.
    private(set) var violation: Failure?
    /// The time at which bytes were last sent or received, in milliseconds of the boot clock.
    var lastActivityAt: Int64
    private(set) var isPaused = false

    var jar: CookieJar?
    private(set) var socket: ConnectionSocket?
    private var receivedBefore: Int64 = 0
    /// The certificate file that is being read before libcurl gets the request; nil if there is none.
    var pendingCertificateFile: CertificateFile?
    /// The number of bytes in the socket's send queue at the last check.
    var lastUnsent: Int32?
    /// Whether the kernel still had unsent bytes of the request's body when the response began or ended.
    var hasUndrainedBody = false
    /// Set when the response is complete before the server has taken the whole body of the request. The transfer then
    /// waits for the server, at most until the time `until` (milliseconds of the boot clock).
    var pendingDrain: (socket: ConnectionSocket, until: Int64)?
    private(set) var isOverHTTP2 = false
    /// Whether the next request of this hop must use a new connection.
    private(set) var needsNewConnection = false
    private var reconnects = 0
    private var repeats: ResendReasons = []
    /// Whether libcurl has lost this server's response over HTTP/2. The request is then repeated over HTTP/1.1.
    private(set) var needsHTTP1 = false
    /// Whether the request of this hop uses HTTP/1.1 only because HTTP/2 failed before.
    var fallsBack = false
    private(set) var bodyEnd = BodyEnd.notChecked
    var outgoing: OutgoingRequest
    private(set) var easy: EasyHandle?
    private(set) var stack: CurlStack?
    /// Whether a server may have received at least a part of the request, and may act on it.
    private(set) var mayHaveBeenSent = false
    private weak var delegate: (any TransferDelegate)?
    weak var transport: Transport?
    private(set) var head = HeadCollector()
    /// The header fields of a proxy's 407 response to CONNECT; nil if there was none.
    private(set) var tunnelRefusal: [ResponseField]?
    /// The origin of this hop's HTTP proxy, in the form of `ProxyRoute.origin`; nil if there is no HTTP proxy.
    var proxy: String?
    var timing = HopTiming()
    var authExchange = AuthExchange()
    /// The schemes that the proxy offered in a response whose body was too long to be read; empty if there was none.
    private(set) var proxyOffer: AuthenticationSchemes = []

    /// Whether the server or a proxy has sent a header line since the request began.
    private(set) var hasReceived = false

    private static let skippedBodyLimit = 64 * 1024
    private static let skippedBodyMilliseconds: Int64 = 250
    /// After this number of reconnects, bytes that arrive before the request is sent count as a fault of the server.
    private static let reconnectLimit = 3

    init(
        _ request: TransferRequest, _ body: (any TransferBody)?, _ delegate: any TransferDelegate,
        _ transport: Transport, now: Int64
    ) {
        self.request = request
        outgoing = OutgoingRequest(method: request.method, body: body, expectation: request.expectation)
        self.delegate = delegate
        self.transport = transport
        url = request.url
        origin = request.origin
        secrets = request.secrets
        lastActivityAt = now
    }

    /// Ends the transfer. The delegate gets no further calls.
    public func cancel() {
        guard !isOver else { return }
        takeMetrics()
        end()
        transport?.discard(self)
    }

    /// Continues the transfer after `Flow.pause`.
    public func resume() {
        guard isPaused, !isOver else { return }
        isPaused = false
        transport?.resume(self)
    }

    /// Continues sending after `BodyRead.wait`.
    public func resumeSending() {
        guard outgoing.isPaused, !isOver else { return }
        outgoing.isPaused = false
        transport?.resumeSending(self)
    }

    // MARK: - For Transport

    /// Whether the delegate or the body has paused the transfer, in at least one direction.
    public var isWaiting: Bool { isPaused || outgoing.isPaused }

    /// The end of the request time-out, in milliseconds of the boot clock. Each sent or received byte moves this time.
    var timeoutAt: Int64 { lastActivityAt + Int64(request.requestTimeoutMilliseconds) }

    func end() {
        phase = .over
        delegate = nil
    }

    func end(_ end: TransferEnd) {
        guard !isOver else { return }
        let delegate = delegate
        self.end()
        delegate?.transferEnded(self, end)
    }

    func enterCurl(_ stack: CurlStack, _ easy: EasyHandle, now: Int64) {
        stack.began()
        (self.stack, self.easy) = (stack, easy)
        timing = HopTiming(isProxied: stack.identity.proxy != nil)
        lastActivityAt = now
    }

    func exitCurl() {
        socket?.users -= 1
        socket = nil
        stack?.ended(now: transport?.now ?? lastActivityAt)
        (stack, easy) = (nil, nil)
    }

    func follow(_ redirect: Redirect) {
        outgoing.follow(status: head.status)
        if redirect.origin != origin { needsHTTP1 = false }
        (url, origin) = (redirect.url, redirect.origin)
        keepsHeaders = redirect.keepsHeaders
        proxyOffer = []
        redirects += 1
        // If the status is 307 or 308, the server has not acted on the request. For other statuses it may have acted.
        if [307, 308].contains(head.status) { mayHaveBeenSent = false }
        beginHop()
    }

    func repeatRequest() { beginHop() }

    func repeatOverHTTP1() {
        needsHTTP1 = true
        reconnect()
    }

    func reconnect() {
        reconnects += 1
        beginHop()
        needsNewConnection = true
    }

    func mayRepeat(for reason: ResendReasons) -> Bool {
        (request.canBeRepeated || !mayHaveBeenSent) && !repeats.contains(reason)
    }

    func repeatOnce(for reason: ResendReasons) {
        repeats.insert(reason)
        reconnect()
    }

    /// Whether the request was sent over HTTP/1.x on a reused connection and has no response head yet.
    var waitsOnUsedConnection: Bool {
        !hasResponse && !head.isComplete && tunnelRefusal == nil && !isOverHTTP2 && timing.isReused
    }

    /// The number of bytes received over the connection since the request began, or nil without a connection.
    var receivedBytes: Int64? { socket?.received.map { $0 - receivedBefore } }

    private func beginHop() {
        needsNewConnection = false
        fallsBack = false
        hasReceived = false
        hasUndrainedBody = false
        isOverHTTP2 = false
        bodyEnd = .notChecked
        head = HeadCollector()
        authExchange = AuthExchange()
        tunnelRefusal = nil
        phase = .waitingForHead
    }

    // MARK: - libcurl's call-backs

    func wasNotProcessed() { mayHaveBeenSent = false }

    /// libcurl calls this before it sends the request over a connection. If this returns false, the request ends.
    func requestBegins(over endpoints: ConnectionEndpoints) -> Bool {
        easy?.recordReason()
        timing.requestBegan(easy?.negotiatedTLS, connections: easy?.connectionCount ?? 0)
        use(stack?.handles.socket(endpoints))
        noteActivity()
        guard isConnectionUsable() else { return false }
        if isOverHTTP2, timing.isFirstOnConnection, let socket { stack?.guardAgainstFlood(easy, socket) }
        mayHaveBeenSent = true
        authExchange.requestBegins()
        return true
    }

    private func use(_ socket: ConnectionSocket?) {
        self.socket?.users -= 1
        self.socket = socket
        socket?.users += 1
        receivedBefore = socket?.received ?? 0
        lastUnsent = nil
    }

    /// Checks whether bytes have arrived before the request is sent (Workarounds/EarlyBytes.swift).
    private func isConnectionUsable() -> Bool {
        guard let stack, let easy, !stack.identity.hasPriorKnowledge(of: origin) else {
            isOverHTTP2 = true
            return true
        }
        isOverHTTP2 = easy.speaksHTTP2
        let isNew = timing.isFirstOnConnection
        guard let socket else { return isNew || abandonConnection() }
        guard !socket.isMultiplexed else { return true }
        switch easy.pendingInput(
            on: socket, isEncrypted: origin.scheme == "https" || stack.identity.isProxyEncrypted,
            isNested: stack.identity.isNested(for: origin)) {
        case .none: return true
        // On a new connection, a part of a TLS record is harmless: it may belong to a TLS session ticket. If the server
        // has closed a new connection, libcurl itself reports this. So a new connection stays in use in both cases.
        case .part, .end: return isNew || abandonConnection()
        case .data:
            guard isNew, reconnects >= Transfer.reconnectLimit else { return abandonConnection() }
            violation = Failure(.badResponse, "\(origin.text) sent a response before the request")
            return false
        }
    }

    private func abandonConnection() -> Bool {
        phase = .reconnecting
        return false
    }

    /// Takes a header line. Returns `bytes.count`; any other number makes libcurl end the request.
    func take(header bytes: UnsafeRawBufferPointer) -> Int {
        guard violation == nil, !isOver else { return 0 }
        hasReceived = true
        noteActivity()
        noteRepeat()
        // After a buffered head, a line is a trailer field, or the first line after a repetition of the request.
        if case .holdingHead = phase, authExchange.isRequestSent || hasNewConnection {
            head = HeadCollector()
            phase = .waitingForHead
        }
        switch head.add(bytes) {
        case .broken(let reason): return violate(reason) ? bytes.count : 0
        case .complete: return takeWholeHead() ? bytes.count : 0
        // If a response over HTTP/1.1 has HTTP/2 in its status line, libcurl sends other requests on its connection.
        case .more where head.isHTTP2 && !maySpeakHTTP2:
            return violate("sent a response of HTTP/2 over HTTP/1.1") ? bytes.count : 0
        case .more: return bytes.count
        }
    }

    /// Returns false, because the sender of the response has violated HTTP. `reason` completes a message that begins
    /// with the sender's name.
    private func violate(_ reason: String = "sent a header that can be read in two ways") -> Bool {
        violation = Failure(.badResponse, "\(respondent) \(reason)")
        return false
    }

    private func takeWholeHead() -> Bool {
        guard authExchange.isRequestSent else { return takeConnectResponse() }
        if head.status == 401 { easy?.noteChallenge() }
        guard watchBody() else { return false }
        if authExchange.mayBeRepeated(after: head.status) {
            // The connection is not reused, because libcurl does not check the body that it drops.
            if !head.isHTTP2 { easy?.forbidReuse() }
            easy?.watchProgress()
            phase = .holdingHead
            return true
        }
        guard takeHead() else { return false }
        if authExchange.mustStop(after: head.status) {
            phase = .refused
            return false
        }
        return !endBody()
    }

    /// If the transport, but not libcurl, recognises the end of the body, ends the transfer at this end.
    private func endBody() -> Bool {
        guard case .length(bytesReceived) = bodyEnd, case .receiving = phase else { return false }
        phase = .ended
        return true
    }

    /// If a reused connection to a proxy was closed, libcurl repeats the request on a new connection. Detects such a
    /// repetition: then the head that begins now is the proxy's response to CONNECT.
    private func noteRepeat() {
        guard timing.isProxied, authExchange.isRequestSent, case .waitingForHead = phase else { return }
        if hasNewConnection { authExchange.requestIsRepeated() }
    }

    /// Checks that libcurl has read the head as the transport has, and prepares to check the end of the body
    /// independently of libcurl. Returns false if the head violates HTTP.
    private func watchBody() -> Bool {
        bodyEnd = .notChecked
        let framing = ResponseFraming(head, method: outgoing.method)
        if case .invalid(let reason) = framing { return violate(reason) }
        guard easy?.agrees(with: head, framing) ?? true else { return violate() }
        if authExchange.credentials.mayRepeat(after: head.status), head.hasFoldedChallenge {
            return violate("wrote its challenge over two lines, of which libcurl reads only the first")
        }
        guard !head.isHTTP2 else {
            socket?.isMultiplexed = true
            if framing == .untilClose, request.canBeRepeated || outgoing.body == nil { bodyEnd = .endsWithStream }
            // No later request can use the connection. If it were closed here, `hasUnmarkedEnd` would be wrong.
            if case .notChecked = bodyEnd, !isMultiplexed { easy?.forbidReuse() }
            return true
        }
        switch framing {
        case .none, .chunked, .length(0): easy?.watchForExcess()
        case .untilClose where easy?.hasCloseNotify != nil:
            bodyEnd = .withoutCloseNotify
            easy?.watchProgress()
        default: break
        }
        if case .length(let length) = framing, easy?.contentLength == nil { bodyEnd = .length(length) }
        return true
    }

    /// Takes a progress call of libcurl. Returns false if the request must end, because the body of a 401 or 407
    /// response is too long. libcurl drops this body without a limit.
    func takeProgress(downloaded: Int64) -> Bool {
        noteCloseNotify()
        let limit = Transfer.skippedBodyLimit
        guard isHoldingHead ? downloaded > limit : authExchange.dropsByte(limit: limit) else { return true }
        // The server or proxy has not acted on the request.
        if isHoldingHead { wasNotProcessed() }
        if repeats.insert(.longChallenge).inserted {
            proxyOffer = easy?.proxyOffer ?? []
            phase = .reconnecting
        } else if isHoldingHead, takeHeldHead() {
            phase = .ended
        }
        return false
    }

    private func noteCloseNotify() {
        guard case .withoutCloseNotify = bodyEnd, easy?.hasCloseNotify == true else { return }
        bodyEnd = .withCloseNotify
    }

    /// Whether the body ended because its TLS connection ended without close_notify. Such a body may be incomplete.
    var isTruncated: Bool {
        if case .withoutCloseNotify = bodyEnd { headIsWhole } else { false }
    }

    private func takeConnectResponse() -> Bool {
        guard easy?.agrees(withConnectResponse: head) ?? true else { return violate() }
        let status = head.status
        tunnelRefusal = status == 407 ? head.fields : nil
        head = HeadCollector(after: status == 407)
        guard authExchange.connectResponded(with: status) else { return false }
        if status == 407 { easy?.watchProgress() }
        return true
    }

    /// If there is a buffered head, passes it to the delegate. Returns false if the body must not be received.
    @discardableResult
    func takeHeldHead() -> Bool {
        guard case .holdingHead = phase else { return true }
        phase = .waitingForHead
        return takeHead()
    }

    /// Passes the proxy's refusal of a tunnel to the delegate as the response. libcurl itself reports only an error.
    func takeTunnelRefusal() -> Bool {
        guard let fields = tunnelRefusal, case .waitingForHead = phase else { return false }
        phase = .receiving
        let response = ResponseHead(
            status: 407, finalURL: url, isMultiplexed: false, fields: fields, origin: origin.text, proxy: proxy)
        _ = delegate?.transfer(self, received: response)
        return true
    }

    private func takeHead() -> Bool {
        if let jar, head.fields.contains(where: { $0.isNamed("Set-Cookie") }) { jar.onChange() }
        noteHead()
        if head.status == 421, repeats.insert(.misdirected).inserted {
            wasNotProcessed()
            phase = .reconnecting
            return false
        }
        if head.status == 417, outgoing.dropExpectation() {
            phase = .repeating
            return false
        }
        if request.redirects != .none, let location = Redirect.location(head) {
            violation = Redirect.contradiction(head, at: origin)
            guard violation == nil else { return false }
            let until = (transport?.now ?? lastActivityAt) + Transfer.skippedBodyMilliseconds
            phase = .redirecting(to: location, skipped: 0, until: until)
            transport?.checkAgain(at: until)
            return true
        }
        phase = .receiving
        noteUndrainedBody(socket)
        let response = ResponseHead(
            status: head.status, finalURL: url, isMultiplexed: isMultiplexed, fields: head.fields,
            retryAfterSeconds: head.retryAfterSeconds, origin: origin.text, proxy: proxy)
        // Without a delegate, the transfer stops.
        switch delegate?.transfer(self, received: response) {
        case .receive where !isOver:
            return true
        case .refuse where !isOver:
            phase = .refused
            return false
        default:
            return false
        }
    }

    func readBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard !isOver, !room.isEmpty else { return Int(CURL_READFUNC_ABORT) }
        noteActivity()
        var bytes = room.mutableBytes
        // `outgoing` must not be mutated while `body.read` runs, because the source may read `outgoing`.
        guard let body = outgoing.bodyToRead else { return 0 }
        guard let count = outgoing.didRead(body.read(into: &bytes)) else { return Int(CURL_READFUNC_PAUSE) }
        if outgoing.sent == outgoing.bodySize { timing.bodyEnded() }
        return count
    }

    func take(body bytes: UnsafeRawBufferPointer) -> Int {
        noteActivity()
        guard takeHeldHead() else { return 0 }
        switch phase {
        case .redirecting(let location, let skipped, let until):
            let total = skipped + bytes.count
            phase = .redirecting(to: location, skipped: total, until: until)
            return total <= Transfer.skippedBodyLimit ? bytes.count : 0
        case .receiving:
            break
        default:
            return 0
        }
        // If the current call of libcurl has taken too long, this transfer is paused, so that other transfers can run.
        if stack?.multi.noteChunk() == true {
            transport?.resume(self)
            return Int(bhl_pause)
        }
        guard let delegate else { return 0 }
        var bytes = bytes
        if case .length(let length) = bodyEnd {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: length - bytesReceived)))
        }
        let flow = delegate.transfer(self, received: bytes.bytes)
        guard !isOver else { return 0 }
        if flow == .pause {
            isPaused = true
            return Int(bhl_pause)
        }
        bytesReceived += UInt64(bytes.count)
        return endBody() ? 0 : bytes.count
    }

    private func noteActivity() {
        if let now = transport?.now { lastActivityAt = now }
    }
}
