public import BackhaulLoop
public import BackhaulModel
internal import CCurl

/// HTTP transfers over libcurl's multi-socket interface: HTTP/1.1, and HTTP/2 over TLS. Confined to the thread of its
/// loop. Who may run when is not its business: whatever is started, runs.
public final class Transport {
    let loop: Loop
    lazy var ticketOffice = TicketOffice(loop)
    lazy var certificateOffice = CertificateOffice(loop)
    var stacks: [ConnectionIdentity: CurlStack] = [:]
    var active: [ObjectIdentifier: Transfer] = [:]
    /// What was asked for while libcurl was being called.
    var postponed: [Postponed] = []
    var isStirred = false
    var isSettling = false
    private var watchdog: Watchdog?
    private var origins = OriginReader()
    var isClosed = false
    private var fallback = HTTP1Fallback()
    /// Open at a time within each identity, idle ones included: those are closed when a new one needs the room.
    public var maximumConnections = 1_024 {
        didSet {
            guard maximumConnections != oldValue else { return }
            for stack in stacks.values { stack.multi.limit(connections: maximumConnections) }
        }
    }

    /// How long connections are kept when no transfer runs.
    private static let idleMilliseconds: Int64 = 30_000
    /// Between two looks at whether a server has taken the rest of a body.
    private static let takingMilliseconds: Int64 = 20
    /// With transfers under way the loop turns at least once a second, and so finds out when its descriptors are gone.
    private static let watchMilliseconds: Int64 = 1_000

    /// Throws when libcurl is not fit for use.
    public init(loop: Loop) throws(Failure) {
        if let problem = CurlLibrary.problem { throw problem }
        self.loop = loop
        watchdog = Watchdog(loop) { [unowned self] in endSilent() }
    }

    deinit { close() }

    var now: Int64 { loop.now }

    /// Starts a transfer. The delegate is not kept, and hears nothing before this returns. Throws for what needs no
    /// server to be seen as wrong. `cookies`: of its session; nil: none are taken or sent.
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

    /// Ends all transfers without a word to their delegates, and closes the connections. Harmless when repeated.
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
            // From within a call-back of libcurl's it must wait until that is over.
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
        // Never at once: the delegate would be called from within its own call.
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
            // Unsafe: curl hands this pointer back only between `add` and `remove`, and `active` keeps the transfer so
            // long.
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
                    .outOfResources, "libcurl takes no transfer: \(String(cString: curl_multi_strerror(result)))",
                    domain: .curl, detail: Int64(result.rawValue))
            }
        } catch {
            // Told at the end of the turn, never from within `start`.
            let failure = error
            loop.afterThisTurn { [weak self] in self?.end(transfer, .failed(failure, isTransient: true)) }
        }
    }

    /// libcurl is through with a request of the transfer.
    func conclude(_ transfer: Transfer, _ result: CURLcode) {
        transfer.noteUntakenBody(transfer.socket)
        let hasLostResponse = transfer.hasLostEarlyResponse(result)
        let result = transfer.hasEarlyResponse(result) ? CURLE_OK : result
        // Nothing was repeated: what was held is the answer.
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

    /// HTTP/1.1 marks the ends of bodies that the origin's HTTP/2 has not marked.
    private func fallsBack(_ transfer: Transfer, _ credentials: HopCredentials) -> Bool {
        // Those that belong to a connection need HTTP/1.1 anyway.
        guard !credentials.belongsToConnection else { return false }
        if transfer.needsHTTP1 { return true }
        return transfer.request.httpVersion == .standard && fallback.includes(transfer.origin, now: loop.now)
    }

    /// Asked before libcurl's handle is given back.
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
        // A broken loop's stack is left as it is.
        guard let easy = transfer.easy, let stack = transfer.stack, !loop.isBroken else { return }
        transfer.leaveCurl()
        stack.multi.remove(easy)
        stack.handles.giveBack(easy)
    }

    // MARK: - Silence

    /// Looks then for transfers to be ended, if not before.
    func lookAgain(at time: Int64) { watchdog?.look(at: time) }

    /// Ends the transfers whose servers are silent for too long, and says when to look again. libcurl's own limits are
    /// not all of them, and count time in which it only waits for a connection.
    func endSilent() -> Int64? {
        // First: what is not ours must not be looked at or closed.
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
                // The head said enough. A connection with a body on it is closed.
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

    /// Servers close connections that nobody uses; each would keep a descriptor here. When to look again, or nil.
    private func closeIdle() -> Int64? {
        var next: Int64?
        for stack in stacks.values where stack.count == 0 {
            let due = stack.idleSince + Transport.idleMilliseconds
            if due > loop.now {
                // With an event of its own each idle connection would cost a descriptor in the loop's set.
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
