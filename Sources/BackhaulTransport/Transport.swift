public import BackhaulLoop
public import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// libcurl's multi interface on the loop: many transfers, few connections, one thread. Confined to the loop's thread.
public final class Transport {
    /// Idle connections that are kept. Curl's own default grows with every handle ever added.
    private static let connectionLimit = 256
    private static let pooledHandles = 64
    private static let watchdogMilliseconds: Int64 = 250

    private let loop: Loop
    private var multi: UnsafeMutableRawPointer
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    private var watches: [Int32: Watch] = [:]
    private var pool: [EasyHandle] = []
    private var timer: LoopTimer?
    private var watchdog: LoopTimer?
    /// A call-back of curl is on the stack: curl must not be called.
    private var isInside = false
    private var deferred: [() -> Void] = []
    private var actionIsPlanned = false
    private var isClosed = false

    var now: Int64 { loop.now }

    public init(loop: Loop) throws(Failure) {
        guard CurlGlobal.isReady else { throw Failure(.outOfResources, "libcurl cannot be initialised") }
        guard let multi = curl_multi_init() else { throw Failure(.outOfResources, "there is no memory for libcurl") }
        self.loop = loop
        self.multi = multi
        configure()
        timer = loop.timer { [unowned self] in act(CURL_SOCKET_TIMEOUT_VALUE, 0) }
        watchdog = loop.timer { [unowned self] in lookForSilence() }
    }

    /// Starts a request. Calls to the delegate come later, never from inside this.
    public func start(_ request: TransferRequest, _ delegate: any TransferDelegate) throws(Failure) -> Transfer {
        guard !isClosed else { throw Failure(.engineFailed, "the transport is closed") }
        let transfer = Transfer(request, delegate, transport: self)
        outside { [unowned self] in add(transfer) }
        if let watchdog, !watchdog.isRunning { watchdog.start(milliseconds: Self.watchdogMilliseconds) }
        return transfer
    }

    /// Ends all transfers without telling anyone.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        timer?.stop()
        watchdog?.stop()
        for transfer in Array(transfers.values) { transfer.cancel() }
        for watch in watches.values { watch.cancel() }
        watches = [:]
        pool = []
        curl_multi_cleanup(multi)
    }

    deinit { close() }

    // MARK: For Transfer

    func remove(_ transfer: Transfer) {
        outside { [unowned self] in detach(transfer) }
    }

    func unpause(_ transfer: Transfer) {
        outside { [unowned self] in
            guard let easy = transfer.easy, !transfer.isOver, !transfer.isPaused else { return }
            // It may call the write function before it returns.
            isInside = true
            curl_easy_pause(easy.curl, CURLPAUSE_CONT)
            isInside = false
            planAction()
        }
    }

    // MARK: Handles

    private func add(_ transfer: Transfer) {
        guard !transfer.isOver, !isClosed else { return }
        guard let easy = pool.popLast() ?? EasyHandle() else {
            transfer.end(.failed(Failure(.outOfResources, "there is no memory for a transfer"), isTransient: true))
            return
        }
        transfer.prepare(easy)
        transfers[easy.curl] = transfer
        if curl_multi_add_handle(multi, easy.curl) != CURLM_OK {
            detach(transfer)
            transfer.end(.failed(Failure(.outOfResources, "libcurl takes no more transfers"), isTransient: true))
        }
    }

    private func detach(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        transfer.easy = nil
        guard transfers.removeValue(forKey: easy.curl) != nil else { return }
        curl_multi_remove_handle(multi, easy.curl)
        if pool.count < Self.pooledHandles { pool.append(easy) }
    }

    // MARK: Driving curl

    private func configure() {
        bhc_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        bhc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.connectionLimit)
        bhc_multi_set_callbacks(
            multi,
            { _, socket, what, context, _ in
                Transport.from(context)?.watch(socket, what)
                return 0
            },
            { _, milliseconds, context in
                Transport.from(context)?.setTimer(milliseconds)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    // Unretained: the multi handle is cleaned up before this object is gone.
    private static func from(_ context: UnsafeMutableRawPointer?) -> Transport? {
        context.map { Unmanaged<Transport>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs the body now, or after the call-back of curl that is on the stack.
    private func outside(_ body: @escaping () -> Void) {
        if isInside {
            deferred.append(body)
        } else {
            body()
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer?.stop()
        guard milliseconds >= 0 else { return }
        // In this very turn: a timer of libuv would cost every request a millisecond.
        if milliseconds == 0 { planAction() } else { timer?.start(milliseconds: Int64(milliseconds)) }
    }

    private func planAction() {
        guard !actionIsPlanned else { return }
        actionIsPlanned = true
        loop.afterThisTurn { [weak self] in
            guard let self else { return }
            actionIsPlanned = false
            act(CURL_SOCKET_TIMEOUT_VALUE, 0)
        }
    }

    private func watch(_ socket: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            watches.removeValue(forKey: socket)?.cancel()
            return
        }
        var interest: Interest = []
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest.insert(.readable) }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest.insert(.writable) }
        if watches[socket]?.change(interest) == true { return }
        watches[socket] = try? loop.watch(socket, interest) { [unowned self] ready in
            var mask: Int32 = 0
            if ready.contains(.readable) { mask |= CURL_CSELECT_IN }
            if ready.contains(.writable) { mask |= CURL_CSELECT_OUT }
            act(socket, mask)
        }
    }

    private func act(_ socket: Int32, _ mask: Int32) {
        guard !isClosed, !isInside else { return }
        var running: Int32 = 0
        isInside = true
        let code = curl_multi_socket_action(multi, socket, mask, &running)
        isInside = false
        if code != CURLM_OK {
            rebuild()
        } else {
            drain()
        }
        runDeferred()
    }

    private func runDeferred() {
        while !deferred.isEmpty {
            let bodies = deferred
            deferred = []
            for body in bodies { body() }
        }
    }

    private func drain() {
        var code = CURLE_OK
        while let curl = bhc_multi_next_finished(multi, &code) {
            guard let transfer = transfers[curl] else { continue }
            let goesOn = transfer.finished(code)
            detach(transfer)
            if goesOn { add(transfer) }
        }
    }

    /// After an error of curl_multi_socket_action the state of all transfers is uncertain (its man page): they end as
    /// broken off, and a new multi handle takes the place.
    private func rebuild() {
        let broken = Array(transfers.values)
        for transfer in broken { detach(transfer) }
        for watch in watches.values { watch.cancel() }
        watches = [:]
        pool = []
        let failure = Failure(.connectionLost, "libcurl had an internal error; the transfer starts again")
        if let fresh = curl_multi_init() {
            curl_multi_cleanup(multi)
            multi = fresh
            configure()
        }
        for transfer in broken { transfer.end(.failed(failure, isTransient: true)) }
    }

    /// Curl sets no timer for a server that has gone silent, so we look ourselves.
    private func lookForSilence() {
        for transfer in Array(transfers.values) where transfer.isSilent(at: loop.now) {
            let failure = transfer.silence
            detach(transfer)
            transfer.end(.failed(failure, isTransient: true))
        }
        runDeferred()
        if !transfers.isEmpty { watchdog?.start(milliseconds: Self.watchdogMilliseconds) }
    }
}

/// `CURL_SOCKET_TIMEOUT`, a macro that Swift does not import.
private let CURL_SOCKET_TIMEOUT_VALUE: Int32 = -1

/// libcurl's process-wide initialisation, once. It is thread-safe since 7.84.0.
enum CurlGlobal {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
