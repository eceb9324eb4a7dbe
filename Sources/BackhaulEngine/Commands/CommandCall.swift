internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// A command of a client while the engine handles it, with the functions that all commands use.
final class CommandCall {
    // Unowned, because the engine retains the call-backs that wait for a result, and they retain the call.
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

    /// Whether the client is still connected.
    var isConnected: Bool { engine.clients.registry[connection.id] != nil }

    /// The command's id, which is the same in each engine that gets it. Nil before the client's hello.
    var commandID: CommandID? { connection.hello.map { CommandID(client: $0.client, sequence: sequence) } }

    // MARK: Rights of handles

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

    // MARK: Replies

    /// Sends the reply, if the client is still connected.
    func reply(_ result: Result<Reply, Failure>) {
        engine.clients.registry.reply(connection.id, sequence, result)
    }

    /// Replies with the value that `body` reads. `reply` makes the reply from the value, on the loop.
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

    /// Finishes work that comes before the reply, and then calls the closure, which sends the reply.
    typealias Settlement = (@escaping () -> Void) -> Void

    private struct Applied: Sendable {
        var reply: Reply
        var change: Change?
        var isNew: Bool
    }

    /// Applies a command once, even if a client sends it several times. Its reply is stored until the client has it.
    /// `always` is called before each reply, `then` before the first.
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
                // Events that the command caused are sent before its reply.
                engine.apply(engine.clients.events.announceAll())
            }
            settle { [self] in reply(result.map(\.reply)) }
            return []
        })
    }

    /// Checks each directory of the destinations once, on a disk thread. Skipped when the client is in the engine's
    /// process. A failure has the index of its request.
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

/// A directory as the host identified it.
private struct DirectoryIdentity: Hashable {
    private let device: UInt64
    private let inode: UInt64

    init(_ destination: Destination) {
        device = destination.directoryDevice
        inode = destination.directoryInode
    }
}
