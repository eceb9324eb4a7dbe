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
    var stacks: [ConnectionIdentity: CurlStack] = [:]
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
    /// The longest time between two checks while transfers run. If the host (the program that embeds the library)
    /// closes the transport's descriptors, the transport detects this within a second.
    static let watchMilliseconds: Int64 = 1_000

    /// Throws if this system's libcurl cannot be used.
    public init(loop: Loop) throws(Failure) {
        if let problem = CurlLibrary.problem { throw problem }
        self.loop = loop
        watchdog = Watchdog(loop) { [unowned self] in endTimedOut() }
    }

    deinit { close() }

    var now: Int64 { loop.now }

    /// Starts a transfer. The delegate is not retained, and is not called before this method returns. Throws only
    /// errors that can be found without a server. If `cookies` is nil, no cookies are stored or sent.
    public func start(
        _ request: TransferRequest, body: (any TransferBody)? = nil, cookies: CookieJar? = nil,
        _ delegate: any TransferDelegate
    ) throws(Failure) -> Transfer {
        guard !isClosed else {
            throw Failure(.engineFailed, "the transport is closed; no transfer can start")
        }
        guard try origins.origin(of: request.url) == request.origin else {
            throw Failure(.invalidArgument, "the URL is not one of \(request.origin.text)")
        }
        try request.checkHeaders()
        let transfer = Transfer(request, body, delegate, self, now: loop.now)
        transfer.jar = cookies
        active[ObjectIdentifier(transfer)] = transfer
        if isBusy { deferredCalls.append(.begin(transfer)) } else { begin(transfer) }
        scheduleProcessing()
        watchdog?.schedule(at: min(transfer.timeoutAt, loop.now + Transport.watchMilliseconds))
        return transfer
    }

    /// Ends all transfers without calling their delegates, and closes the connections. A second call has no effect.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        certificateLoader.close()
        watchdog = nil
        deferredCalls = []
        let used = Dictionary(grouping: active.values.filter { $0.stack != nil }) { ObjectIdentifier($0.stack ?? $0) }
            .mapValues { $0.compactMap(\.easy) }
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
        if transfer.receivedBytes == 0 { abandonConnection(of: transfer) }
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

    func resumeSending(_ transfer: Transfer) {
        transfer.lastActivityAt = loop.now
        deferredCalls.append(.unpause(transfer))
        scheduleProcessing()
    }

    // MARK: - One transfer

    private var isBusy: Bool { stacks.values.contains(where: \.multi.isInside) }

    func begin(_ transfer: Transfer) {
        guard !transfer.isOver else { return release(transfer) }
        do throws(Failure) {
            let (route, credentials) = try transfer.resolveRoute()
            if credentials.belongsToConnection, transfer.authExchange.negotiateTokens == nil {
                return try fetchNegotiateTokens(transfer, credentials, route)
            }
            guard let certificates = try certificates(for: transfer, route) else { return }
            transfer.fallsBack = fallsBack(transfer, credentials)
            let version = transfer.fallsBack ? .http1 : transfer.request.httpVersion
            let stack = try stack(
                of: ConnectionIdentity(
                    transfer.request, version, route, credentials, certificates,
                    abandoned: abandonedConnections.count(of: transfer.origin)))
            let nonceOwner = credentials.nonceOwner(at: transfer.origin)
            let easy = try stack.handles.take(nonceOwner: nonceOwner)
            // Unsafe: libcurl passes this pointer to call-backs only between `add` and `remove`. Until `remove`,
            // `active` retains the transfer.
            try easy.prepare(
                url: transfer.url, version: version,
                isEncrypted: transfer.origin.scheme == "https",
                timeoutMilliseconds: transfer.request.requestTimeoutMilliseconds,
                bypassesDNSCache: transfer.request.bypassesDNSCache, needsNewConnection: transfer.needsNewConnection,
                headers: transfer.headerLines(with: credentials), credentials: credentials, nonceOwner: nonceOwner,
                receiver: Unmanaged.passUnretained(transfer).toOpaque())
            try easy.prepare(transfer.jar, own: transfer.ownCookies)
            transfer.rewind()
            try easy.prepare(
                transfer.outgoing, canBeRepeated: transfer.request.canBeRepeated,
                receiver: Unmanaged.passUnretained(transfer).toOpaque())
            stack.multi.expect(transfers: stack.count + 1)
            transfer.enterCurl(stack, easy, now: loop.now)
            let result = stack.multi.add(easy)
            guard result == CURLM_OK else {
                transfer.exitCurl()
                throw Failure(
                    .outOfResources, "libcurl cannot start a transfer: \(String(cString: curl_multi_strerror(result)))",
                    domain: .curl, detail: Int64(result.rawValue))
            }
        } catch {
            // The failure is reported after this loop iteration, because `start` must not call the delegate.
            let failure = error
            loop.afterThisIteration { [weak self] in self?.end(transfer, .failed(failure, isTransient: true)) }
        }
    }

    /// Handles the end of one of the transfer's requests in libcurl.
    func conclude(_ transfer: Transfer, _ result: CURLcode) {
        transfer.noteUndrainedBody(transfer.socket)
        let hasLostResponse = transfer.hasLostEarlyResponse(result)
        let result = transfer.hasEarlyResponse(result) ? CURLE_OK : result
        // The head of a 401 or 407 response is buffered, because libcurl may repeat the request. If the head is still
        // buffered now, libcurl has not repeated the request, so this head is the response.
        if result == CURLE_OK { transfer.takeHeldHead() }
        let isWhole = result == CURLE_OK && transfer.headIsWhole
        let failure = isWhole ? nil : failure(of: transfer, result)
        let isRestOfEarlierResponse = transfer.waitsOnUsedConnection && failure?.status == .badResponse
        transfer.takeMetrics()
        let (socket, hasUnmarkedEnd) = (transfer.socket, transfer.hasUnmarkedEnd)
        detach(transfer)
        switch transfer.phase {
        case .over:
            release(transfer)
        case .refused:
            end(transfer, .refused)
        case .ended:
            end(transfer, .complete)
        case .redirecting(let location, _, _):
            follow(location, transfer)
        case .repeating:
            transfer.repeatRequest()
            begin(transfer)
        case .reconnecting:
            transfer.reconnect()
            begin(transfer)
        case .waitingForHead where transfer.mayLackMemory(result) && transfer.mayRepeat(for: .lackOfMemory):
            transfer.repeatOnce(for: .lackOfMemory)
            begin(transfer)
        case .waitingForHead where isRestOfEarlierResponse && transfer.mayRepeat(for: .brokenResponse):
            transfer.repeatOnce(for: .brokenResponse)
            begin(transfer)
        case .waitingForHead where hasLostResponse && transfer.request.canBeRepeated:
            transfer.repeatOverHTTP1()
            begin(transfer)
        case .waitingForHead, .holdingHead, .receiving:
            if transfer.takeTunnelRefusal() {
                end(transfer, .complete)
            } else if let violation = transfer.violation {
                end(transfer, .failed(violation, isTransient: false))
            } else if failure == nil, hasUnmarkedEnd {
                fallbackOrigins.add(transfer.origin, now: loop.now)
                end(transfer, .failed(TransferFailure.unmarkedEnd(transfer.origin.text), isTransient: true))
            } else if failure == nil, transfer.isTruncated, !transfer.request.toleratesMissingCloseNotify {
                end(transfer, .failed(TransferFailure.truncated(transfer.origin.text), isTransient: true))
            } else if failure == nil, transfer.hasUndrainedBody, let socket, !socket.isClosed {
                transfer.pendingDrain = (socket, loop.now + Int64(transfer.request.requestTimeoutMilliseconds))
                checkAgain(at: loop.now + Transport.drainCheckMilliseconds)
            } else {
                end(transfer, failure ?? .complete)
            }
        }
    }

    /// Returns whether to use HTTP/1.1 because HTTP/2 has failed: a response was lost, or a connection ended before the
    /// server had marked the end of a body.
    private func fallsBack(_ transfer: Transfer, _ credentials: HopCredentials) -> Bool {
        // Credentials such as those of Negotiate authenticate a whole connection. Requests with such credentials always
        // use HTTP/1.1.
        guard !credentials.belongsToConnection else { return false }
        if transfer.needsHTTP1 { return true }
        return transfer.request.httpVersion == .standard && fallbackOrigins.includes(transfer.origin, now: loop.now)
    }

    /// Returns the failure of a request. Must be called while the transfer still has libcurl's handle.
    private func failure(of transfer: Transfer, _ result: CURLcode) -> TransferEnd {
        var report = FailureReport(result == CURLE_OK ? CURLE_GOT_NOTHING : result)
        if let easy = transfer.easy, let stack = transfer.stack {
            report = easy.report(report.code, stack.identity)
            report.reason = transfer.secrets.redacted(report.reason)
            report.respondent = transfer.respondent
            report.receivedBytes = transfer.receivedBytes
            report.mayBeTunnel = stack.identity.proxy != nil && transfer.origin.scheme == "https"
            report.hasEndedHTTP2 = transfer.isOverHTTP2 && transfer.socket?.isClosed == true
        }
        let failureContext = FailureContext(
            isUnprocessed: !transfer.mayHaveBeenSent && !transfer.hasResponse,
            systemError: transfer.easy?.systemError ?? 0,
            connectionWasClosed: report.code == CURLE_HTTP2 && !transfer.headIsWhole,
            hasStreamError: report.hasStreamError)
        let (failure, isTransient) = TransferFailure.failure(
            report, server: transfer.origin.text, headIsWhole: transfer.headIsWhole, hasReceived: transfer.hasReceived)
        if failure.status == .tlsFailed { certificateLoader.expireAll() }
        return .failed(failure, isTransient: isTransient, failureContext)
    }

    private func follow(_ location: [UInt8], _ transfer: Transfer) {
        do throws(Failure) {
            let redirect = try Redirect.decide(
                location, from: transfer.url, transfer.origin, keepsHeaders: transfer.keepsHeaders,
                count: transfer.redirects, limit: transfer.request.maximumRedirects,
                policy: transfer.request.redirects, without: transfer.secrets)
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
        guard transfer.fallsBack, !transfer.hasResponse, case .failed(let failure, _, let failureContext) = end else {
            return transfer.end(end)
        }
        fallbackOrigins.remove(transfer.origin)
        let lost = HTTP1Fallback.failure(failure, of: transfer.origin)
        transfer.end(.failed(lost, isTransient: true, failureContext))
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
        guard transfer.isOverHTTP2 || transfer.timing.isReused, let stack = transfer.stack else { return }
        abandonedConnections.add(transfer.origin, known: stack.identity.abandoned)
        // If no other transfer uses the connection, libcurl closes it now. The other transfers must not have this
        // option: `Transfer.hasUnmarkedEnd` would take the close for a broken connection.
        transfer.easy?.forbidReuse()
    }

    private func detach(_ transfer: Transfer) {
        guard let easy = transfer.easy, let stack = transfer.stack else { return }
        transfer.exitCurl()
        stack.multi.remove(easy)
        stack.handles.recycle(easy)
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
        for transfer in Array(active.values) where !transfer.isOver {
            if case .redirecting(let location, _, let until) = transfer.phase {
                guard until <= loop.now else {
                    next = min(next, until)
                    continue
                }
                // The redirect needs only the head. libcurl closes the connection, because the rest of the redirect's
                // body is not read.
                transfer.takeMetrics()
                detach(transfer)
                follow(location, transfer)
                continue
            }
            if let (socket, until) = transfer.pendingDrain {
                transfer.noteUndrainedBody(socket)
                if !transfer.hasUndrainedBody || socket.isClosed || until <= loop.now {
                    end(transfer, .complete)
                } else {
                    next = min(next, loop.now + Transport.drainCheckMilliseconds)
                }
                continue
            }
            if transfer.isWaiting { continue }
            transfer.noteDrain(now: loop.now)
            let due = transfer.timeoutAt
            if due > loop.now {
                next = min(next, due)
                continue
            }
            transfer.takeMetrics()
            abandonConnection(of: transfer)
            if transfer.hasStoppedAfterResponse {
                end(transfer, .complete)
                continue
            }
            end(transfer, .failed(Failure(.requestTimeout, transfer.timeoutMessage), isTransient: true))
        }
        return isClosed ? nil : next
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
