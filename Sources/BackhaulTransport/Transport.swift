public import BackhaulLoop
public import BackhaulModel
internal import CCurl

/// HTTP transfers over libcurl's multi-socket interface: HTTP/1.1, and HTTP/2 over TLS. Confined to the thread of its
/// loop. Who may run when is not its business: whatever is started, runs.
public final class Transport {
    let loop: Loop
    var multi: MultiHandle?
    var active: [ObjectIdentifier: Transfer] = [:]
    let handles: EasyHandles
    /// What was asked for while libcurl was being called.
    var postponed: [Postponed] = []
    var isStirred = false
    var isSettling = false
    private var watchdog: Watchdog?
    private var idleSince: Int64 = 0
    var isClosed = false

    /// How long connections are kept when no transfer runs.
    private static let idleMilliseconds: Int64 = 30_000
    /// With transfers under way the loop turns at least once a second, and so finds out when its descriptors are gone.
    private static let watchMilliseconds: Int64 = 1_000

    /// Throws when libcurl is not fit for use.
    public init(loop: Loop) throws(Failure) {
        if let problem = CurlLibrary.problem { throw problem }
        self.loop = loop
        handles = EasyHandles()
        multi = try makeMulti()
        watchdog = Watchdog(loop) { [unowned self] in endSilent() }
    }

    deinit { close() }

    var now: Int64 { loop.now }

    /// Starts a transfer. The delegate is not kept, and hears nothing before this returns. Throws for what needs no
    /// server to be seen as wrong.
    public func start(_ request: TransferRequest, _ delegate: any TransferDelegate) throws(Failure) -> Transfer {
        guard !isClosed, !loop.isBroken else {
            throw Failure(.engineFailed, "the transport is closed; no transfer can start")
        }
        guard try WebAddress.origin(of: request.url) == request.origin else {
            throw Failure(.invalidArgument, "the URL is not one of \(request.origin.text)")
        }
        try request.checkHeaders()
        let transfer = Transfer(request, delegate, self, now: loop.now)
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
        watchdog = nil
        postponed = []
        let transfers = Array(active.values)
        active = [:]
        for transfer in transfers { transfer.end() }
        tearDown(transfers)
        handles.drop()
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

    // MARK: - One transfer

    private var isBusy: Bool { multi?.isInside ?? false }

    func begin(_ transfer: Transfer) {
        guard !transfer.isOver else { return release(transfer) }
        do throws(Failure) {
            let multi = if let multi { multi } else { try makeMulti() }
            self.multi = multi
            let easy = try handles.take(caFile: transfer.request.caFile)
            // Unsafe: curl hands this pointer back only between `add` and `remove`, and `active` keeps the transfer so
            // long.
            try easy.prepare(
                url: transfer.url, isEncrypted: transfer.origin.scheme == "https", caFile: transfer.request.caFile,
                timeoutMilliseconds: transfer.request.requestTimeoutMilliseconds, headers: transfer.headerLines,
                receiver: Unmanaged.passUnretained(transfer).toOpaque())
            multi.expect(transfers: active.count)
            transfer.easy = easy
            transfer.lastHeardAt = loop.now
            let result = multi.add(easy)
            guard result == CURLM_OK else {
                transfer.easy = nil
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
        let reason = transfer.easy?.reason ?? ""
        if let easy = transfer.easy { transfer.takeMetrics(of: easy) }
        detach(transfer)
        switch transfer.phase {
        case .over:
            release(transfer)
        case .refused:
            end(transfer, .refused)
        case .redirecting(let location, _):
            follow(location, transfer)
        case .waitingForHead, .receiving:
            if let violation = transfer.violation {
                end(transfer, .failed(violation, isTransient: false))
            } else if result == CURLE_OK, transfer.headIsWhole {
                end(transfer, .complete)
            } else {
                let code = result == CURLE_OK ? CURLE_GOT_NOTHING : result
                let (failure, isTransient) = TransferFailure.failure(
                    code, server: transfer.origin.text, reason: reason, headIsWhole: transfer.headIsWhole)
                end(transfer, .failed(failure, isTransient: isTransient))
            }
        }
    }

    private func follow(_ location: String, _ transfer: Transfer) {
        do throws(Failure) {
            let redirect = try Redirect.decide(
                location, from: transfer.url, transfer.origin, keepsHeaders: transfer.keepsHeaders,
                count: transfer.redirects, limit: transfer.request.maximumRedirects)
            transfer.follow(redirect)
            begin(transfer)
        } catch {
            end(transfer, .failed(error, isTransient: false))
        }
    }

    func end(_ transfer: Transfer, _ end: TransferEnd) {
        release(transfer)
        transfer.end(end)
    }

    func release(_ transfer: Transfer) {
        detach(transfer)
        active[ObjectIdentifier(transfer)] = nil
        if active.isEmpty { idleSince = loop.now }
    }

    private func detach(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        transfer.easy = nil
        guard !loop.isBroken else { return Transport.abandon(easy) }
        multi?.remove(easy)
        handles.giveBack(easy)
    }

    // MARK: - Silence

    /// Ends the transfers whose servers are silent for too long, and says when to look again. libcurl's own limits are
    /// not all of them, and count time in which it only waits for a connection.
    func endSilent() -> Int64? {
        if active.isEmpty {
            let due = idleSince + Transport.idleMilliseconds
            if due > loop.now { return due }
            dropConnections()
            return nil
        }
        var next = loop.now + Transport.watchMilliseconds
        for transfer in Array(active.values) where !transfer.isPaused && !transfer.isOver {
            let due = transfer.silentAt
            if due > loop.now {
                next = min(next, due)
                continue
            }
            if let easy = transfer.easy { transfer.takeMetrics(of: easy) }
            let limit = transfer.request.requestTimeoutMilliseconds
            let message = "\(transfer.origin.text) sent nothing for \(limit) ms; try again later"
            end(transfer, .failed(Failure(.requestTimeout, message), isTransient: true))
        }
        return next
    }
}
