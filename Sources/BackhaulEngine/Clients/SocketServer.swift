internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire
internal import Glibc

/// Serves the store's socket: clients in other processes of the same user. A flood, a half-sent frame or a hostile peer
/// costs that peer its connection and nothing else.
final class SocketServer {
    static let socketName = "engine.socket"
    private static let connectionLimit = 512
    /// Of one process, so that one that floods leaves room for others.
    private static let connectionLimitOfProcess = 128
    private static let retryMilliseconds: Int64 = 1_000
    /// Shorter than a client's patience, longer than it takes to delete a store.
    private static let mendMilliseconds: Int64 = 500
    /// More than may wait in the listener's queue; a flood does not hold up the loop for longer.
    private static let acceptLimit = 256
    /// Unfinished frames of all peers together, from which on a stopped process is not waited for.
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
    /// Given up for a moment when no descriptor is left, so that a client is refused with the reason.
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

    /// Something has been removed from the store, or moved into it. Looked at a moment later: the store as a whole may
    /// be about to be deleted, and a new file in it would be in the way.
    func mendSoon() {
        guard watch != nil, !listener.isAtItsName else { return }
        if mending?.isRunning == false { mending?.start(milliseconds: Self.mendMilliseconds) }
    }

    /// Without the file nobody new finds the engine, and its lock keeps everybody from becoming one.
    private func mend() {
        guard !listener.isAtItsName, services.directory.hasLock else { return }
        let log = services.options.log
        do {
            let fresh = try UnixListener(name: Self.socketName, in: services.directory.descriptor)
            let freshWatch = try loop.watch(fresh.number, .readable) { [unowned self] _ in acceptAll() }
            acceptAll()
            watch?.cancel()
            (listener, watch) = (fresh, freshWatch)
            log(LogEntry(.warning, "the store's socket was removed; it has been made anew"))
        } catch {
            let failure = Self.failure(error)
            log(LogEntry(.error, "\(failure.message); programs that open the store now do not reach its engine"))
            // Its removal will be told.
            if error.code != EADDRINUSE { mending?.start(milliseconds: Self.retryMilliseconds) }
        }
    }

    /// An engine that can take nobody in is told at its start, not by its silence.
    private static func lookForSpareDescriptors() throws(SystemError) {
        // For a client, its process, a file, a connection.
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
                // The listener stays ready for as long as they wait: look again later, not all the time.
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

    // MARK: Patience

    /// A peer owes a hello or the rest of a frame. Looked at only while one does.
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
            // One that was stopped in the middle of a frame means no harm.
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
