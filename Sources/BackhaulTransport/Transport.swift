public import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// Runs HTTP transfers with libcurl's multi-socket interface: HTTP/1.1, and HTTP/2 over TLS. All calls are on the
/// thread of the event loop. Each transfer starts immediately; the caller decides which transfers may run.
public final class Transport {
    let loop: Loop
    lazy var tokenProvider = KerberosTokenProvider(loop)
    lazy var certificateLoader = CertificateLoader(loop)
    /// Nil before the first request of S3.
    private var s3Credentials: S3CredentialCache?
    /// SHA-256, for the signatures of requests of S3. The caller gives it, because another module uses libcrypto.
    public var sha256: RequestSignature.Hash?
    var stacks: [ConnectionIdentity: CurlStack] = [:] {
        didSet { if stacks.isEmpty != (addressWatch == nil) { watchAddresses() } }
    }
    /// While there are connections, the watch of this machine's addresses. Nil if there are none, or if the system does
    /// not permit the watch.
    private var addressWatch: (changes: NetworkChanges, watch: Watch)?
    var active: [ObjectIdentifier: Transfer] = [:]
    /// The operations that were requested during a call of libcurl. They are performed after that call.
    var deferredCalls: [DeferredCall] = []
    var isProcessingScheduled = false
    var isProcessing = false
    private var watchdog: Watchdog?
    private var origins = OriginParser()
    var isClosed = false
    /// The origins to which requests are sent over HTTP/1.1, although these origins may support HTTP/2.
    private var fallbackOrigins = TemporaryOrigins()
    /// The origins whose servers have ignored the field `Expect: 100-continue`. With each such field, the transport
    /// would wait for a second.
    private var originsIgnoringExpect = TemporaryOrigins()
    private var abandonedConnections = AbandonedConnections()
    /// The limit on open connections, including idle ones, for each connection identity (the settings that requests on
    /// the same connection share). If a new connection is needed at the limit, an idle connection is closed.
    public var maximumConnections = 1_024 {
        didSet {
            guard maximumConnections != oldValue else { return }
            for stack in stacks.values { stack.multi.limit(connections: maximumConnections) }
        }
    }

    /// How long the idle connections of a stack (a multi handle with its easy handles and sockets) are kept when the
    /// stack runs no transfer.
    private static let idleMilliseconds: Int64 = 30_000
    /// The time between two checks of whether a server has taken the rest of a body.
    private static let drainCheckMilliseconds: Int64 = 20
    /// The longest time between two checks while transfers run.
    static let watchMilliseconds: Int64 = 1_000

    /// Throws if this system's libcurl cannot be used.
    public init(loop: Loop) throws(Failure) {
        if let problem = CurlLibrary.problem { throw problem }
        self.loop = loop
        watchdog = Watchdog(loop) { [unowned self] in endTimedOut() }
    }

    deinit { close() }

    var now: Int64 { loop.now }

    var s3: S3CredentialCache {
        if let s3Credentials { return s3Credentials }
        let made = S3CredentialCache(self)
        s3Credentials = made
        return made
    }

    /// Starts a transfer. The delegate is not retained, and is not called before this method returns. Throws only
    /// errors that can be found without a server. If `cookies` is nil, no cookies are stored or sent.
    public func start(
        _ request: TransferRequest, body: (any TransferBody)? = nil, cookies: CookieJar? = nil,
        _ delegate: any TransferDelegate
    ) throws(Failure) -> Transfer {
        guard !isClosed else {
            throw Failure(.engineFailed, "the transport is closed; no transfer can start")
        }
        let origin = request.s3 == nil ? try origins.origin(of: request.url) : request.origin
        guard origin == request.origin else {
            throw Failure(.invalidArgument, "the URL is not one of \(request.origin.text)")
        }
        try request.checkHeaders()
        let transfer = Transfer(request, body, cookies, delegate, self, now: loop.now)
        active[ObjectIdentifier(transfer)] = transfer
        beginWhenPossible(transfer)
        watchdog?.schedule(at: min(transfer.timeoutAt, loop.now + Transport.watchMilliseconds))
        return transfer
    }

    /// Ends all transfers without calling their delegates, and closes the connections. A second call has no effect.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        certificateLoader.close()
        s3Credentials?.close()
        watchdog = nil
        deferredCalls = []
        let used = Dictionary(grouping: active.values.compactMap(\.curl)) { ObjectIdentifier($0.stack) }
            .mapValues { $0.map(\.easy) }
        for transfer in active.values {
            transfer.end()
            transfer.exitCurl()
        }
        active = [:]
        let stacks = stacks.values
        self.stacks = [:]
        for stack in stacks {
            let easies = used[ObjectIdentifier(stack)] ?? []
            // During a call of libcurl, the stack must not be closed, so it is closed after this loop iteration.
            if stack.multi.isInside {
                loop.afterThisIteration { stack.close(ending: easies) }
            } else {
                stack.close(ending: easies)
            }
        }
    }

    // MARK: - For Transfer

    func discard(_ transfer: Transfer) {
        if transfer.curl?.receivedBytes == 0 { abandonConnection(of: transfer) }
        if isBusy {
            deferredCalls.append(.discard(transfer))
            scheduleProcessing()
        } else {
            release(transfer)
            scheduleProcessing()
        }
    }

    func resume(_ transfer: Transfer) {
        transfer.lastActivityAt = loop.now
        // The operation is deferred, because a method of the delegate may be running. Until that method has returned,
        // no other method of the delegate may be called.
        deferredCalls.append(.unpause(transfer))
        scheduleProcessing()
    }

    // MARK: - One transfer

    private var isBusy: Bool { stacks.values.contains(where: \.multi.isInside) }

    /// Begins the transfer, perhaps after the present call of libcurl.
    func beginWhenPossible(_ transfer: Transfer) {
        if isBusy { deferredCalls.append(.begin(transfer)) } else { begin(transfer) }
        scheduleProcessing()
    }

    func begin(_ transfer: Transfer) {
        guard !transfer.isOver else { return release(transfer) }
        do throws(Failure) {
            guard try prepareS3(transfer) else { return }
            let (request, target) = (transfer.request, transfer.target)
            let (route, credentials) = try transfer.resolveRoute()
            if credentials.belongsToConnection, transfer.exchange.authentication.negotiateTokens == nil {
                return try fetchNegotiateTokens(transfer, credentials, route)
            }
            guard let certificates = try certificates(for: transfer, route) else { return }
            transfer.exchange.fallsBack = fallsBack(transfer, credentials)
            let version = transfer.exchange.fallsBack ? .http1 : request.httpVersion
            let stack = try stack(
                of: ConnectionIdentity(
                    request, version, route, credentials, certificates,
                    abandoned: abandonedConnections.count(of: target.origin)))
            let nonceOwner = credentials.nonceOwner(at: target.origin)
            let easy = try stack.handles.take(nonceOwner: nonceOwner)
            // Unsafe: libcurl passes this pointer to call-backs only between `add` and `remove`. Until `remove`,
            // `active` retains the transfer.
            let receiver = Unmanaged.passUnretained(transfer).toOpaque()
            try easy.prepare(
                url: target.url, version: version, isEncrypted: target.origin.scheme == "https",
                timeoutMilliseconds: request.requestTimeoutMilliseconds, bypassesDNSCache: request.bypassesDNSCache,
                // The user has chosen the address of the proxy, and the proxy chooses the address of the server.
                refusesPrivateAddresses: request.refusesPrivateAddresses && route == nil,
                needsNewConnection: transfer.exchange.needsNewConnection,
                headers: try transfer.headerLines(with: credentials), credentials: credentials, nonceOwner: nonceOwner,
                receiver: receiver)
            try easy.prepare(transfer.jar, own: transfer.ownCookies(with: credentials))
            transfer.rewind()
            try easy.prepare(transfer.outgoing, canBeRepeated: request.canBeRepeated, receiver: receiver)
            stack.multi.expect(transfers: stack.count + 1)
            transfer.enterCurl(stack, easy, now: loop.now)
            let result = stack.multi.add(easy)
            guard result == CURLM_OK else {
                transfer.exitCurl()
                throw Failure(
                    .outOfResources,
                    "libcurl cannot start a transfer: \(String(cString: curl_multi_strerror(result)))",
                    domain: .curl, detail: Int64(result.rawValue))
            }
        } catch {
            // The failure is reported after this loop iteration, because `start` must not call the delegate.
            let failure = error
            loop.afterThisIteration { [weak self] in
                self?.end(transfer, .failed(failure, isTransient: true, FailureContext(isLocal: true)))
            }
        }
    }

    /// Handles the end of one of the transfer's requests in libcurl.
    func conclude(_ transfer: Transfer, _ result: CURLcode) {
        transfer.noteUndrainedBody(transfer.curl?.socket)
        let hasLostResponse = transfer.hasLostEarlyResponse(result)
        let result = transfer.hasEarlyResponse(result) ? CURLE_OK : result
        // The head of a 401 or 407 response is buffered, because libcurl may repeat the request. If the head is still
        // buffered now, libcurl has not repeated the request, so this head is the response.
        if result == CURLE_OK { transfer.takeHeldHead() }
        let isWhole = result == CURLE_OK && transfer.exchange.headIsWhole
        let failure = isWhole ? nil : failure(of: transfer, result)
        let isRestOfEarlierResponse = transfer.exchange.waitsOnUsedConnection && failure?.status == .badResponse
        transfer.takeMetrics()
        let (socket, hasUnmarkedEnd) = (transfer.curl?.socket, transfer.hasUnmarkedEnd)
        detach(transfer)
        switch transfer.exchange.state {
        case .waitingForHead where transfer.mayLackMemory(result) && transfer.mayRepeat(for: .lackOfMemory):
            sendAgain(transfer, for: .lackOfMemory)
        case .waitingForHead where result == CURLE_SSL_CERTPROBLEM && transfer.mayRepeat(for: .unusableCertificate):
            sendAgain(transfer, for: .unusableCertificate)
        case .waitingForHead, .stopped(.violation):
            if isRestOfEarlierResponse, transfer.mayRepeat(for: .brokenResponse) {
                sendAgain(transfer, for: .brokenResponse)
            } else if hasLostResponse, transfer.request.canBeRepeated {
                transfer.sendAgainOverHTTP1()
                begin(transfer)
            } else if case .stopped(.violation(let violation, _)) = transfer.exchange.state {
                end(transfer, .failed(violation, isTransient: false))
            } else {
                end(transfer, transfer.takeTunnelRefusal() ? .complete : failure ?? .complete)
            }
        case .stopped(.again(let needsNewConnection)):
            sendAgain(transfer, needsNewConnection: needsNewConnection)
        case .redirecting(let location, _, _):
            follow(location, transfer)
        case .stopped(.refused):
            end(transfer, .refused)
        case .stopped(.complete):
            end(transfer, .complete)
        case .holdingHead, .receiving:
            if let failure {
                end(transfer, failure)
            } else {
                endBody(transfer, socket, hasUnmarkedEnd: hasUnmarkedEnd)
            }
        case .preparing, .draining, .over:
            release(transfer)
        }
    }

    private func sendAgain(_ transfer: Transfer, needsNewConnection: Bool = true, for reason: ResendReasons = []) {
        transfer.sendAgain(needsNewConnection: needsNewConnection, for: reason)
        begin(transfer)
    }

    /// Ends a transfer whose body libcurl considers complete.
    private func endBody(_ transfer: Transfer, _ socket: ConnectionSocket?, hasUnmarkedEnd: Bool) {
        let origin = transfer.origin
        if hasUnmarkedEnd {
            fallbackOrigins.add(origin, now: loop.now)
            end(transfer, .failed(TransferFailure.unmarkedEnd(origin.text), isTransient: true))
        } else if transfer.exchange.isTruncated, !transfer.request.toleratesMissingCloseNotify {
            end(transfer, .failed(TransferFailure.truncated(origin.text), isTransient: true))
        } else if transfer.exchange.hasUndrainedBody, let socket, !socket.isClosed {
            let until = loop.now + Int64(transfer.request.requestTimeoutMilliseconds)
            transfer.exchange.state = .draining(socket, until: until)
            checkAgain(at: loop.now + Transport.drainCheckMilliseconds)
        } else {
            end(transfer, .complete)
        }
    }

    /// Returns whether to use HTTP/1.1 because HTTP/2 has failed: a response was lost, or a connection ended before the
    /// server had marked the end of a body.
    private func fallsBack(_ transfer: Transfer, _ credentials: HopCredentials) -> Bool {
        // Credentials such as those of Negotiate authenticate a whole connection. Requests with such credentials always
        // use HTTP/1.1.
        guard !credentials.belongsToConnection else { return false }
        if transfer.target.needsHTTP1 { return true }
        return transfer.request.httpVersion == .standard && fallbackOrigins.includes(transfer.origin, now: loop.now)
    }

    /// Returns the failure of a request. Must be called while the transfer still has libcurl's handle.
    private func failure(of transfer: Transfer, _ result: CURLcode) -> TransferEnd {
        let (exchange, origin) = (transfer.exchange, transfer.origin)
        var report = FailureReport(result == CURLE_OK ? CURLE_GOT_NOTHING : result)
        if let curl = transfer.curl {
            report = curl.easy.report(report.code, curl.stack.identity)
            report.reason = transfer.secrets.redactedMessage(report.reason)
            report.respondent = transfer.respondent
            report.receivedBytes = curl.receivedBytes
            report.mayBeTunnel = curl.stack.identity.proxy != nil && origin.scheme == "https"
            report.hasEndedHTTP2 = exchange.isOverHTTP2 && curl.socket?.isClosed == true
        }
        var failureContext = FailureContext(
            systemError: transfer.curl?.easy.systemError ?? 0,
            connectionWasClosed: report.code == CURLE_HTTP2 && !exchange.headIsWhole,
            hasStreamError: report.hasStreamError)
        let (failure, isTransient) = TransferFailure.failure(
            report, server: origin.text, headIsWhole: exchange.headIsWhole, hasReceived: exchange.hasReceived)
        failureContext.isNotYetValid = report.isNotYetValid
        failureContext.triedAddress = transfer.curl?.easy.triedAddress ?? ""
        if let address = transfer.curl?.easy.refusedAddress, failureContext.triedAddress.isEmpty {
            return .failed(TransferFailure.refused(address, of: origin.text), isTransient: false, failureContext)
        }
        if failure.status == .tlsFailed { certificateLoader.expireAll() }
        return .failed(failure, isTransient: isTransient, failureContext)
    }

    private func follow(_ location: [UInt8], _ transfer: Transfer) {
        do throws(Failure) {
            let target = transfer.target
            let redirect = try Redirect.decide(
                location, from: target.url, target.origin, keepsHeaders: target.keepsHeaders,
                count: target.redirects, limit: transfer.request.maximumRedirects,
                policy: transfer.request.redirects, dropsCookies: transfer.dropsCookies, without: transfer.secrets)
            if let delay = transfer.delay(of: redirect) {
                let failure = Failure(
                    .connectionFailed,
                    "\(redirect.origin.text), to which \(target.origin.text) redirects, has asked for a pause")
                return end(transfer, .failed(failure, isTransient: true, FailureContext(redirectDelay: delay)))
            }
            transfer.follow(redirect)
            begin(transfer)
        } catch {
            end(transfer, .failed(error, isTransient: error.isTemporaryShortage))
        }
    }

    func ignoresExpect(_ origin: Origin) -> Bool { originsIgnoringExpect.includes(origin, now: loop.now) }

    func noteIgnoredExpectation(of origin: Origin) { originsIgnoringExpect.add(origin, now: loop.now) }

    func end(_ transfer: Transfer, _ end: TransferEnd) {
        release(transfer)
        guard case .failed(var failure, var isTransient, var failureContext) = end, !transfer.exchange.hasResponse
        else { return transfer.end(end) }
        failureContext.isUnprocessed = !transfer.resends.mayHaveBeenSent
        if transfer.exchange.fallsBack {
            fallbackOrigins.remove(transfer.origin)
            (failure, isTransient) = (HTTP1Fallback.failure(failure, of: transfer.origin), true)
        }
        transfer.end(.failed(failure, isTransient: isTransient, failureContext))
    }

    func release(_ transfer: Transfer) {
        detach(transfer)
        active[ObjectIdentifier(transfer)] = nil
    }

    /// Keeps later requests away from the connection of a transfer that has got no response in time. An HTTP/2
    /// connection may be silent, or its flow-control window may be spent. Other transfers that run on the connection
    /// continue. If the connection was idle before, all idle connections to the origin may be silent, for example
    /// because a router has forgotten them.
    private func abandonConnection(of transfer: Transfer) {
        guard let curl = transfer.curl, transfer.exchange.isOverHTTP2 || transfer.exchange.timing.isReused else {
            return
        }
        abandonedConnections.add(transfer.origin, known: curl.stack.identity.abandoned)
        // If no other transfer uses the connection, libcurl closes it now. The other transfers must not have this
        // option: `Transfer.hasUnmarkedEnd` would take the close for a broken connection.
        curl.easy.forbidReuse()
    }

    private func detach(_ transfer: Transfer) {
        guard let curl = transfer.curl else { return }
        transfer.exitCurl()
        curl.stack.multi.remove(curl.easy)
        curl.stack.handles.recycle(curl.easy)
    }

    // MARK: - Removed addresses

    private func watchAddresses() {
        addressWatch?.watch.cancel()
        addressWatch = nil
        guard !stacks.isEmpty, let changes = try? NetworkChanges(onlyAddresses: true) else { return }
        let watch = try? loop.watch(changes.number, .readable) { [unowned self] _ in
            guard changes.take() else { return }
            for stack in stacks.values { stack.resetLostConnections() }
        }
        addressWatch = watch.map { (changes, $0) }
    }

    // MARK: - Silent transfers

    /// Makes the next check for silent transfers, which send and receive no bytes, happen at `time` or earlier.
    func checkAgain(at time: Int64) { watchdog?.schedule(at: time) }

    /// Ends the transfers whose request time-out has passed. Returns when to check again. libcurl's own limits do not
    /// cover all cases, and they include time in which libcurl only waits for a connection.
    func endTimedOut() -> Int64? {
        for stack in stacks.values { stack.closeEndedConnections() }
        readSilentConnections()
        var next = closeIdle() ?? .max
        if active.isEmpty { return next == .max ? nil : next }
        next = min(next, loop.now + Transport.watchMilliseconds)
        for transfer in Array(active.values) {
            if let due = endTimedOut(transfer) { next = min(next, due) }
        }
        return isClosed ? nil : next
    }

    /// Ends the transfer if its time has passed. Returns when to check the transfer again.
    private func endTimedOut(_ transfer: Transfer) -> Int64? {
        switch transfer.exchange.state {
        case .over: return nil
        case .redirecting(let location, _, let until):
            guard until <= loop.now else { return until }
            // The redirect needs only the head. libcurl closes the connection, because the rest of the redirect's body
            // is not read.
            transfer.takeMetrics()
            detach(transfer)
            follow(location, transfer)
            return nil
        case .draining(let socket, let until):
            transfer.noteUndrainedBody(socket)
            if transfer.exchange.hasUndrainedBody, !socket.isClosed, until > loop.now {
                return loop.now + Transport.drainCheckMilliseconds
            }
            end(transfer, .complete)
            return nil
        default: break
        }
        if transfer.isWaiting { return nil }
        transfer.noteDrain(now: loop.now)
        guard transfer.timeoutAt <= loop.now else { return transfer.timeoutAt }
        transfer.takeMetrics()
        let failure = Failure(.requestTimeout, transfer.timeoutMessage)
        let context = FailureContext(isUnanswered: transfer.isUnanswered)
        abandonConnection(of: transfer)
        if transfer.hasStoppedAfterResponse {
            end(transfer, .complete)
        } else {
            end(transfer, .failed(failure, isTransient: true, context))
        }
        return nil
    }

    /// Closes stacks that have been idle for too long, because each of their connections uses a descriptor. Returns
    /// when to check again, or nil if no idle stack remains.
    private func closeIdle() -> Int64? {
        var next: Int64?
        for stack in stacks.values where stack.count == 0 {
            let due = stack.idleSince + Transport.idleMilliseconds
            if due > loop.now {
                // Idle connections are checked every second. They are not watched, because each watch would need an
                // entry in the loop's set of descriptors.
                let nextCheck = stack.handles.haveConnections ? min(due, loop.now + Transport.watchMilliseconds) : due
                next = min(next ?? nextCheck, nextCheck)
            } else {
                stacks[stack.identity] = nil
                stack.close(ending: [])
            }
        }
        return next
    }
}
