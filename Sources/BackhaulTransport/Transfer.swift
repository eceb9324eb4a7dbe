public import BackhaulModel
internal import CCurl

/// A running transfer. It is confined to the loop's thread.
///
/// Unsafe: libcurl's call-backs pass pointers to bytes that live until the call-back returns, and are not used later.
public final class Transfer {
    /// The number of body bytes that the delegate took.
    public private(set) var bytesReceived: UInt64 = 0
    /// The metrics of the latest request, as far as they are known.
    public internal(set) var metrics = TransferMetrics()
    public var isHTTP2: Bool { head.isHTTP2 }
    /// The numbers of the credentials that the last request carried, or nil.
    public internal(set) var sentToServer: UInt64?
    public internal(set) var sentToProxy: UInt64?
    /// The numbers of credentials that were sent and that a response accepted.
    public internal(set) var acceptedAnswers: [UInt64] = []

    /// The secrets of all credentials that this transfer's requests carried.
    public internal(set) var secrets = SentSecrets()

    enum Phase {
        case waitingForHead
        /// The head is buffered: it has 401 or 407, and libcurl may repeat the request. Then another head follows.
        case holdingHead
        /// The body of a redirect is read and dropped, so that the connection can be reused. Its size is limited, and
        /// `until` is a time of the boot clock.
        case redirecting(to: [UInt8], skipped: Int, until: Int64)
        case receiving
        case refused
        /// The request is sent again without Expect.
        case repeating
        /// The connection cannot carry the request, which is sent again over another one.
        case reconnecting
        /// The delegate gets no further calls.
        case over
    }

    let request: TransferRequest
    private(set) var url: String
    private(set) var origin: Origin
    private(set) var keepsHeaders = true
    private(set) var redirects = 0
    private(set) var phase = Phase.waitingForHead
    /// A fault of the response that the transport found itself, not libcurl.
    private(set) var violation: Failure?
    /// When bytes last moved, in boot-clock milliseconds.
    var lastHeardAt: Int64
    private(set) var isPaused = false

    var jar: CookieJar?
    /// The socket of the request's connection.
    private(set) var socket: ConnectionSocket?
    private var receivedBefore: Int64 = 0
    /// A certificate file that must be read before libcurl gets the request.
    var awaitedFile: CertificateFile?
    /// The bytes in the socket's send queue at the last check.
    var lastUnsent: Int32?
    /// Whether the kernel still had bytes of the body when the response came, or ended.
    var leftUntaken = false
    /// Set if the response is complete before the server has taken the body. `until` is a time of the boot clock.
    var awaitsTaking: (socket: ConnectionSocket, until: Int64)?
    /// Whether HTTP/2 was agreed for the connection.
    private(set) var isOverHTTP2 = false
    /// Whether the next request of this hop must use a new connection.
    private(set) var needsNewConnection = false
    private var reconnects = 0
    private var repeats: RepeatReasons = []
    /// Whether libcurl lost this server's response over HTTP/2. The request is then repeated over HTTP/1.1.
    private(set) var needsHTTP1 = false
    /// Whether the request of this hop uses HTTP/1.1 only because HTTP/2 failed before.
    var fallsBack = false
    /// Whether the end of a body without a length was marked.
    private var bodyEnd = ConnectionEndedBody.no
    /// The method and the body.
    var sending: Sending
    private(set) var easy: EasyHandle?
    private(set) var stack: CurlStack?
    /// Whether the request, or its first part, may have reached a server that acts on it.
    private(set) var mayHaveBeenSent = false
    private weak var delegate: (any TransferDelegate)?
    private weak var transport: Transport?
    private(set) var head = HeadCollector()
    /// The fields of a proxy's 407 response to CONNECT.
    private(set) var tunnelRefusal: [ResponseField]?
    /// The origin of this hop's HTTP proxy, as challenges name it, or nil.
    var proxy: String?
    var timing = HopTiming()
    var questions = HopQuestions()

    /// Whether the server or a proxy has sent a header line since the request began.
    private(set) var hasHeard = false

    private static let skippedBodyLimit = 64 * 1024
    private static let skippedBodyMilliseconds: Int64 = 250
    /// After this number of reconnects, bytes before the request are an error of the server.
    private static let reconnectLimit = 3

    init(
        _ request: TransferRequest, _ body: (any TransferBody)?, _ delegate: any TransferDelegate,
        _ transport: Transport, now: Int64
    ) {
        self.request = request
        sending = Sending(method: request.method, body: body, expectation: request.expectation)
        self.delegate = delegate
        self.transport = transport
        url = request.url
        origin = request.origin
        secrets = request.secrets
        lastHeardAt = now
    }

    /// Ends the transfer. The delegate gets no further calls.
    public func cancel() {
        guard !isOver else { return }
        takeMetrics()
        end()
        transport?.discard(self)
    }

    /// Continues after `Flow.pause`.
    public func resume() {
        guard isPaused, !isOver else { return }
        isPaused = false
        transport?.resume(self)
    }

    /// Continues after `BodyRead.wait`.
    public func resumeSending() {
        guard sending.isPaused, !isOver else { return }
        sending.isPaused = false
        transport?.resumeSending(self)
    }

    // MARK: - For Transport

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether the delegate or the body has paused the transfer, in at least one direction.
    public var isWaiting: Bool { isPaused || sending.isPaused }

    /// When the request time-out ends unless bytes move, in boot-clock milliseconds.
    var silentAt: Int64 { lastHeardAt + Int64(request.requestTimeoutMilliseconds) }

    var headIsWhole: Bool {
        switch phase {
        case .waitingForHead, .holdingHead: false
        default: true
        }
    }

    /// Whether the head of a response has arrived. A buffered head counts.
    var hasResponse: Bool { headIsWhole || isHoldingHead }

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
        lastHeardAt = now
    }

    func leaveCurl() {
        socket?.users -= 1
        socket = nil
        stack?.ended(now: transport?.now ?? lastHeardAt)
        (stack, easy) = (nil, nil)
    }

    func follow(_ redirect: Redirect) {
        sending.follow(status: head.status)
        if redirect.origin != origin { needsHTTP1 = false }
        (url, origin) = (redirect.url, redirect.origin)
        keepsHeaders = redirect.keepsHeaders
        redirects += 1
        // After other redirects the first server may have acted on the request.
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

    func mayRepeat(for reason: RepeatReasons) -> Bool {
        (request.canBeRepeated || !mayHaveBeenSent) && !repeats.contains(reason)
    }

    func repeatOnce(for reason: RepeatReasons) {
        repeats.insert(reason)
        reconnect()
    }

    /// Whether the request waits for its response head over HTTP/1.x on a reused connection.
    var waitsOnUsedConnection: Bool { !hasResponse && !head.isComplete && !isOverHTTP2 && timing.isReused }

    /// The bytes received over the connection since the request began, or nil without a connection.
    var receivedBytes: Int64? { socket?.received.map { $0 - receivedBefore } }

    private func beginHop() {
        needsNewConnection = false
        fallsBack = false
        hasHeard = false
        leftUntaken = false
        isOverHTTP2 = false
        bodyEnd = .no
        head = HeadCollector()
        questions = HopQuestions()
        phase = .waitingForHead
    }

    // MARK: - libcurl's call-backs

    var isHoldingHead: Bool { if case .holdingHead = phase { true } else { false } }

    func wasNotProcessed() { mayHaveBeenSent = false }

    /// Called when the request has a connection and is sent next. False ends the request.
    func requestBegins(over ends: ConnectionEnds) -> Bool {
        timing.requestBegan(easy?.tlsAgreement, connections: easy?.connectionCount ?? 0)
        use(stack?.handles.socket(ends))
        guard isConnectionUsable() else { return false }
        if isOverHTTP2, timing.isFirstOnConnection, let socket { stack?.guardTurns(easy, socket) }
        mayHaveBeenSent = true
        questions.requestBegins()
        return true
    }

    private func use(_ socket: ConnectionSocket?) {
        self.socket?.users -= 1
        self.socket = socket
        socket?.users += 1
        receivedBefore = socket?.received ?? 0
        lastUnsent = nil
    }

    /// Checks for bytes before the request, which cannot be its response (RFC 9112, section 6.3). libcurl 7.88.1 would
    /// accept them as the response.
    private func isConnectionUsable() -> Bool {
        guard let stack, let easy, stack.identity.httpVersion != .http2PriorKnowledge else {
            isOverHTTP2 = true
            return true
        }
        isOverHTTP2 = easy.speaksHTTP2
        let isNew = timing.isFirstOnConnection
        guard let socket else { return isNew || leaveConnection() }
        guard !socket.isMultiplexed else { return true }
        switch easy.pendingInput(
            on: socket, isEncrypted: origin.scheme == "https" || stack.identity.isProxyEncrypted,
            isNested: stack.identity.isNested(for: origin)) {
        case .none: return true
        // On a new connection, TLS session tickets follow the handshake, and libcurl reports the end itself.
        case .part, .end: return isNew || leaveConnection()
        case .data:
            guard isNew, reconnects >= Transfer.reconnectLimit else { return leaveConnection() }
            violation = Failure(.badResponse, "\(origin.text) sent a response before the request")
            return false
        }
    }

    private func leaveConnection() -> Bool {
        phase = .reconnecting
        return false
    }

    /// Returns the number of bytes taken. Any number except `bytes.count` ends the transfer.
    func take(header bytes: UnsafeRawBufferPointer) -> Int {
        guard violation == nil, !isOver else { return 0 }
        hasHeard = true
        heard()
        noteRepeat()
        // This is the head of libcurl's next request. The buffered head is obsolete.
        if case .holdingHead = phase, bytes.starts(with: "HTTP/".utf8) {
            head = HeadCollector()
            phase = .waitingForHead
        }
        switch head.add(bytes) {
        case .more:
            return bytes.count
        case .broken(let reason):
            violation = Failure(.badResponse, "\(respondent) \(reason)")
            return 0
        case .complete:
            guard (100...999).contains(head.status) else {
                violation = Failure(.badResponse, "\(respondent) sent a status that is not a number of three digits")
                return 0
            }
            guard questions.isRequestSent else { return takeAnswerToConnect() ? bytes.count : 0 }
            if head.status == 401 { easy?.noteQuestion() }
            if questions.mayBeRepeated(after: head.status) {
                guard watchBody() else { return 0 }
                // libcurl does not check the body that it drops, or bytes after it.
                if !head.isHTTP2 { easy?.forbidReuse() }
                phase = .holdingHead
                return bytes.count
            }
            guard watchBody(), takeHead() else { return 0 }
            guard questions.isToBeStopped(after: head.status) else { return bytes.count }
            phase = .refused
            return 0
        }
    }

    /// libcurl repeats a request on its own when a reused connection turns out to be closed. The next head is then the
    /// proxy's response to CONNECT for the new connection.
    private func noteRepeat() {
        guard timing.isProxied, questions.isRequestSent, case .waitingForHead = phase, let easy,
            timing.isBehind(connections: easy.connectionCount)
        else { return }
        questions.requestIsRepeated()
    }

    /// Prepares to detect the end of the body independently of libcurl. Returns false if the head breaks the rules.
    private func watchBody() -> Bool {
        bodyEnd = .no
        guard !head.isHTTP2 else {
            // libcurl trusts the version in the status line. Without this check, checks for HTTP/1.x would be skipped.
            guard maySpeakHTTP2 else {
                violation = Failure(.badResponse, "\(origin.text) sent a response of HTTP/2 over HTTP/1.1")
                return false
            }
            socket?.isMultiplexed = true
            let mayAskAgain = request.canBeRepeated || sending.body == nil
            if mayAskAgain, ResponseFraming(head, method: sending.method) == .untilClose { bodyEnd = .unmarked }
            return true
        }
        switch ResponseFraming(head, method: sending.method) {
        case .invalid(let reason):
            violation = Failure(.badResponse, "\(origin.text) \(reason)")
            return false
        case .none, .chunked: easy?.watchForExcess()
        case .untilClose where easy?.hasTLSEnd != nil:
            bodyEnd = .notSeen
            easy?.watchForTLSEnd()
        case .length, .untilClose: break
        }
        return true
    }

    /// Whether HTTP/2 was agreed, or may have been: by an upgrade without TLS, or because OpenSSL is not in use.
    private var maySpeakHTTP2: Bool {
        if isOverHTTP2 || CurlLibrary.openSSL == nil { return true }
        return stack?.identity.httpVersion == .http2 && origin.scheme == "http"
    }

    func noteTLSEnd() {
        guard case .notSeen = bodyEnd, easy?.hasTLSEnd == true else { return }
        bodyEnd = .seen
    }

    /// After a violation of HTTP/2, libcurl 7.88.1 takes the connection's end for the end of each body without a length
    /// (lib/http2.c, h2_process_pending_input). A stream that ends properly leaves the connection open.
    var hasUnmarkedEnd: Bool {
        if case .unmarked = bodyEnd { headIsWhole && socket?.isClosed == true } else { false }
    }

    /// Whether the body ended with a TLS connection that had no close_notify. It may have been cut.
    var isTruncated: Bool {
        if case .notSeen = bodyEnd { headIsWhole } else { false }
    }

    private func takeAnswerToConnect() -> Bool {
        let status = head.status
        tunnelRefusal = status == 407 ? head.fields : nil
        head = HeadCollector(after: status == 407)
        return questions.connectWasAnswered(with: status)
    }

    /// Delivers the buffered head, if any. Returns false if its body is not wanted.
    @discardableResult
    func takeHeldHead() -> Bool {
        guard case .holdingHead = phase else { return true }
        phase = .waitingForHead
        return takeHead()
    }

    /// Delivers the proxy's refusal of a tunnel as the response. libcurl reports it as an error only.
    func takeTunnelRefusal() -> Bool {
        guard let fields = tunnelRefusal, case .waitingForHead = phase else { return false }
        phase = .receiving
        let response = ResponseHead(
            status: 407, finalURL: url, isHTTP2: false, fields: fields, origin: origin.text, proxy: proxy)
        _ = delegate?.transfer(self, received: response)
        return true
    }

    private func takeHead() -> Bool {
        if let jar, head.fields.contains(where: { $0.isNamed("Set-Cookie") }) { jar.onChange() }
        noteAccepted(head.status)
        if head.status == 421, repeats.insert(.misdirected).inserted {
            wasNotProcessed()
            phase = .reconnecting
            return false
        }
        if head.status == 417, sending.dropExpectation() {
            phase = .repeating
            return false
        }
        if request.redirects != .none, let location = Redirect.location(head) {
            violation = Redirect.contradiction(head, at: origin)
            guard violation == nil else { return false }
            let until = (transport?.now ?? lastHeardAt) + Transfer.skippedBodyMilliseconds
            phase = .redirecting(to: location, skipped: 0, until: until)
            transport?.lookAgain(at: until)
            return true
        }
        phase = .receiving
        noteUntakenBody(socket)
        let response = ResponseHead(
            status: head.status, finalURL: url, isHTTP2: head.isHTTP2, fields: head.fields,
            retryAfterSeconds: easy?.retryAfterSeconds ?? head.uncountableRetryAfter, origin: origin.text, proxy: proxy)
        // Without a delegate the transfer is stopped.
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

    func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard !isOver, !room.isEmpty else { return Int(CURL_READFUNC_ABORT) }
        heard()
        var bytes = room.mutableBytes
        // `sending` is not being changed during this call: the body's source may read it.
        guard let body = sending.bodyToRead else { return 0 }
        guard let count = sending.gave(body.read(into: &bytes)) else { return Int(CURL_READFUNC_PAUSE) }
        if sending.sent == sending.bodySize { timing.bodyEnded() }
        return count
    }

    func take(body bytes: UnsafeRawBufferPointer) -> Int {
        heard()
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
        // Pauses a transfer that libcurl has read from for too long, so that others can run.
        if stack?.multi.notePiece() == true {
            transport?.resume(self)
            return Int(bhl_pause)
        }
        guard let delegate else { return 0 }
        let flow = delegate.transfer(self, received: bytes.bytes)
        if isOver { return 0 }
        if flow == .pause {
            isPaused = true
            return Int(bhl_pause)
        }
        bytesReceived += UInt64(bytes.count)
        return bytes.count
    }

    private func heard() {
        if let now = transport?.now { lastHeardAt = now }
    }
}

/// How a body ended that has no length and ends with its TLS connection.
enum ConnectionEndedBody {
    /// The response has no such body.
    case no
    case notSeen
    /// The body came over HTTP/2, so its stream ends it.
    case unmarked
    /// The server has sent close_notify (RFC 8446, section 6.1).
    case seen
}
