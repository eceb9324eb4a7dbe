public import BackhaulModel
internal import CCurl

/// A transfer under way. Confined to the loop's thread.
///
/// Unsafe: libcurl's call-backs give pointers to bytes that live until they return, and are used no longer.
public final class Transfer {
    /// Body bytes handed to the delegate.
    public private(set) var bytesReceived: UInt64 = 0
    /// As far as it is known.
    public internal(set) var metrics = TransferMetrics()
    public var isHTTP2: Bool { head.isHTTP2 }
    /// The numbers of the answers to challenges that the last request carried, if any.
    public internal(set) var sentToServer: UInt64?
    public internal(set) var sentToProxy: UInt64?
    /// Of answers that were sent and not asked for again.
    public internal(set) var acceptedAnswers: [UInt64] = []

    /// What all requests of this transfer have carried of answers.
    public internal(set) var secrets = SentSecrets()

    enum Phase {
        case waitingForHead
        /// A 401 or 407 that libcurl may answer itself: then comes another head, else a body or the end.
        case holdingHead
        /// The body of a response that redirects is read and dropped, so that the connection can be used again: up to a
        /// size, and until a time by the boot clock.
        case redirecting(to: [UInt8], skipped: Int, until: Int64)
        case receiving
        case refused
        /// The request is sent again without its expectation.
        case repeating
        /// The connection cannot carry the request, which is sent again over another one.
        case reconnecting
        /// Nothing more reaches the delegate.
        case over
    }

    let request: TransferRequest
    private(set) var url: String
    private(set) var origin: Origin
    private(set) var keepsHeaders = true
    private(set) var redirects = 0
    private(set) var phase = Phase.waitingForHead
    /// What we found wrong with the response ourselves.
    private(set) var violation: Failure?
    /// Boot-clock milliseconds.
    var lastHeardAt: Int64
    private(set) var isPaused = false

    var jar: CookieJar?
    /// Of the request's connection.
    private(set) var socket: ConnectionSocket?
    private var receivedBefore: Int64 = 0
    /// It is being read before libcurl gets the request.
    var awaitedFile: CertificateFile?
    /// Bytes in the socket's queue when it was last looked at.
    var lastUnsent: Int32?
    /// Bytes of the body were in the kernel when the response came, or ended.
    var leftUntaken = false
    /// The response is whole, and the server may take the rest of the body until then, by the boot clock.
    var awaitsTaking: (socket: ConnectionSocket, until: Int64)?
    /// HTTP/2 was agreed for the connection.
    private(set) var isOverHTTP2 = false
    /// The next request of this hop gets a connection of its own.
    private(set) var needsNewConnection = false
    private var reconnects = 0
    private var repeats: RepeatReasons = []
    /// libcurl lost this server's response over HTTP/2, so the request is repeated over HTTP/1.1.
    private(set) var needsHTTP1 = false
    /// The request of this hop goes over HTTP/1.1 only because HTTP/2 failed before.
    var fallsBack = false
    /// Whether the end of a body was marked that has no length.
    private var bodyEnd = ConnectionEndedBody.no
    /// Method and body.
    var sending: Sending
    private(set) var easy: EasyHandle?
    private(set) var stack: CurlStack?
    /// The request, or a first part of it, may have been sent to a server that acts on it.
    private(set) var mayHaveBeenSent = false
    private weak var delegate: (any TransferDelegate)?
    private weak var transport: Transport?
    private(set) var head = HeadCollector()
    /// What a proxy said that refuses a tunnel for want of a credential.
    private(set) var tunnelRefusal: [ResponseField]?
    /// In challenges: of the HTTP proxy of this hop, if any.
    var proxy: String?
    var timing = HopTiming()
    var questions = HopQuestions()

    /// The server or a proxy has sent something since the request began.
    private(set) var hasHeard = false

    private static let skippedBodyLimit = 64 * 1024
    private static let skippedBodyMilliseconds: Int64 = 250
    /// After so many reconnects in a row, early bytes are an error of the server.
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

    /// Ends the transfer; the delegate hears nothing more of it.
    public func cancel() {
        guard !isOver else { return }
        takeMetrics()
        end()
        transport?.discard(self)
    }

    /// Goes on after a `pause`.
    public func resume() {
        guard isPaused, !isOver else { return }
        isPaused = false
        transport?.resume(self)
    }

    /// Goes on after `BodyRead.wait`.
    public func resumeSending() {
        guard sending.isPaused, !isOver else { return }
        sending.isPaused = false
        transport?.resumeSending(self)
    }

    // MARK: - For Transport

    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Paused by us, in one direction at least.
    public var isWaiting: Bool { isPaused || sending.isPaused }

    /// When the server has been silent for too long, in boot-clock milliseconds.
    var silentAt: Int64 { lastHeardAt + Int64(request.requestTimeoutMilliseconds) }

    var headIsWhole: Bool {
        switch phase {
        case .waitingForHead, .holdingHead: false
        default: true
        }
    }

    /// The head of a response has arrived, also one that is held.
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
        // After any other redirect the first server may have done what was asked of it.
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

    /// Over HTTP/1.x, not the first request on its connection, and without a whole response head.
    var waitsOnUsedConnection: Bool { !hasResponse && !head.isComplete && !isOverHTTP2 && timing.isReused }

    /// Bytes that came over the connection since the request began; nil when it had no connection yet.
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

    /// A connection is there, and the request goes out next. False ends the request.
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

    /// Bytes that come before the request cannot be its response (RFC 9112, section 6.3). libcurl 7.88.1 would take
    /// them for it.
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
        // On a new connection: session tickets follow each handshake, and libcurl reports the end itself.
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

    /// The number of bytes taken; anything else than what was given ends the transfer.
    func take(header bytes: UnsafeRawBufferPointer) -> Int {
        guard violation == nil, !isOver else { return 0 }
        hasHeard = true
        heard()
        noteRepeat()
        // libcurl has answered the question that is held.
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
                // libcurl drops the body unseen, and what comes behind it.
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

    /// libcurl repeats a request by itself when a used connection turns out to be closed. The next head is then that of
    /// the proxy's response to CONNECT for the new connection.
    private func noteRepeat() {
        guard timing.isProxied, questions.isRequestSent, case .waitingForHead = phase, let easy,
            timing.isBehind(connections: easy.connectionCount)
        else { return }
        questions.requestIsRepeated()
    }

    /// Sees to it that the end of the body will be known, whatever libcurl makes of it. False when the head breaks the
    /// rules.
    private func watchBody() -> Bool {
        bodyEnd = .no
        guard !head.isHTTP2 else {
            // libcurl believes the status line, and so would everything here that is for HTTP/1.x alone.
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

    /// It was agreed, or may have been: without TLS by an upgrade, and with another TLS library than OpenSSL.
    private var maySpeakHTTP2: Bool {
        if isOverHTTP2 || CurlLibrary.openSSL == nil { return true }
        return stack?.identity.httpVersion == .http2 && origin.scheme == "http"
    }

    func noteTLSEnd() {
        guard case .notSeen = bodyEnd, easy?.hasTLSEnd == true else { return }
        bodyEnd = .seen
    }

    /// libcurl 7.88.1 takes the end of a connection on which the server broke the rules of HTTP/2 for the end of each
    /// body without a length (lib/http2.c, h2_process_pending_input). A stream that has ended leaves it open.
    var hasUnmarkedEnd: Bool {
        if case .unmarked = bodyEnd { headIsWhole && socket?.isClosed == true } else { false }
    }

    /// The body ended with a TLS connection that the server has not closed as TLS demands: it may have been cut.
    var isTruncated: Bool {
        if case .notSeen = bodyEnd { headIsWhole } else { false }
    }

    private func takeAnswerToConnect() -> Bool {
        let status = head.status
        tunnelRefusal = status == 407 ? head.fields : nil
        head = HeadCollector(after: status == 407)
        return questions.connectWasAnswered(with: status)
    }

    /// False when nobody wants the answer.
    @discardableResult
    func takeHeldHead() -> Bool {
        guard case .holdingHead = phase else { return true }
        phase = .waitingForHead
        return takeHead()
    }

    /// The proxy's refusal of a tunnel is the answer: libcurl has it as an error.
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
        // A transfer whose delegate is gone is of use to nobody.
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
        // Not from within `sending`: the body's owner may look at it meanwhile.
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
        // Others get their turn: libcurl reads on for as long as bytes come.
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

/// What is known of the end of a body that ends with its connection, over TLS.
enum ConnectionEndedBody {
    /// There is no such body.
    case no
    case notSeen
    /// Over HTTP/2: it is the stream that ends.
    case unmarked
    /// The server has sent close_notify (RFC 8446, section 6.1).
    case seen
}
