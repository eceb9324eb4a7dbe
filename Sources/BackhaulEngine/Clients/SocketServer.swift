internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire
internal import Glibc

/// Serves the store's socket for clients in other processes of the same user. Such a client is a *peer*. A *frame* is
/// one message of a peer. A peer that floods the socket, leaves a frame unfinished or breaks the protocol loses its own
/// connection; other peers are not affected.
final class SocketServer {
    static let socketName = "engine.socket"
    private static let connectionLimit = 512
    /// The limit on the connections of one process. With this limit, one process cannot use up all connections.
    private static let connectionLimitOfProcess = 128
    private static let retryMilliseconds: Int64 = 1_000
    /// The delay in milliseconds before the socket's file is made again. Clients try to reach the engine for a longer
    /// time than this delay. The deletion of a store takes less time than this delay.
    private static let repairDelayMilliseconds: Int64 = 500
    /// The limit on the connections that one call accepts, so that a flood does not block the loop. One call can accept
    /// a full queue of the listener, because the queue has room for fewer connections than this limit.
    private static let acceptLimit = 256
    /// The limit on the bytes of all peers' unfinished frames together. If there are more bytes, the server closes
    /// connections (`endLargestPeers`).
    private static let partialFrameLimit = 64 << 20

    private var listener: UnixListener
    let loop: Loop
    let services: Services
    unowned let receiver: CommandReceiver
    let clients: ClientParts
    private var watch: Watch?
    private var retry: LoopTimer?
    private var repairTimer: LoopTimer?
    private var inputTimer: LoopTimer?
    /// The time at which `inputTimer` is due.
    private var inputTimerDue: Int64 = 0
    private var peers: [ConnectionID: SocketPeer] = [:]
    /// A spare descriptor. If the process has no other descriptor left, this descriptor is closed for a moment. Then
    /// the engine can accept a client, and refuse it with the reason.
    private var reserve: EventFD?

    /// Makes the socket's file. Clients can connect from now on, and wait in the socket's queue until `begin`.
    init(
        _ loop: Loop, _ services: Services, _ receiver: CommandReceiver, _ clients: ClientParts
    ) throws(Failure) {
        self.loop = loop
        self.services = services
        self.receiver = receiver
        self.clients = clients
        do {
            listener = try UnixListener(name: Self.socketName, in: services.directory.descriptor)
            watch = try loop.watch(listener.number, []) { [unowned self] _ in acceptAll() }
            repairTimer = loop.timer { [unowned self] in repairListener() }
            inputTimer = loop.timer { [unowned self] in closeOverduePeers() }
            retry = loop.timer { [unowned self] in _ = watch?.change(.readable) }
            // A client needs four descriptors: for its socket, its process, a file, and a connection to a server. The
            // engine reports their lack at its start.
            try EventFD.checkDescriptors(4)
            reserve = try EventFD()
        } catch {
            throw SocketServer.failure(error)
        }
    }

    /// Accepts the clients that wait, and later clients.
    func begin() { watch?.change(.readable) }

    func close() {
        repairTimer?.stop()
        watch?.cancel()
        watch = nil
        for peer in peers.values { peer.close() }
        peers = [:]
        listener.remove()
    }

    // MARK: The socket's file

    /// Makes the socket's file again after a delay, if it was removed or replaced. Without the delay, the new file
    /// could prevent the deletion of the whole store.
    func scheduleListenerRepair() {
        guard watch != nil, !listener.isLinked else { return }
        if repairTimer?.isRunning == false { repairTimer?.start(milliseconds: Self.repairDelayMilliseconds) }
    }

    /// Makes the socket's file again. Without the file, a new client cannot find the engine. The client also cannot
    /// start another engine, because this engine has the store lock.
    private func repairListener() {
        guard !listener.isLinked, services.directory.hasLock else { return }
        let log = services.options.log
        do {
            let fresh = try UnixListener(name: Self.socketName, in: services.directory.descriptor)
            let freshWatch = try loop.watch(fresh.number, .readable) { [unowned self] _ in acceptAll() }
            acceptAll()
            watch?.cancel()
            (listener, watch) = (fresh, freshWatch)
            log(LogEntry(.warning, "the store's socket was removed; the engine has created it again"))
        } catch {
            let failure = Self.failure(error)
            log(LogEntry(.error, "\(failure.message); programs that open the store now do not reach its engine"))
            // EADDRINUSE means that a directory has the socket's name. The store's watch reports when this directory is
            // removed.
            if error.code != EADDRINUSE { repairTimer?.start(milliseconds: Self.retryMilliseconds) }
        }
    }

    private static func failure(_ error: SystemError) -> Failure {
        let what = "the store's socket cannot be made"
        return switch error.code {
        case EADDRINUSE:
            .system(.storeUnavailable, code: error.code, "\(what): the store has a directory \(socketName); remove it")
        case _ where error.isExhaustion:
            .system(.outOfResources, code: error.code, "\(what): \(error.reason); \(error.advice)")
        case ENOSPC, EDQUOT:
            .system(.storeFull, code: error.code, "\(what): \(error.reason); free some space")
        default: .system(.storeUnavailable, code: error.code, "\(what): \(error.reason)")
        }
    }

    // MARK: Peers

    func acceptAll() {
        for _ in 0..<Self.acceptLimit {
            switch listener.accept() {
            case .stream(let stream): accept(stream)
            case .wouldBlock: return
            case .exhausted:
                refuseWithReserve()
                // The listener stays readable while clients wait, so the watch is stopped for a time. This prevents a
                // busy loop.
                watch?.change([])
                retry?.start(milliseconds: Self.retryMilliseconds)
                return
            }
        }
    }

    private func accept(_ stream: UnixStream) {
        guard let peer = stream.peer, peer.isSameUser else { return }
        let ofProcess = peers.values.count { $0.peer.processID == peer.processID }
        guard peers.count < Self.connectionLimit, ofProcess < Self.connectionLimitOfProcess else {
            return refuse(stream, peers.count < Self.connectionLimit ? ofProcess : peers.count)
        }
        let id = ConnectionID.next()
        guard let socketPeer = SocketPeer(id: id, stream: stream, peer: peer, server: self) else { return }
        peers[id] = socketPeer
        receiver.accept(
            id, isLocal: false, isBackpressured: { [weak socketPeer] in socketPeer?.isBackpressured ?? true },
            deliver: { [weak socketPeer] in socketPeer?.send($0) })
        startInputTimer()
    }

    private func refuse(_ stream: UnixStream, _ count: Int) {
        refuse(
            stream, .tooMany,
            "the engine serves \(count) connections already; close applications that are not in use")
    }

    private func refuse(_ stream: UnixStream, _ status: Status, _ message: String) {
        _ = stream.write(Wire.encode(.goodbye(Failure(status, message))), from: 0)
    }

    private func refuseWithReserve() {
        guard reserve != nil else {
            reserve = try? EventFD()
            return
        }
        reserve = nil
        if case .stream(let stream) = listener.accept() {
            refuse(
                stream, .outOfResources,
                "the engine has no descriptor left for another client; raise its limit (RLIMIT_NOFILE)")
        }
        reserve = try? EventFD()
    }

    // MARK: Missing bytes

    /// Starts the timer that checks for overdue bytes, and for too many bytes. The timer runs only while the hello of a
    /// peer is missing, or an unfinished frame is in memory.
    func startInputTimer() {
        let limits = services.options.timeoutMilliseconds
        let first = min(limits.hello, limits.frame, Self.retryMilliseconds)
        guard inputTimer?.isRunning == false else { return }
        inputTimerDue = loop.now + first
        inputTimer?.start(milliseconds: first)
    }

    private func closeOverduePeers() {
        let (now, limits) = (loop.now, services.options.timeoutMilliseconds)
        let owing = peers.values.filter { $0.inputPendingSince != nil }
        // While the machine slept, or this process was stopped, no peer could send anything.
        for peer in owing { peer.leaveOut(from: inputTimerDue, to: now) }
        endLargestPeers()
        for peer in owing {
            guard let since = peer.inputPendingSince else { continue }
            let limit = peer.isIntroduced ? limits.frame : limits.hello
            guard now - since >= limit else { continue }
            // A process that was stopped in the middle of a frame keeps its connection.
            if peer.isIntroduced, ProcessIdentity.isStopped(processID: peer.peer.processID) { continue }
            peer.end()
        }
        if peers.values.contains(where: { $0.inputPendingSince != nil || $0.bufferedBytes > 0 }) { startInputTimer() }
    }

    /// Ends peers until the unfinished frames have no more bytes than the limit. The peers of the process with the most
    /// bytes come first, so that a flood of one process does not end the peers of other processes.
    private func endLargestPeers() {
        var excess = peers.values.reduce(-Self.partialFrameLimit) { $0 + $1.bufferedBytes }
        guard excess > 0 else { return }
        let bytes = Dictionary(grouping: peers.values, by: \.peer.processID)
            .mapValues { $0.reduce(0) { $0 + $1.bufferedBytes } }
        let sorted = peers.values.sorted { left, right in
            (bytes[left.peer.processID] ?? 0, left.bufferedBytes)
                > (bytes[right.peer.processID] ?? 0, right.bufferedBytes)
        }
        for peer in sorted where excess > 0 && peer.bufferedBytes > 0 {
            excess -= peer.bufferedBytes
            peer.end()
        }
    }

    func ended(_ id: ConnectionID) {
        peers[id] = nil
        receiver.disconnected(id)
    }
}
