internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire
internal import Glibc

/// Serves the store's socket for clients in other processes of the same user. A peer that floods the socket, leaves a
/// frame unfinished or breaks the protocol loses its own connection; other peers are not affected.
final class SocketServer {
    static let socketName = "engine.socket"
    private static let connectionLimit = 512
    /// The most connections of one process. A process that floods the socket leaves room for others.
    private static let connectionLimitOfProcess = 128
    private static let retryMilliseconds: Int64 = 1_000
    /// The delay before the socket's file is made again. A client waits longer for the engine, and a store is deleted
    /// within a shorter time.
    private static let mendMilliseconds: Int64 = 500
    /// The most connections that one call accepts, so that a flood does not block the loop. More than the listener's
    /// queue can have.
    private static let acceptLimit = 256
    /// The most bytes of unfinished frames, of all peers together. With more, the server waits for no stopped process.
    private static let unfinishedLimit = 64 << 20

    private var listener: UnixListener
    let loop: Loop
    let services: Services
    unowned let receiver: CommandReceiver
    let clients: ClientParts
    private var watch: Watch?
    private var retry: LoopTimer?
    private var mending: LoopTimer?
    private var patience: LoopTimer?
    private var peers: [ConnectionID: SocketPeer] = [:]
    /// A descriptor that is closed for a moment when no other is left, so that a client can be refused with the reason.
    private var reserve: WakeUp?

    init(
        _ loop: Loop, _ services: Services, _ receiver: CommandReceiver, _ clients: ClientParts
    ) throws(Failure) {
        self.loop = loop
        self.services = services
        self.receiver = receiver
        self.clients = clients
        do {
            listener = try UnixListener(name: Self.socketName, in: services.directory.descriptor)
            watch = try loop.watch(listener.number, .readable) { [unowned self] _ in acceptAll() }
            mending = loop.timer { [unowned self] in mend() }
            patience = loop.timer { [unowned self] in endThoseWhoOwe() }
            retry = loop.timer { [unowned self] in _ = watch?.change(.readable) }
            try Self.lookForSpareDescriptors()
            reserve = try WakeUp()
        } catch {
            throw SocketServer.failure(error)
        }
    }

    func close() {
        mending?.stop()
        watch?.cancel()
        watch = nil
        for peer in peers.values { peer.close() }
        peers = [:]
        listener.remove()
    }

    // MARK: The socket's file

    /// Makes the socket's file again after a delay, if it was removed or replaced. The delay is there because the whole
    /// store may be about to be deleted, and a new file would prevent that.
    func mendSoon() {
        guard watch != nil, !listener.isAtItsName else { return }
        if mending?.isRunning == false { mending?.start(milliseconds: Self.mendMilliseconds) }
    }

    /// Makes the socket's file again. Without it, no new client finds the engine, and none can become the engine, which
    /// still has the lock.
    private func mend() {
        guard !listener.isAtItsName, services.directory.hasLock else { return }
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
            // A directory with the socket's name is in the way. The store's watch reports when it is removed.
            if error.code != EADDRINUSE { mending?.start(milliseconds: Self.retryMilliseconds) }
        }
    }

    /// Fails when too few descriptors are left to serve a client, so that the engine reports it at its start.
    private static func lookForSpareDescriptors() throws(SystemError) {
        // One each for a client, its process, a file and a connection.
        var spare: [WakeUp] = []
        for _ in 0..<4 { spare.append(try WakeUp()) }
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
            case .nobody: return
            case .exhausted:
                refuseWithReserve()
                // The listener stays ready while clients wait: it is watched again after a delay, not in a busy loop.
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
            id, isLocal: false, isBehind: { [weak socketPeer] in socketPeer?.isBehind ?? true },
            deliver: { [weak socketPeer] in socketPeer?.send($0) })
        isOwed()
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
            reserve = try? WakeUp()
            return
        }
        reserve = nil
        if case .stream(let stream) = listener.accept() {
            refuse(
                stream, .outOfResources,
                "the engine has no descriptor left for another client; raise its limit (RLIMIT_NOFILE)")
        }
        reserve = try? WakeUp()
    }

    // MARK: Missing bytes

    /// The hello of a peer or the rest of its frame is missing. Starts the timer, which runs only while this is so.
    func isOwed() {
        let limits = services.options.patienceMilliseconds
        let first = min(limits.hello, limits.frame, Self.retryMilliseconds)
        if patience?.isRunning == false { patience?.start(milliseconds: first) }
    }

    private func endThoseWhoOwe() {
        let (now, limits) = (loop.now, services.options.patienceMilliseconds)
        let owing = peers.values.filter { $0.owesSince != nil }
        let isCrowded = owing.reduce(0) { $0 + $1.heldBytes } > Self.unfinishedLimit
        for peer in owing {
            guard let since = peer.owesSince else { continue }
            let limit = peer.isIntroduced ? limits.frame : limits.hello
            guard now - since >= limit || isCrowded else { continue }
            // A process that was stopped in the middle of a frame keeps its connection.
            if peer.isIntroduced, !isCrowded, ProcessIdentity.isStopped(processID: peer.peer.processID) { continue }
            peer.end()
        }
        if peers.values.contains(where: { $0.owesSince != nil }) { isOwed() }
    }

    func ended(_ id: ConnectionID) {
        peers[id] = nil
        receiver.closed(id)
    }
}
