internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// One command of one client on its way through the engine, and what all commands do.
final class CommandCall {
    // Call-backs that wait for a result hold the call, and the engine holds them.
    unowned let engine: EngineLoop
    let connection: ClientConnection
    let sequence: UInt64
    let answeredThrough: UInt64

    init(_ engine: EngineLoop, _ connection: ClientConnection, sequence: UInt64, answeredThrough: UInt64) {
        self.engine = engine
        self.connection = connection
        self.sequence = sequence
        self.answeredThrough = answeredThrough
    }

    /// False once the client is gone.
    var isConnected: Bool { engine.clients.registry[connection.id] != nil }

    /// The same in each engine that gets the command. Nil before the client has said who it is.
    var commandID: CommandID? { connection.hello.map { CommandID(client: $0.client, sequence: sequence) } }

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

    /// Replies, unless the client is gone.
    func reply(_ result: Result<Reply, Failure>) {
        engine.clients.registry.reply(connection.id, sequence, result)
    }

    /// Replies with what `body` reads. `reply`: makes the reply of it on the loop.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value, reply: @escaping (Value) -> Reply
    ) {
        engine.runtime.store(body, then: { [self] result in
            self.reply(result.map(reply))
            return []
        })
    }

    func read(_ body: @escaping @Sendable (Transaction) throws(Failure) -> Reply) {
        read(body, reply: { $0 })
    }

    /// Does what has to be done before the reply, and sends it then.
    typealias Settlement = (@escaping () -> Void) -> Void

    private struct Applied: Sendable {
        var reply: Reply
        var change: Change?
        var isNew: Bool
    }

    /// Applies a command once, however often a client sends it: its reply is kept until the client has it. `always` is
    /// called before each reply, `then` before the first.
    func once(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> (Reply, Change?),
        then: @escaping (Change?) -> Void, always: @escaping (Reply) -> Void = { _ in },
        settle: @escaping Settlement = { reply in reply() }
    ) {
        let (command, answeredThrough) = (commandID, answeredThrough)
        engine.runtime.store({ (transaction) throws(Failure) -> Applied in
            if let command {
                try transaction.commands.forget(command.client, through: answeredThrough)
                if let bytes = try transaction.commands.reply(to: command) {
                    return Applied(reply: try Wire.decodeReply(bytes), change: nil, isNew: false)
                }
            }
            let (reply, change) = try body(transaction)
            if let command { try transaction.commands.remember(command, reply: Wire.encodeReply(reply)) }
            return Applied(reply: reply, change: change, isNew: true)
        }, then: { [self] result in
            if case .success(let applied) = result {
                if applied.isNew { then(applied.change) }
                always(applied.reply)
                // Events that the command brought about are sent before its reply.
                engine.apply(engine.clients.events.announceAll())
            }
            settle { [self] in reply(result.map(\.reply)) }
            return []
        })
    }

    /// Asks the disk about each directory once, unless client and engine are one process. A refusal names the request.
    func inspect(_ requests: [Request], then: @escaping () -> Void) {
        guard !connection.isLocal else { return then() }
        var seen: Set<DirectoryIdentity> = []
        var positions: [Int] = []
        for (index, request) in requests.enumerated() {
            guard let destination = request.destination else { continue }
            if seen.insert(DirectoryIdentity(destination)).inserted { positions.append(index) }
        }
        guard !positions.isEmpty else { return then() }
        connection.isInspecting = true
        let inspected = engine.runtime.returning { [self, positions] (failure: Failure?) in
            guard isConnected else { return [] }
            connection.isInspecting = false
            if var failure {
                failure.index = failure.index.map { UInt64(positions[Int($0)]) }
                connection.reply(sequence, .failed(failure))
            } else {
                then()
            }
            engine.receiver.receiveHeld(by: connection)
            return []
        }
        engine.services.disk.inspect(positions.compactMap { requests[$0].destination }, then: inspected)
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
