internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// One command of one client on its way through the engine, and what all commands do. A value: a later step finds the
/// connection by its id.
struct CommandCall {
    let engine: EngineLoop
    let connection: ClientConnection
    let sequence: UInt64
    let answeredThrough: UInt64

    // MARK: Who may

    func attached(_ handle: HandleID) throws(Failure) -> ClientConnection.AttachedHandle {
        guard let attached = connection.handles[handle] else {
            throw Failure(.invalidHandle, "the session is not attached; attach it first")
        }
        return attached
    }

    func changing(_ handle: HandleID) throws(Failure) -> SessionID {
        let attached = try attached(handle)
        guard attached.role.mayChange else {
            throw Failure(.wrongRole, "an observer changes nothing; attach as producer or consumer")
        }
        return attached.session
    }

    func consuming(_ handle: HandleID) throws(Failure) -> SessionID {
        let attached = try attached(handle)
        guard attached.role == .consume else {
            throw Failure(.wrongRole, "only the consumer receives events; attach as consumer")
        }
        return attached.session
    }

    // MARK: How

    func read(_ body: @escaping @Sendable (Transaction) throws(Failure) -> Reply) {
        let (id, sequence) = (connection.id, sequence)
        engine.store(body, then: { engine, result in engine.clients.registry.reply(id, sequence, result) })
    }

    /// Does what has to be done before the answer, and gives it then.
    typealias Settlement = @Sendable (EngineLoop, @escaping @Sendable (EngineLoop) -> Void) -> Void

    struct Applied: Sendable {
        var reply: Reply
        var change: Change?
        var isNew: Bool
    }

    /// Applies a command once, however often a client sends it: its reply is kept until the client has it. `always` is
    /// called before each answer, `then` before the first.
    func once(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> (Reply, Change?),
        then: @escaping @Sendable (EngineLoop, Change?) -> Void,
        always: @escaping @Sendable (EngineLoop, Reply) -> Void = { _, _ in },
        settle: Settlement? = nil
    ) {
        let (id, sequence, answeredThrough) = (connection.id, sequence, answeredThrough)
        let command = connection.hello.map { CommandID(client: $0.client, sequence: sequence) }
        engine.store({ (transaction) throws(Failure) -> Applied in
            if let command {
                try transaction.commands.forget(command.client, through: answeredThrough)
                if let bytes = try transaction.commands.reply(to: command) {
                    return Applied(reply: try Wire.decodeReply(bytes), change: nil, isNew: false)
                }
            }
            let (reply, change) = try body(transaction)
            if let command { try transaction.commands.remember(command, reply: Wire.encodeReply(reply)) }
            return Applied(reply: reply, change: change, isNew: true)
        }, then: { engine, result in
            switch result {
            case .success(let applied):
                if applied.isNew { then(engine, applied.change) }
                always(engine, applied.reply)
                // Whoever has the reply knows of the events that it brought about.
                engine.apply(engine.clients.events.announceAll())
                guard let settle else { return engine.clients.registry.reply(id, sequence, .success(applied.reply)) }
                settle(engine) { engine in engine.clients.registry.reply(id, sequence, .success(applied.reply)) }
            case .failure(let failure):
                guard let settle else { return engine.clients.registry.reply(id, sequence, .failure(failure)) }
                settle(engine) { engine in engine.clients.registry.reply(id, sequence, .failure(failure)) }
            }
        })
    }

    /// Asks the disk about each directory once, unless client and engine are one process. A refusal names the request.
    func inspect(_ requests: [Request], then: @escaping @Sendable (CommandCall) -> Void) {
        guard !connection.isLocal else { return then(self) }
        var seen: Set<DirectoryIdentity> = []
        var positions: [Int] = []
        for (index, request) in requests.enumerated() {
            guard let destination = request.destination else { continue }
            if seen.insert(DirectoryIdentity(destination)).inserted { positions.append(index) }
        }
        guard !positions.isEmpty else { return then(self) }
        connection.isInspecting = true
        let (id, sequence, answeredThrough) = (connection.id, sequence, answeredThrough)
        let (outbox, first) = (engine.services.outbox, positions)
        engine.services.disk.inspect(positions.compactMap { requests[$0].destination }) { failure in
            outbox.post { engine in
                guard let connection = engine.clients.registry[id] else { return }
                connection.isInspecting = false
                if var failure {
                    failure.index = failure.index.map { UInt64(first[Int($0)]) }
                    connection.reply(sequence, .failed(failure))
                } else {
                    then(
                        CommandCall(
                            engine: engine, connection: connection, sequence: sequence,
                            answeredThrough: answeredThrough))
                }
                engine.receiver.receiveHeld(by: connection)
            }
        }
    }
}

/// A directory as the host saw it.
private struct DirectoryIdentity: Hashable {
    private let device: UInt64
    private let inode: UInt64

    init(_ destination: Destination) {
        device = destination.directoryDevice
        inode = destination.directoryInode
    }
}
