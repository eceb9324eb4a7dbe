public import BackhaulModel
internal import CCurl

/// A running transfer: an HTTP request, and the further requests after redirects or demands for a password. The
/// delegate gets the final response. All calls are on the thread of the event loop.
///
/// Unsafe: the bytes that libcurl passes to a call-back live until the call-back returns, and are not used later.
public final class Transfer {
    /// The number of bytes of the response's body that the delegate has taken.
    public private(set) var bytesReceived: UInt64 = 0
    /// The metrics of the latest request, as far as they are known.
    public internal(set) var metrics = TransferMetrics()
    public internal(set) var credentials = SentCredentials()
    /// The secrets of all credentials that this transfer has sent.
    public internal(set) var secrets: SecretRedactor

    let request: TransferRequest
    let jar: CookieJar?
    private weak var delegate: (any TransferDelegate)?
    weak var transport: Transport?
    private(set) var target: Target
    var outgoing: OutgoingRequest
    private(set) var resends = ResendHistory()
    var exchange = Exchange()
    private(set) var curl: CurlUse?
    /// The time at which bytes were last sent or received, in milliseconds of the boot clock.
    var lastActivityAt: Int64

    private static let skippedBodyLimit = 64 * 1024
    private static let skippedBodyMilliseconds: Int64 = 250
    /// After this number of reconnects, bytes that arrive before the request is sent count as a fault of the server.
    private static let reconnectLimit = 3

    init(
        _ request: TransferRequest, _ body: (any TransferBody)?, _ jar: CookieJar?, _ delegate: any TransferDelegate,
        _ transport: Transport, now: Int64
    ) {
        self.request = request
        self.jar = jar
        outgoing = OutgoingRequest(method: request.method, body: body, expectation: request.expectation)
        self.delegate = delegate
        self.transport = transport
        target = Target(request)
        secrets = request.secrets
        secrets.add(requestFields: request.headers)
        lastActivityAt = now
    }

    public var isHTTP2: Bool { exchange.head.isHTTP2 }

    /// Whether the delegate or the body has paused the transfer, in at least one direction.
    public var isWaiting: Bool { exchange.isPaused || outgoing.isPaused }

    /// Ends the transfer. The delegate gets no further calls.
    public func cancel() {
        guard !isOver else { return }
        takeMetrics()
        end()
        transport?.discard(self)
    }

    /// Continues the transfer after `Flow.pause`.
    public func resume() {
        guard exchange.isPaused else { return }
        exchange.state = .receiving(isPaused: false)
        transport?.resume(self)
    }

    /// Continues sending after `BodyRead.wait`.
    public func resumeSending() {
        guard outgoing.isPaused, !isOver else { return }
        outgoing.isPaused = false
        transport?.resume(self)
    }

    // MARK: - For Transport

    var origin: Origin { target.origin }

    var isOver: Bool { exchange.isOver }

    /// The end of the request time-out, in milliseconds of the boot clock. Each sent or received byte moves this time.
    var timeoutAt: Int64 { lastActivityAt + Int64(request.requestTimeoutMilliseconds) }

    func end() {
        exchange.state = .over
        delegate = nil
    }

    func end(_ end: TransferEnd) {
        guard !isOver else { return }
        let delegate = delegate
        self.end()
        delegate?.transferEnded(self, end)
    }

    func enterCurl(_ stack: CurlStack, _ easy: EasyHandle, now: Int64) {
        curl = CurlUse(stack, easy)
        exchange.timing = HopTiming(isProxied: stack.identity.proxy != nil)
        exchange.state = .waitingForHead(tunnelRefusal: nil)
        lastActivityAt = now
    }

    func exitCurl() {
        curl?.end(now: transport?.now ?? lastActivityAt)
        curl = nil
    }

    /// The delay of the redirect, in milliseconds; nil if it is followed now.
    func delay(of redirect: Redirect) -> Int64? {
        redirect.origin == origin ? nil : delegate?.transfer(self, delayOfRedirectFrom: origin, to: redirect.origin)
    }

    /// Sets the server of a request for an object of S3.
    func move(to url: String, _ origin: Origin) { (target.url, target.origin) = (url, origin) }

    func follow(_ redirect: Redirect) {
        let status = exchange.head.status
        outgoing.follow(status: status)
        target = Target(redirect, from: target)
        secrets.add(redirectTarget: redirect.url, requested: request.url)
        // If the status is 307 or 308, the server has not acted on the request. For other statuses it may have acted.
        if [307, 308].contains(status) { wasNotProcessed() }
        exchange = Exchange()
    }

    /// Prepares to send the request again. The caller starts the new exchange.
    func sendAgain(needsNewConnection: Bool = true, for reason: ResendReasons = []) {
        if needsNewConnection { resends.reconnects += 1 }
        resends.reasons.formUnion(reason)
        exchange = Exchange(needsNewConnection: needsNewConnection)
    }

    func sendAgainOverHTTP1() {
        target.needsHTTP1 = true
        sendAgain()
    }

    func mayRepeat(for reason: ResendReasons) -> Bool {
        (request.canBeRepeated || !resends.mayHaveBeenSent) && !resends.reasons.contains(reason)
    }

    /// Checks again how many bytes the server's TCP has not acknowledged. Restarts the request time-out when the number
    /// has become smaller: the bytes that libcurl has passed to the kernel may need more time than the time-out allows.
    func noteDrain(now: Int64) {
        guard outgoing.sent > 0, !exchange.headIsWhole, let found = curl?.socket?.unsent else { return }
        if found > 0, curl?.lastUnsent.map({ found < $0 }) ?? true { lastActivityAt = now }
        curl?.lastUnsent = found
    }

    /// Whether the request has not been sent again for this reason yet.
    func startsAgain(for reason: ResendReasons) -> Bool { resends.reasons.insert(reason).inserted }

    func wasNotProcessed() { resends.mayHaveBeenSent = false }

    // MARK: - libcurl's call-backs

    /// libcurl calls this before it sends the request over a connection. If this returns false, the request ends.
    func requestBegins(over endpoints: ConnectionEndpoints) -> Bool {
        guard let easy = curl?.easy, let stack = curl?.stack else { return false }
        easy.recordReason()
        exchange.timing.requestBegan(easy.negotiatedTLS, connections: easy.connectionCount)
        curl?.use(stack.handles.socket(endpoints))
        noteActivity()
        // A connection of another request may lead to any address.
        if easy.refuses(endpoints.remote) {
            return stop(.violation(TransferFailure.refused(endpoints.remote, of: origin.text), headIsWhole: false))
        }
        guard isConnectionUsable(easy, stack.identity) else { return false }
        if exchange.isOverHTTP2, exchange.timing.isFirstOnConnection, let socket = curl?.socket {
            stack.guardAgainstFlood(easy, socket)
        }
        resends.mayHaveBeenSent = true
        exchange.authentication.requestBegins()
        return true
    }

    /// Checks whether bytes have arrived before the request is sent (Workarounds/UnsolicitedInput.swift).
    private func isConnectionUsable(_ easy: EasyHandle, _ identity: ConnectionIdentity) -> Bool {
        let hasPriorKnowledge = identity.hasPriorKnowledge(of: origin)
        exchange.isOverHTTP2 = hasPriorKnowledge || easy.speaksHTTP2
        guard !hasPriorKnowledge else { return true }
        let isNew = exchange.timing.isFirstOnConnection
        guard let socket = curl?.socket else { return isNew || stop(.again(needsNewConnection: true)) }
        guard !socket.isMultiplexed else { return true }
        switch easy.pendingInput(
            on: socket, isEncrypted: origin.scheme == "https" || identity.isProxyEncrypted,
            isNested: identity.isNested(for: origin))
        {
        case .none: return true
        // On a new connection, a part of a TLS record is harmless: it may belong to a TLS session ticket. If the server
        // has closed a new connection, libcurl itself reports this. So a new connection stays in use in both cases.
        case .part, .end: return isNew || stop(.again(needsNewConnection: true))
        case .data:
            guard isNew, resends.reconnects >= Transfer.reconnectLimit else {
                return stop(.again(needsNewConnection: true))
            }
            return violate("sent a response before the request", by: origin.text)
        }
    }

    /// Makes libcurl end the request. Returns false, which the call-backs return to libcurl.
    private func stop(_ reason: Exchange.Stop) -> Bool {
        exchange.state = .stopped(reason)
        return false
    }

    /// Stops the request, because the sender of the response has violated HTTP. `reason` completes a message that
    /// begins with the sender's name.
    private func violate(
        _ reason: String = "sent a header that can be read in two ways", by sender: String? = nil
    ) -> Bool {
        // After a proxy has refused a tunnel, this refusal stays the result.
        if case .waitingForHead(.some) = exchange.state { return false }
        let failure = Failure(.badResponse, "\(sender ?? respondent) \(reason)")
        return stop(.violation(failure, headIsWhole: exchange.headIsWhole))
    }

    /// Takes a header line. Returns `bytes.count`; any other number makes libcurl end the request.
    func take(header bytes: UnsafeRawBufferPointer) -> Int {
        guard !exchange.isStopped, !isOver else { return 0 }
        exchange.hasReceived = true
        noteActivity()
        exchange.prepareForHeader(connections: curl?.easy.connectionCount ?? 0)
        let isAccepted =
            switch exchange.head.add(bytes) {
            case .broken(let reason): violate(reason)
            case .complete: takeWholeHead()
            case .interim(let status, let fields): takeInterim(status, fields)
            // If a response over HTTP/1.1 has HTTP/2 in its status line, libcurl sends other requests on its
            // connection.
            case .more: isHTTP2 && !maySpeakHTTP2 ? violate("sent a response of HTTP/2 over HTTP/1.1") : true
            }
        return isAccepted ? bytes.count : 0
    }

    private func takeInterim(_ status: Int32, _ fields: [ResponseField]) -> Bool {
        // Before that, the response is the proxy's.
        guard status != 100, exchange.authentication.isRequestSent else { return true }
        let reportsProgress = delegate?.transfer(self, receivedInterim: responseHead(status: status, fields))
        if reportsProgress == true { exchange.head.forgetInterims() }
        return !isOver
    }

    private func takeWholeHead() -> Bool {
        guard exchange.authentication.isRequestSent else { return takeConnectResponse() }
        let status = exchange.head.status
        if status == 401 { curl?.easy.noteChallenge() }
        guard watchBody() else { return false }
        if exchange.authentication.mayBeRepeated(after: status) {
            // The connection is not reused, because libcurl does not check the body that it drops.
            if !isHTTP2 { curl?.easy.forbidReuse() }
            curl?.easy.watchProgress()
            exchange.state = .holdingHead
            return true
        }
        guard takeHead() else { return false }
        if exchange.authentication.mustStop(after: status) { return stop(.refused) }
        return !endBody()
    }

    private func takeConnectResponse() -> Bool {
        let status = exchange.head.status
        guard curl?.easy.agrees(withConnectResponse: exchange.head) ?? true else { return violate() }
        exchange.state = .waitingForHead(tunnelRefusal: status == 407 ? exchange.head.fields : nil)
        exchange.head = HeadCollector(after: status == 407)
        guard exchange.authentication.connectResponded(with: status) else { return false }
        if status == 407 { curl?.easy.watchProgress() }
        return true
    }

    /// If the transport, but not libcurl, recognises the end of the body, ends the transfer at this end.
    private func endBody() -> Bool {
        guard case .length(bytesReceived) = exchange.bodyEnd, case .receiving = exchange.state else { return false }
        return !stop(.complete)
    }

    /// Checks that libcurl has read the head as the transport has, and prepares to check the end of the body
    /// independently of libcurl. Returns false if the head violates HTTP.
    private func watchBody() -> Bool {
        guard let easy = curl?.easy else { return false }
        let head = exchange.head
        exchange.bodyEnd = .notChecked
        let framing = ResponseFraming(head, method: outgoing.method)
        if case .invalid(let reason) = framing { return violate(reason) }
        guard easy.agrees(with: head, framing) else { return violate() }
        if exchange.authentication.credentials.mayRepeat(after: head.status), head.hasFoldedChallenge {
            return violate("wrote its challenge over two lines, of which libcurl reads only the first")
        }
        guard !head.isHTTP2 else {
            curl?.socket?.isMultiplexed = true
            if framing == .untilClose, request.canBeRepeated || outgoing.body == nil {
                exchange.bodyEnd = .endsWithStream
            } else if !isMultiplexed {
                // No later request can use the connection. If it were closed after an `endsWithStream`,
                // `hasUnmarkedEnd` would be wrong.
                easy.forbidReuse()
            }
            return true
        }
        switch framing {
        case .none, .chunked, .length(0): easy.watchForExcess()
        case .untilClose where easy.hasCloseNotify != nil:
            exchange.bodyEnd = .withoutCloseNotify
            easy.watchProgress()
        default: break
        }
        if case .length(let length) = framing, easy.contentLength == nil { exchange.bodyEnd = .length(length) }
        return true
    }

    /// Takes a progress call of libcurl. Returns false if the request must end, because the body of a 401 or 407
    /// response is too long. libcurl drops this body without a limit.
    func takeProgress(downloaded: Int64) -> Bool {
        exchange.noteCloseNotify(curl?.easy.hasCloseNotify)
        let (isHoldingHead, limit) = (exchange.isHoldingHead, Transfer.skippedBodyLimit)
        guard isHoldingHead ? downloaded > limit : exchange.authentication.dropsByte(limit: limit) else { return true }
        // The server or proxy has not acted on the request.
        if isHoldingHead { wasNotProcessed() }
        if resends.reasons.insert(.longChallenge).inserted {
            target.proxyOffer = curl?.easy.proxyOffer ?? []
            return stop(.again(needsNewConnection: true))
        }
        return isHoldingHead && takeHeldHead() ? stop(.complete) : false
    }

    /// If there is a buffered head, passes it to the delegate. Returns false if the body must not be received.
    @discardableResult
    func takeHeldHead() -> Bool {
        guard case .holdingHead = exchange.state else { return true }
        exchange.state = .waitingForHead(tunnelRefusal: nil)
        return takeHead()
    }

    /// Passes the proxy's refusal of a tunnel to the delegate as the response. libcurl itself reports only an error.
    func takeTunnelRefusal() -> Bool {
        guard case .waitingForHead(let fields?) = exchange.state else { return false }
        exchange.state = .receiving(isPaused: false)
        _ = delegate?.transfer(self, received: responseHead(status: 407, fields))
        return true
    }

    /// The URL of the response. A request of S3 follows no redirects, and the URL of its server says no more than its
    /// own.
    private var reportedURL: String { request.s3 == nil ? target.url : request.url }

    private func responseHead(status: Int32, _ fields: [ResponseField], retryAfter: Int64? = nil) -> ResponseHead {
        ResponseHead(
            status: status, finalURL: reportedURL, isMultiplexed: isMultiplexed, fields: fields,
            retryAfterSeconds: retryAfter, origin: origin.text, proxy: exchange.proxy)
    }

    private func takeHead() -> Bool {
        let head = exchange.head
        jar?.noteCookies(head.fields.count(where: { $0.isNamed("Set-Cookie") }))
        noteHead()
        if head.status == 421, resends.reasons.insert(.misdirected).inserted {
            wasNotProcessed()
            return stop(.again(needsNewConnection: true))
        }
        if noteRegion() { return stop(.again(needsNewConnection: false)) }
        if head.status == 417, outgoing.dropExpectation(head) { return stop(.again(needsNewConnection: false)) }
        if request.redirects != .none, let location = Redirect.location(head) {
            if let failure = Redirect.contradiction(head, at: origin) {
                return stop(.violation(failure, headIsWhole: false))
            }
            let until = (transport?.now ?? lastActivityAt) + Transfer.skippedBodyMilliseconds
            exchange.state = .redirecting(to: location, skipped: 0, until: until)
            transport?.checkAgain(at: until)
            return true
        }
        exchange.state = .receiving(isPaused: false)
        noteUndrainedBody(curl?.socket)
        // Without a delegate, the transfer stops.
        let response = responseHead(status: head.status, head.fields, retryAfter: head.retryAfterSeconds)
        switch delegate?.transfer(self, received: response) {
        case .receive where !isOver: return true
        case .refuse where !isOver: return stop(.refused)
        default: return false
        }
    }

    func readBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard !isOver, !room.isEmpty else { return Int(CURL_READFUNC_ABORT) }
        noteActivity()
        var bytes = room.mutableBytes
        // `outgoing` must not be mutated while `body.read` runs, because the source may read `outgoing`.
        guard let body = outgoing.bodyToRead else { return 0 }
        guard let count = outgoing.didRead(body.read(into: &bytes)) else { return Int(CURL_READFUNC_PAUSE) }
        if outgoing.sent == outgoing.bodySize { exchange.timing.bodyEnded() }
        return count
    }

    func take(body bytes: UnsafeRawBufferPointer) -> Int {
        noteActivity()
        guard takeHeldHead() else { return 0 }
        switch exchange.state {
        case .redirecting(let location, let skipped, let until):
            let total = skipped + bytes.count
            exchange.state = .redirecting(to: location, skipped: total, until: until)
            return total <= Transfer.skippedBodyLimit ? bytes.count : 0
        case .receiving: break
        default: return 0
        }
        // If the current call of libcurl has taken too long, this transfer is paused, so that other transfers can run.
        if curl?.stack.multi.noteChunk() == true {
            transport?.resume(self)
            return Int(bhl_pause)
        }
        guard let delegate else { return 0 }
        var bytes = bytes
        if case .length(let length) = exchange.bodyEnd {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: length - bytesReceived)))
        }
        let flow = delegate.transfer(self, received: bytes.bytes)
        guard !isOver else { return 0 }
        if flow == .pause {
            exchange.state = .receiving(isPaused: true)
            return Int(bhl_pause)
        }
        bytesReceived += UInt64(bytes.count)
        return endBody() ? 0 : bytes.count
    }

    private func noteActivity() {
        if let now = transport?.now { lastActivityAt = now }
    }
}
