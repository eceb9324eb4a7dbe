internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// Serves the store's socket: clients in other processes of the same user. A flood, a half-sent frame or a hostile peer
/// costs that peer its connection and nothing else.
final class SocketServer {
    static let socketName = "engine.socket"
    private static let connectionLimit = 512
    private static let retryMilliseconds: Int64 = 1_000

    private let listener: UnixListener
    private unowned let core: EngineCore
    private var watch: Watch?
    private var retry: LoopTimer?
    private var peers: [ConnectionID: SocketPeer] = [:]

    init(directory: StoreDirectory, loop: Loop, core: EngineCore) throws(Failure) {
        self.core = core
        do {
            listener = try UnixListener(name: Self.socketName, in: directory.descriptor)
            watch = try loop.watch(listener.number, .readable) { [unowned self] _ in acceptAll() }
            retry = loop.timer { [unowned self] in _ = watch?.change(.readable) }
        } catch {
            throw Failure.system(
                .storeUnavailable, code: error.code, "the store's socket cannot be made: \(error.reason)")
        }
    }

    func close() {
        watch?.cancel()
        watch = nil
        for peer in peers.values { peer.close() }
        peers = [:]
        listener.remove()
    }

    func acceptAll() {
        while true {
            switch listener.accept() {
            case .stream(let stream): accept(stream)
            case .nobody: return
            case .exhausted:
                // The listener stays ready for as long as they wait: look again later, not all the time.
                watch?.change([])
                retry?.start(milliseconds: Self.retryMilliseconds)
                return
            }
        }
    }

    private func accept(_ stream: UnixStream) {
        guard peers.count < Self.connectionLimit, let peer = stream.peer, peer.isSameUser else { return }
        let id = ConnectionID.next()
        guard let socketPeer = SocketPeer(id: id, stream: stream, peer: peer, server: self, core: core) else { return }
        peers[id] = socketPeer
        core.accept(id, isLocal: false, deliver: { [weak socketPeer] in socketPeer?.send($0) })
    }

    func ended(_ id: ConnectionID) {
        peers[id] = nil
        core.closed(id)
    }
}

/// One client on the socket: frames in, frames out.
final class SocketPeer {
    /// A peer that reads slower than it asks gets no more memory than this.
    private static let outgoingLimit = 16 << 20

    private let id: ConnectionID
    private let stream: UnixStream
    private let peer: PeerCredential
    private unowned let server: SocketServer
    private unowned let core: EngineCore
    private var watch: Watch?
    private var reader = FrameReader()
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var isOver = false

    init?(id: ConnectionID, stream: UnixStream, peer: PeerCredential, server: SocketServer, core: EngineCore) {
        self.id = id
        self.stream = stream
        self.peer = peer
        self.server = server
        self.core = core
        guard let watch = try? core.loop.watch(stream.number, .readable, { [unowned self] in ready($0) }) else {
            return nil
        }
        self.watch = watch
    }

    func send(_ message: EngineMessage) {
        guard !isOver else { return }
        outgoing += Wire.encode(message)
        guard outgoing.count - sent <= Self.outgoingLimit else {
            end()
            return
        }
        flush()
    }

    func close() {
        isOver = true
        watch?.cancel()
        watch = nil
    }

    private func end() {
        guard !isOver else { return }
        close()
        server.ended(id)
    }

    private func ready(_ interest: Interest) {
        if interest.contains(.writable) { flush() }
        if interest.contains(.readable) { receive() }
    }

    private func receive() {
        switch stream.read() {
        case .bytes(let bytes):
            reader.append(bytes)
            do {
                while !isOver, let message = try reader.nextClientMessage() { try received(message) }
            } catch {
                // Whatever the peer speaks, this it understands.
                if error.status == .engineIncompatible { send(.welcome(core.services.welcome)) }
                send(.goodbye(error))
                end()
            }
        case .later: break
        case .closed: end()
        }
    }

    private func received(_ message: ClientMessage) throws(Failure) {
        // A process id in a message is a claim; the kernel's is not.
        if case .hello(let hello) = message, hello.process != peer.processID {
            throw Failure(.invalidArgument, "the hello names another process than the one that is connected")
        }
        core.received(message, from: id)
    }

    private func flush() {
        guard !isOver else { return }
        while sent < outgoing.count {
            switch stream.write(outgoing, from: sent) {
            case .written(let count): sent += count
            case .later:
                watch?.change([.readable, .writable])
                return
            case .closed:
                end()
                return
            }
        }
        outgoing = []
        sent = 0
        watch?.change(.readable)
    }
}
