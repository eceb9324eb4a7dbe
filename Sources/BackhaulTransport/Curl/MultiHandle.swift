internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import CCurl

/// libcurl's multi handle. The event loop watches the handle's sockets and runs its timer.
///
/// Unsafe: the handle has a pointer to this object. Both live from `init` to `close`.
final class MultiHandle {
    private let handle: UnsafeMutableRawPointer
    private let loop: Loop
    /// Called when libcurl may have ended a transfer, or may have work to do.
    private let scheduleProcessing: () -> Void
    private var watches: [Int32: Watch] = [:]
    private var timer: LoopTimer?
    private var connectionLimit = 64
    private var sweeper: ConnectionSweeper?
    private var unwatched: [(transfer: Transfer, error: SystemError)] = []

    /// The start of the current call that makes libcurl read, in milliseconds of the boot clock (CLOCK_BOOTTIME).
    private var began: Int64 = 0
    private var chunks = 0
    let floodGuard = FrameFloodGuard()
    /// Whether libcurl has removed a socket since the last call of `act`.
    private var hasRemoved = false
    /// Whether libcurl has requested an immediate call.
    private(set) var isDue = false
    /// Whether a call of libcurl is in progress. libcurl's call-backs must not call libcurl.
    private(set) var isInside = false
    /// The error of the last call. After an error the handle cannot be used any more.
    private(set) var error: CURLMcode = CURLM_OK

    init(_ loop: Loop, scheduleProcessing: @escaping () -> Void) throws(Failure) {
        guard let handle = curl_multi_init() else { throw Failure(.outOfResources, "no memory is left for transfers") }
        self.handle = handle
        self.loop = loop
        self.scheduleProcessing = scheduleProcessing
        timer = loop.timer { [unowned self] in
            isDue = true
            self.scheduleProcessing()
        }
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        bhl_multi_set_socket_function(handle, watchSocket, pointer)
        bhl_multi_set_timer_function(handle, startTimer, pointer)
        bhl_multi_set_long(handle, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX)
        bhl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, connectionLimit)
    }

    /// Closes idle connections that their servers have ended. libcurl itself checks idle connections only when a
    /// request needs a connection, and at most one time per second.
    func closeEndedConnections() {
        guard sweeper == nil, let sweeper = ConnectionSweeper() else { return }
        if inside({ curl_multi_add_handle(handle, sweeper.handle) }) == CURLM_OK { self.sweeper = sweeper }
    }

    /// Frees the multi handle with its connections. The multi handle must contain no easy handle.
    func close() {
        endSweep()
        _ = inside { curl_multi_cleanup(handle) }
        watches = [:]
        timer = nil
        isDue = false
    }

    // MARK: - Transfers

    func add(_ easy: EasyHandle) -> CURLMcode { inside { curl_multi_add_handle(handle, easy.handle) } }

    func remove(_ easy: EasyHandle) { _ = inside { curl_multi_remove_handle(handle, easy.handle) } }

    /// Pauses or resumes each direction. libcurl may call the call-back for the body before this function returns.
    func pause(_ easy: EasyHandle, receiving: Bool, sending: Bool) -> CURLcode {
        began = Clock.bootMilliseconds
        chunks = 0
        let mask = (receiving ? CURLPAUSE_RECV : 0) | (sending ? CURLPAUSE_SEND : 0)
        return inside { curl_easy_pause(easy.handle, mask) }
    }

    /// Makes libcurl keep as many idle connections as this number of transfers may need. libcurl closes further idle
    /// connections.
    func expect(transfers: Int) {
        guard transfers > connectionLimit, connectionLimit < 1_024 else { return }
        connectionLimit = min(1_024, max(transfers, connectionLimit * 2))
        bhl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, connectionLimit)
    }

    /// Limits the open connections, including idle ones.
    func limit(connections: Int) {
        bhl_multi_set_long(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(1, connections))
    }

    /// Makes libcurl perform the work for which libcurl has set the timer.
    func act() {
        isDue = false
        hasRemoved = false
        act(on: bhl_socket_timeout, 0)
        guard Workaround.lateNextAddress.isActive, hasRemoved, error == CURLM_OK else { return }
        let result = inside { openLateAddresses(handle) }
        if result != CURLM_OK { error = result }
    }

    /// Makes libcurl read from the socket, although the event loop has not reported input.
    func read(_ socket: Int32) {
        act(on: socket, CURL_CSELECT_IN)
        scheduleProcessing()
    }

    /// Counts a chunk of a body. Returns whether other transfers should run first, because the current call of libcurl
    /// has taken long and has delivered many chunks.
    func noteChunk() -> Bool {
        chunks += 1
        return chunks > Self.manyChunks && Clock.bootMilliseconds - began > Self.longMilliseconds
    }

    /// A call with up to this number of chunks continues regardless of its duration. A chunk usually has the bytes of
    /// one read of the socket.
    private static let manyChunks = 1_000
    private static let longMilliseconds: Int64 = 50

    private func act(on socket: Int32, _ ready: Int32) {
        guard error == CURLM_OK else { return }
        began = Clock.bootMilliseconds
        chunks = 0
        floodGuard.begin()
        var running: Int32 = 0
        let result = inside { curl_multi_socket_action(handle, socket, ready, &running) }
        if result != CURLM_OK { error = result }
    }

    /// Returns the next transfer that libcurl has ended, and its result. `receiver` is the pointer with which the
    /// handle was prepared; it points to the transfer.
    func nextEnded() -> (receiver: UnsafeMutableRawPointer, result: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            if easy == sweeper?.handle {
                endSweep()
                continue
            }
            var receiver: UnsafeMutableRawPointer?
            guard bhl_easy_get_pointer(easy, CURLINFO_PRIVATE, &receiver) == CURLE_OK, let receiver else { continue }
            return (receiver, bhl_message_result(message))
        }
        return nil
    }

    private func endSweep() {
        guard let sweeper else { return }
        _ = inside { curl_multi_remove_handle(handle, sweeper.handle) }
        self.sweeper = nil
    }

    private func inside<Result>(_ body: () -> Result) -> Result {
        isInside = true
        defer { isInside = false }
        return body()
    }

    // MARK: - Call-backs

    /// Returns the transfers whose sockets could not be watched since the last call of this function. The caller must
    /// end these transfers, because they would hang.
    func takeUnwatched() -> [(transfer: Transfer, error: SystemError)] {
        defer { unwatched = [] }
        return unwatched
    }

    /// Changes the watch of a socket. If this function returns false, libcurl ends all transfers.
    fileprivate func watch(_ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ what: Int32) -> Bool {
        do throws(SystemError) {
            try watch(socket, what)
            return true
        } catch {
            // Unsafe: libcurl calls this for a handle in use, so the handle's transfer lives. The handle of
            // `ConnectionSweeper` has no transfer.
            var receiver: UnsafeMutableRawPointer?
            guard let easy, easy != sweeper?.handle,
                bhl_easy_get_pointer(easy, CURLINFO_PRIVATE, &receiver) == CURLE_OK, let receiver
            else { return false }
            unwatched.append((Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue(), error))
            scheduleProcessing()
            return true
        }
    }

    private func watch(_ socket: Int32, _ what: Int32) throws(SystemError) {
        if what == CURL_POLL_REMOVE {
            hasRemoved = true
            watches.removeValue(forKey: socket)?.cancel()
            return
        }
        var interest: Interest = []
        if what & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
        if watches[socket]?.change(interest) == true { return }
        watches[socket] = try loop.watch(socket, interest) { [unowned self] found in
            var ready: Int32 = 0
            if found.contains(.readable) { ready |= CURL_CSELECT_IN }
            if found.contains(.writable) { ready |= CURL_CSELECT_OUT }
            act(on: socket, ready)
            scheduleProcessing()
        }
    }

    /// Watches the new socket with this number (Workarounds/UnreportedClose.swift).
    func watchAgain(_ socket: Int32) {
        guard let before = watches.removeValue(forKey: socket) else { return }
        let interest = before.interest
        before.cancel()
        let reads = interest.contains(.readable) ? CURL_POLL_IN : 0
        let writes = interest.contains(.writable) ? CURL_POLL_OUT : 0
        guard !watch(nil, socket, reads | writes) else { return }
        error = CURLM_INTERNAL_ERROR
        scheduleProcessing()
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        isDue = milliseconds == 0
        if milliseconds > 0 {
            timer?.start(milliseconds: Int64(milliseconds))
        } else {
            timer?.stop()
        }
        if isDue { scheduleProcessing() }
    }
}

private let watchSocket: curl_socket_callback = { easy, socket, what, multi, _ in
    guard let multi else { return -1 }
    return Unmanaged<MultiHandle>.fromOpaque(multi).takeUnretainedValue().watch(easy, socket, what) ? 0 : -1
}

private let startTimer: curl_multi_timer_callback = { _, milliseconds, multi in
    guard let multi else { return -1 }
    Unmanaged<MultiHandle>.fromOpaque(multi).takeUnretainedValue().setTimer(milliseconds)
    return 0
}
