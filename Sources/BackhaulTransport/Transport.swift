public import BackhaulLoop
public import BackhaulModel
internal import CCurl

/// Runs HTTP transfers with libcurl's multi-socket interface: HTTP/1.1, and HTTP/2 over TLS. It is confined to the
/// thread of its loop. It starts each transfer at once; its caller decides which ones may run.
public final class Transport {
    let loop: Loop
    lazy var ticketOffice = TicketOffice(loop)
    lazy var certificateOffice = CertificateOffice(loop)
    var stacks: [ConnectionIdentity: CurlStack] = [:]
    var active: [ObjectIdentifier: Transfer] = [:]
    /// Operations that were requested while libcurl was being called.
    var postponed: [Postponed] = []
    var isStirred = false
    var isSettling = false
    private var watchdog: Watchdog?
    private var origins = OriginReader()
    var isClosed = false
    private var fallback = HTTP1Fallback()
    /// The limit of open connections for each connection identity, idle ones included. Idle connections are closed when
    /// a new connection needs their place.
    public var maximumConnections = 1_024 {
        didSet {
            guard maximumConnections != oldValue else { return }
            for stack in stacks.values { stack.multi.limit(connections: maximumConnections) }
        }
    }

    /// How long idle connections are kept when no transfer runs.
    private static let idleMilliseconds: Int64 = 30_000
    /// The time between two checks whether a server has taken the rest of a body.
    private static let takingMilliseconds: Int64 = 20
    /// During transfers the loop runs at least once a second, so that it notices closed descriptors.
    private static let watchMilliseconds: Int64 = 1_000

    /// Throws if the libcurl of this system cannot be used.
    public init(loop: Loop) throws(Failure) {
        if let problem = CurlLibrary.problem { throw problem }
        self.loop = loop
        watchdog = Watchdog(loop) { [unowned self] in endSilent() }
    }

    deinit { close() }

    var now: Int64 { loop.now }

    /// Starts a transfer. The delegate is not retained, and is not called before this method returns. Throws for errors
    /// that are found without a server. `cookies`: the session's jar; with nil, cookies are neither stored nor sent.
    public func start(
        _ request: TransferRequest, body: (any TransferBody)? = nil, cookies: CookieJar? = nil,
        _ delegate: any TransferDelegate
    ) throws(Failure) -> Transfer {
        guard !isClosed, !loop.isBroken else {
            throw Failure(.engineFailed, "the transport is closed; no transfer can start")
        }
        guard try origins.origin(of: request.url) == request.origin else {
            throw Failure(.invalidArgument, "the URL is not one of \(request.origin.text)")
        }
        try request.checkHeaders()
        let transfer = Transfer(request, body, delegate, self, now: loop.now)
        transfer.jar = cookies
        active[ObjectIdentifier(transfer)] = transfer
        if isBusy { postponed.append(.begin(transfer)) } else { begin(transfer) }
        stir()
        watchdog?.look(at: min(transfer.silentAt, loop.now + Transport.watchMilliseconds))
        return transfer
    }

    /// Ends all transfers without calling their delegates, and closes the connections. May be called again.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        certificateOffice.close()
        watchdog = nil
        postponed = []
        let used = Dictionary(grouping: active.values.filter { $0.stack != nil }) { ObjectIdentifier($0.stack ?? $0) }
            .mapValues { $0.compactMap(\.easy) }
        for transfer in active.values {
            transfer.end()
            transfer.leaveCurl()
        }
        active = [:]
        let stacks = stacks.values
        self.stacks = [:]
        for stack in stacks {
            let easies = used[ObjectIdentifier(stack)] ?? []
            // Inside a call-back of libcurl, this must wait until the call-back has returned.
            if stack.multi.isInside {
                loop.afterThisTurn { [loop] in stack.giveUp(easies, onBrokenLoop: loop.isBroken) }
            } else {
                stack.giveUp(easies, onBrokenLoop: loop.isBroken)
            }
        }
    }

    // MARK: - For Transfer

    func discard(_ transfer: Transfer) {
        if isBusy {
            postponed.append(.discard(transfer))
            stir()
        } else {
            release(transfer)
            stir()
        }
    }

    func resume(_ transfer: Transfer) {
        transfer.lastHeardAt = loop.now
        // Postponed, because the delegate must not be called from within its own call.
        postponed.append(.unpause(transfer))
        stir()
    }

    func resumeSending(_ transfer: Transfer) {
        transfer.lastHeardAt = loop.now
        postponed.append(.unpause(transfer))
        stir()
    }

    // MARK: - One transfer

    private var isBusy: Bool { stacks.values.contains(where: \.multi.isInside) }

    func begin(_ transfer: Transfer) {
        guard !transfer.isOver else { return release(transfer) }
        do throws(Failure) {
            let (route, credentials) = try transfer.takeWay()
            if credentials.belongsToConnection, transfer.questions.tickets == nil {
                return try fetchTickets(transfer, credentials, route)
            }
            guard let certificates = try certificates(for: transfer, route) else { return }
            transfer.fallsBack = fallsBack(transfer, credentials)
            let version = transfer.fallsBack ? .http1 : transfer.request.httpVersion
            let stack = try stack(of: ConnectionIdentity(transfer.request, version, route, credentials, certificates))
            let nonceOwner = credentials.nonceOwner(at: transfer.origin)
            let easy = try stack.handles.take(nonceOwner: nonceOwner)
            // Unsafe: libcurl passes this pointer back only between `add` and `remove`. `active` retains the transfer
            // until then.
            try easy.prepare(
                url: transfer.url, version: version,
                isEncrypted: transfer.origin.scheme == "https",
                timeoutMilliseconds: transfer.request.requestTimeoutMilliseconds,
                looksUpAgain: transfer.request.looksUpAgain, needsNewConnection: transfer.needsNewConnection,
                headers: transfer.headerLines(with: credentials), credentials: credentials, nonceOwner: nonceOwner,
                receiver: Unmanaged.passUnretained(transfer).toOpaque())
            try easy.prepare(transfer.jar, own: transfer.ownCookies)
            transfer.rewind()
            try easy.prepare(
                transfer.sending, canBeRepeated: transfer.request.canBeRepeated,
                receiver: Unmanaged.passUnretained(transfer).toOpaque())
            stack.multi.expect(transfers: stack.count + 1)
            transfer.enterCurl(stack, easy, now: loop.now)
            let result = stack.multi.add(easy)
            guard result == CURLM_OK else {
                transfer.leaveCurl()
                throw Failure(
                    .outOfResources, "libcurl cannot start a transfer: \(String(cString: curl_multi_strerror(result)))",
                    domain: .curl, detail: Int64(result.rawValue))
            }
        } catch {
            // Reported at the end of the iteration, never from within `start`.
            let failure = error
            loop.afterThisTurn { [weak self] in self?.end(transfer, .failed(failure, isTransient: true)) }
        }
    }

    /// Handles the end of a request of the transfer in libcurl.
    func conclude(_ transfer: Transfer, _ result: CURLcode) {
        transfer.noteUntakenBody(transfer.socket)
        let hasLostResponse = transfer.hasLostEarlyResponse(result)
        let result = transfer.hasEarlyResponse(result) ? CURLE_OK : result
        // libcurl did not repeat the request, so the buffered head is the response.
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
        case .redirecting(let location, _, _):
            follow(location, transfer)
        case .repeating:
            transfer.repeatRequest()
            begin(transfer)
        case .reconnecting:
            transfer.reconnect()
            begin(transfer)
        case .waitingForHead where result == CURLE_OUT_OF_MEMORY && transfer.mayRepeat(for: .lackOfMemory):
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
                fallback.begin(transfer.origin, now: loop.now)
                end(transfer, .failed(TransferFailure.unmarkedEnd(transfer.origin.text), isTransient: true))
            } else if failure == nil, transfer.isTruncated, !transfer.request.toleratesMissingCloseNotify {
                end(transfer, .failed(TransferFailure.truncated(transfer.origin.text), isTransient: true))
            } else if failure == nil, transfer.leftUntaken, let socket, !socket.isClosed {
                transfer.awaitsTaking = (socket, loop.now + Int64(transfer.request.requestTimeoutMilliseconds))
                lookAgain(at: loop.now + Transport.takingMilliseconds)
            } else {
                end(transfer, failure ?? .complete)
            }
        }
    }

    /// Whether to use HTTP/1.1, because over HTTP/2 the origin's responses were lost or had no marked end.
    private func fallsBack(_ transfer: Transfer, _ credentials: HopCredentials) -> Bool {
        // Credentials that belong to a connection use HTTP/1.1 anyway.
        guard !credentials.belongsToConnection else { return false }
        if transfer.needsHTTP1 { return true }
        return transfer.request.httpVersion == .standard && fallback.includes(transfer.origin, now: loop.now)
    }

    /// Makes the failure of a request. Called while the transfer still has libcurl's handle.
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
        let circumstances = FailureCircumstances(
            surelyNotProcessed: !transfer.mayHaveBeenSent && !transfer.hasResponse,
            systemError: transfer.easy?.systemError ?? 0,
            wentAway: report.code == CURLE_HTTP2 && !transfer.headIsWhole)
        let (failure, isTransient) = TransferFailure.failure(
            report, server: transfer.origin.text, headIsWhole: transfer.headIsWhole, hasHeard: transfer.hasHeard)
        if failure.status == .tlsFailed { certificateOffice.doubt() }
        return .failed(failure, isTransient: isTransient, circumstances)
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
            end(transfer, .failed(error, isTransient: error.isPassingLack))
        }
    }

    func end(_ transfer: Transfer, _ end: TransferEnd) {
        release(transfer)
        guard transfer.fallsBack, !transfer.hasResponse, case .failed(let failure, _, let circumstances) = end else {
            return transfer.end(end)
        }
        fallback.end(transfer.origin)
        let lost = HTTP1Fallback.failure(failure, of: transfer.origin)
        transfer.end(.failed(lost, isTransient: true, circumstances))
    }

    func release(_ transfer: Transfer) {
        detach(transfer)
        active[ObjectIdentifier(transfer)] = nil
    }

    private func detach(_ transfer: Transfer) {
        // The stack of a broken loop is not changed.
        guard let easy = transfer.easy, let stack = transfer.stack, !loop.isBroken else { return }
        transfer.leaveCurl()
        stack.multi.remove(easy)
        stack.handles.giveBack(easy)
    }

    // MARK: - Silent transfers

    /// Schedules the next check for silent transfers at this time or earlier.
    func lookAgain(at time: Int64) { watchdog?.look(at: time) }

    /// Ends the transfers whose servers are silent for too long. Returns when to check again. libcurl's own limits miss
    /// some cases, and include time in which libcurl only waits for a connection.
    func endSilent() -> Int64? {
        // This comes first: descriptors that are not ours must not be used or closed.
        for stack in stacks.values where !stack.handles.socketsAreOurs {
            startAnew(stack, Failure(.connectionLost, "the host has closed connections that are not its own"))
        }
        for stack in stacks.values { stack.closeEndedConnections() }
        var next = closeIdle() ?? .max
        if active.isEmpty { return next == .max ? nil : next }
        next = min(next, loop.now + Transport.watchMilliseconds)
        for transfer in Array(active.values) where !transfer.isOver {
            if case .redirecting(let location, _, let until) = transfer.phase {
                guard until <= loop.now else {
                    next = min(next, until)
                    continue
                }
                // The head has all that is needed. A connection with an unread body is closed.
                transfer.takeMetrics()
                detach(transfer)
                follow(location, transfer)
                continue
            }
            if let (socket, until) = transfer.awaitsTaking {
                transfer.noteUntakenBody(socket)
                if !transfer.leftUntaken || socket.isClosed || until <= loop.now {
                    end(transfer, .complete)
                } else {
                    next = min(next, loop.now + Transport.takingMilliseconds)
                }
                continue
            }
            if transfer.isWaiting { continue }
            transfer.noteLeavingBytes(now: loop.now)
            let due = transfer.silentAt
            if due > loop.now {
                next = min(next, due)
                continue
            }
            transfer.takeMetrics()
            if transfer.hasStoppedAfterResponse {
                end(transfer, .complete)
                continue
            }
            end(transfer, .failed(Failure(.requestTimeout, transfer.wordsOnSilence), isTransient: true))
        }
        return isClosed ? nil : next
    }

    /// Closes stacks that are idle for too long, because each connection takes a descriptor. Returns when to check
    /// again, or nil.
    private func closeIdle() -> Int64? {
        var next: Int64?
        for stack in stacks.values where stack.count == 0 {
            let due = stack.idleSince + Transport.idleMilliseconds
            if due > loop.now {
                // Idle connections are checked here, because watching each would take a descriptor in the loop's set.
                let look = stack.handles.haveConnections ? min(due, loop.now + Transport.watchMilliseconds) : due
                next = min(next ?? look, look)
            } else {
                stacks[stack.identity] = nil
                stack.giveUp([], onBrokenLoop: loop.isBroken)
            }
        }
        return next
    }
}
