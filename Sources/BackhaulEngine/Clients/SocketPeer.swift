internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulWire

/// One client on the socket: frames in, frames out. What it is given is bounded: no further command of its is read
/// while many are under way or while it does not read its replies, and what can wait is not sent to a peer that is
/// behind.
final class SocketPeer {
    /// Unread bytes from which on a peer is behind.
    private static let behindSize = 256 << 10
    /// Nothing that keeps to the rules comes near.
    private static let outgoingLimit = 32 << 20

    private let id: ConnectionID
    private let stream: UnixStream
    let peer: PeerCredential
    private unowned let server: SocketServer
    private var watch: Watch?
    private var reader = FrameReader()
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var budget = CommandBudget()
    private var isPaused = false
    private var isOver = false
    /// Something may have been kept from it. Its bytes leave in several writes, so that none of them sees both the
    /// beginning and the end of being behind.
    private var hasBeenBehind = false
    /// Told when the peer has caught up: only the newest of each counts.
    private var heldEvents: [ExactText: EventID] = [:]
    private var heldYields: Set<ExactText> = []
    /// Since when it owes a hello or the rest of a frame.
    private(set) var owesSince: Int64?

    init?(id: ConnectionID, stream: UnixStream, peer: PeerCredential, server: SocketServer) {
        self.id = id
        self.stream = stream
        self.peer = peer
        self.server = server
        owesSince = server.loop.now
        guard let watch = try? server.loop.watch(stream.number, .readable, { [unowned self] in ready($0) }) else {
            return nil
        }
        self.watch = watch
    }

    /// Bytes of frames that are not whole yet.
    var heldBytes: Int { reader.heldBytes }
    var isIntroduced: Bool { server.clients.registry[id]?.hello != nil }
    var isBehind: Bool { outgoing.count - sent > Self.behindSize }

    // MARK: Sending

    func send(_ message: EngineMessage) {
        guard !isOver else { return }
        switch message {
        case .notice(.event(let identifier, let newest)) where isBehind:
            let name = ExactText(identifier)
            heldEvents[name] = max(heldEvents[name] ?? .zero, newest)
            return
        case .notice(.yield(let identifier)) where isBehind:
            heldYields.insert(ExactText(identifier))
            return
        case .reply(let sequence, _): budget.answered(sequence)
        default: break
        }
        outgoing += Wire.encode(message)
        guard outgoing.count - sent <= Self.outgoingLimit else { return end() }
        flush()
        resumeIfPossible()
    }

    private func flush() {
        guard !isOver else { return }
        if isBehind { hasBeenBehind = true }
        write()
        guard hasBeenBehind, !isBehind, !isOver else { return }
        hasBeenBehind = false
        server.loop.afterThisTurn { [weak self] in self?.catchUp() }
    }

    private func write() {
        while sent < outgoing.count {
            switch stream.write(outgoing, from: sent) {
            case .written(let count): sent += count
            case .later:
                if sent > Self.behindSize {
                    outgoing.removeFirst(sent)
                    sent = 0
                }
                listen()
                return
            case .closed: return end()
            }
        }
        outgoing = []
        sent = 0
        listen()
    }

    private func catchUp() {
        let (events, yields) = (heldEvents, heldYields)
        heldEvents = [:]
        heldYields = []
        for (name, newest) in events { send(.notice(.event(identifier: name.text, newest: newest))) }
        for name in yields { send(.notice(.yield(identifier: name.text))) }
        if !isOver { server.clients.events.caughtUp(id) }
    }

    // MARK: Receiving

    private var mayReceive: Bool { !budget.isSpent && !isBehind }

    private func ready(_ interest: Interest) {
        if interest.contains(.writable) {
            flush()
            resumeIfPossible()
        }
        if interest.contains(.readable), !isPaused { receive() }
    }

    private func receive() {
        switch stream.read() {
        case .bytes(let bytes):
            reader.append(bytes)
            take()
        case .later: break
        case .closed: end()
        }
    }

    /// Performs the commands that are here, as far as the budget goes.
    private func take() {
        do {
            while !isOver, mayReceive {
                let before = reader.heldBytes
                guard let message = try reader.nextClientMessage() else { break }
                owesSince = nil
                if case .command(let sequence, _, let command) = message {
                    budget.take(sequence, command, size: before - reader.heldBytes)
                }
                try received(message)
            }
        } catch {
            // Whatever the peer speaks, this it understands.
            if error.status == .engineIncompatible { send(.welcome(server.services.welcome)) }
            send(.goodbye(error))
            return end()
        }
        isPaused = !isOver && !mayReceive
        if !isPaused, reader.heldBytes > 0, owesSince == nil { owesSince = server.loop.now }
        if owesSince != nil { server.isOwed() }
        listen()
    }

    private func resumeIfPossible() {
        guard isPaused, mayReceive else { return }
        isPaused = false
        // Not from within the command that is being answered.
        server.loop.afterThisTurn { [weak self] in self?.take() }
    }

    private func received(_ message: ClientMessage) throws(Failure) {
        if case .hello(let hello) = message {
            // A process id in a message is a claim; the kernel's is not.
            guard hello.process == peer.processID else {
                throw Failure(.invalidArgument, "the hello names another process than the one that is connected")
            }
            try SessionCheck.checkApplication(hello.application)
        } else if case .command = message, !isIntroduced {
            throw Failure(.invalidArgument, "a connection begins with a hello")
        }
        server.receiver.received(message, from: id)
    }

    private func listen() {
        var interest: Interest = isPaused ? [] : .readable
        if sent < outgoing.count { interest.insert(.writable) }
        watch?.change(interest)
    }

    // MARK: Ending

    func close() {
        isOver = true
        watch?.cancel()
        watch = nil
    }

    func end() {
        guard !isOver else { return }
        close()
        server.ended(id)
    }
}
