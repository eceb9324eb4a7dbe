internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulWire

/// A *peer*: a client that is connected over the engine's socket. This object reads and writes the client's frames. A
/// *frame* is a message that begins with its length.
///
/// The memory for a peer is bounded. While many commands of the peer are under way, no further command is read. The
/// same applies while the peer does not read its replies. If a peer has too many unread bytes, it is *backpressured*:
/// notices that can wait are not sent to it.
final class SocketPeer {
    /// A peer with more unread bytes than this is backpressured.
    private static let highWaterMark = 256 << 10
    /// Fewer unwritten bytes than this are written at the end of the present step of the loop. So the replies to the
    /// commands of one transaction need one write, and wake the client one time.
    private static let immediateWriteSize = 64 << 10
    /// A peer with more unread bytes than this loses its connection. A correct client stays far below this limit.
    private static let outgoingLimit = 32 << 20

    private let id: ConnectionID
    private let stream: UnixStream
    let peer: PeerCredential
    private unowned let server: SocketServer
    private var watch: Watch?
    private var reader = FrameReader()
    private var outgoing = OutgoingBytes()
    private var isFlushScheduled = false
    private var budget = CommandBudget()
    private var isPaused = false
    private var isOver = false
    /// Whether the peer has been backpressured since the last `sendDeferredNotices`. If so, notices may have been
    /// deferred. One write may send only a part of the bytes, so the value stays true over several writes.
    private var wasBackpressured = false
    /// The notices that are sent as soon as the peer is no longer backpressured. For each session, only the newest
    /// event is kept.
    private var deferredEvents: [ByteString: EventID] = [:]
    private var deferredYields: Set<ByteString> = []
    /// When this object began to wait for bytes of the peer: for its first message (the hello), or for the rest of a
    /// frame. Nil if no bytes are missing.
    private(set) var inputPendingSince: Int64?

    init?(id: ConnectionID, stream: UnixStream, peer: PeerCredential, server: SocketServer) {
        self.id = id
        self.stream = stream
        self.peer = peer
        self.server = server
        inputPendingSince = server.loop.now
        guard let watch = try? server.loop.watch(stream.number, .readable, { [unowned self] in ready($0) }) else {
            return nil
        }
        self.watch = watch
    }

    /// Leaves the time from `start` to `end` out of the wait for bytes, because the peer could send nothing then.
    func leaveOut(from start: Int64, to end: Int64) {
        if let since = inputPendingSince { inputPendingSince = since + max(0, end - max(start, since)) }
    }

    /// The number of received bytes that are not read as frames yet.
    var bufferedBytes: Int { reader.bufferedBytes }
    var isIntroduced: Bool { server.clients.registry[id]?.hello != nil }
    var isBackpressured: Bool { outgoing.count > Self.highWaterMark }

    // MARK: Sending

    func send(_ message: EngineMessage) {
        guard !isOver else { return }
        switch message {
        case .notice(.event(let identifier, let newest)) where isBackpressured:
            let name = ByteString(identifier)
            deferredEvents[name] = max(deferredEvents[name] ?? .zero, newest)
            return
        case .notice(.yield(let identifier)) where isBackpressured:
            deferredYields.insert(ByteString(identifier))
            return
        case .reply(let sequence, _): budget.release(sequence)
        default: break
        }
        outgoing.append(Wire.encode(message))
        guard outgoing.count <= Self.outgoingLimit else { return end() }
        if outgoing.count >= Self.immediateWriteSize { flush() } else { scheduleFlush() }
        resumeIfPossible()
    }

    private func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        server.loop.afterThisStep { [weak self] in
            self?.isFlushScheduled = false
            self?.flush()
        }
    }

    private func flush() {
        guard !isOver else { return }
        if isBackpressured { wasBackpressured = true }
        write()
        guard wasBackpressured, !isBackpressured, !isOver else { return }
        wasBackpressured = false
        server.loop.afterThisIteration { [weak self] in self?.sendDeferredNotices() }
    }

    private func write() {
        guard outgoing.write(to: stream) else { return end() }
        listen()
    }

    private func sendDeferredNotices() {
        let (events, yields) = (deferredEvents, deferredYields)
        deferredEvents = [:]
        deferredYields = []
        for (name, newest) in events { send(.notice(.event(identifier: name.text, newest: newest))) }
        for name in yields { send(.notice(.yield(identifier: name.text))) }
        if !isOver { server.clients.events.drainedOutput(id) }
    }

    // MARK: Receiving

    private var mayReceive: Bool { !budget.isSpent && !isBackpressured }

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
        case .wouldBlock: break
        case .closed: end()
        }
    }

    /// Handles the received messages, as far as the limits on unfinished commands and unread replies permit.
    private func take() {
        do {
            while !isOver, mayReceive {
                let before = reader.bufferedBytes
                guard let message = try reader.nextClientMessage() else { break }
                inputPendingSince = nil
                if case .command(let sequence, _, let command) = message {
                    budget.take(sequence, command, size: before - reader.bufferedBytes)
                }
                try received(message)
            }
        } catch {
            // Clients of all versions understand the welcome, which is the engine's first message.
            if error.status == .engineIncompatible { send(.welcome(server.services.welcome)) }
            send(.goodbye(error))
            return end()
        }
        isPaused = !isOver && !mayReceive
        if isPaused {
            // The peer may have sent the rest of a frame, which is not read now.
            inputPendingSince = nil
        } else if reader.bufferedBytes > 0, inputPendingSince == nil {
            inputPendingSince = server.loop.now
        }
        if reader.bufferedBytes > 0 { server.startInputTimer() }
        listen()
    }

    private func resumeIfPossible() {
        guard isPaused, mayReceive else { return }
        isPaused = false
        // `send` calls this function while the code that sends a reply is still at work. So the next messages are taken
        // only after this iteration of the loop.
        server.loop.afterThisIteration { [weak self] in self?.take() }
    }

    private func received(_ message: ClientMessage) throws(Failure) {
        if case .hello(var hello) = message {
            // The process id that the kernel reports is trusted; the process id in a message is not trusted. In a
            // nested PID namespace, the process has another id. The kernel reports 0 if this namespace has no id for
            // it.
            guard peer.processID != 0 else { throw Self.invisible }
            hello.process = peer.processID
            try SessionCheck.checkApplication(hello.application)
            return server.receiver.received(.hello(hello), from: id)
        } else if case .command = message, !isIntroduced {
            throw Failure(.invalidArgument, "a connection begins with a hello")
        }
        server.receiver.received(message, from: id)
    }

    /// The engine could not find out whether such a client is alive, and so could not release its sessions.
    private static let invisible = Failure(
        .storeUnavailable,
        "the engine of this store runs in another container or sandbox, and cannot see this process "
            + "(pid_namespaces(7)); share the PID namespace, or use a store of your own")

    private func listen() {
        var interest: Interest = isPaused ? [] : .readable
        if !outgoing.isEmpty { interest.insert(.writable) }
        watch?.change(interest)
    }

    // MARK: Ending

    /// Writes as much as the socket takes, because the last message may have the reason of the end. Then ends the
    /// connection.
    func close() {
        guard !isOver else { return }
        isOver = true
        write()
        watch?.cancel()
        watch = nil
    }

    func end() {
        guard !isOver else { return }
        close()
        server.ended(id)
    }
}
