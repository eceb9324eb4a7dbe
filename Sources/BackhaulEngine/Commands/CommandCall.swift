internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// A client's command that the engine is handling. This class has the functions that all commands use.
final class CommandCall {
    // The reference is unowned, to avoid a reference cycle: the engine retains closures that wait for a result, and
    // these closures retain the call.
    unowned let engine: EngineLoop
    let connection: ClientConnection
    let sequence: UInt64
    let repliedThrough: UInt64

    init(_ engine: EngineLoop, _ connection: ClientConnection, sequence: UInt64, repliedThrough: UInt64) {
        self.engine = engine
        self.connection = connection
        self.sequence = sequence
        self.repliedThrough = repliedThrough
    }

    /// Whether the client is still connected.
    var isConnected: Bool { engine.clients.registry[connection.id] != nil }

    /// The command's id. Each engine that gets the command computes the same id. Nil before the client's first message
    /// (hello).
    var commandID: CommandID? { connection.hello.map { CommandID(client: $0.client, sequence: sequence) } }

    // MARK: Rights of handles

    func attached(_ handle: HandleID) throws(Failure) -> ClientConnection.AttachedHandle {
        guard let attached = connection.handles[handle] else {
            if connection.ended[handle] != nil { throw .sessionRemoved }
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

    /// Returns the session that the handle consumes. `orRemoved`: also returns a session that was removed.
    func consuming(_ handle: HandleID, orRemoved: Bool = false) throws(Failure) -> SessionID {
        let ended = orRemoved ? connection.ended[handle] : nil
        let attached = if let ended { ended } else { try attached(handle) }
        guard attached.role == .consume else {
            throw Failure(.wrongRole, "only the consumer receives events; attach as consumer")
        }
        return attached.session
    }

    // MARK: Replies

    /// Replies with the failure. But if this engine could not attach the command's handle again, an earlier engine may
    /// have performed the command, and its reply is repeated.
    func refuse(_ failure: Failure) {
        guard failure.status == .invalidHandle, let commandID else { return reply(.failure(failure)) }
        read { (transaction) throws(Failure) in
            try Self.storedReply(to: commandID, in: transaction) ?? .failed(failure)
        }
    }

    /// Sends the reply, if the client is still connected.
    func reply(_ result: Result<Reply, Failure>) {
        if isConnected { connection.reply(sequence, result) }
    }

    /// Replies with the value that `body` reads. `reply` makes the reply from the value, on the thread of the event
    /// loop. If the client has disconnected before `body` runs, nothing is read.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Value, reply: @escaping (Value) -> Reply
    ) {
        let hasEnded = connection.hasEnded
        engine.runtime.store(
            { (transaction) throws(Failure) -> Value in
                guard !hasEnded.withLock({ $0 }) else { throw Failure(.cancelled, "the client has disconnected") }
                return try body(transaction)
            },
            then: { [self] result in
                self.reply(result.map(reply))
                return []
            })
    }

    func read(_ body: @escaping @Sendable (Transaction) throws(Failure) -> Reply) {
        read(body, reply: { $0 })
    }

    /// A function that finishes other work, and then calls its argument, which sends the reply.
    typealias ReplyBarrier = (@escaping () -> Void) -> Void

    private struct Applied: Sendable {
        var reply: Reply
        var change: Change?
        var isNew: Bool
    }

    /// Returns the reply to the command if it was applied, and nil otherwise.
    private static func storedReply(to command: CommandID, in transaction: Transaction) throws(Failure) -> Reply? {
        guard let bytes = try transaction.commands.reply(to: command) else { return nil }
        return try Wire.decodeReply(bytes)
    }

    /// Applies a command only one time, even if the client sends it several times. The reply is stored until the client
    /// has received it. `then` is called only if the command was not applied before. `always` is called before each
    /// reply that is not a failure. `mayBeDelayed`: whether the store may delay the command for a few milliseconds.
    func applyOnce(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> (Reply, Change?), mayBeDelayed: Bool = false,
        then: @escaping (Change?) -> Void, always: @escaping (Reply) -> Void = { _ in },
        beforeReply: @escaping ReplyBarrier = { reply in reply() }
    ) {
        let (command, repliedThrough) = (commandID, repliedThrough)
        engine.runtime.store(
            { (transaction) throws(Failure) -> Applied in
                if let command {
                    try transaction.commands.forget(command.client, through: repliedThrough)
                    if let reply = try Self.storedReply(to: command, in: transaction) {
                        return Applied(reply: reply, change: nil, isNew: false)
                    }
                }
                let (reply, change) = try body(transaction)
                if let command { try transaction.commands.remember(command, reply: Wire.encodeReply(reply)) }
                return Applied(reply: reply, change: change, isNew: true)
            }, mayBeDelayed: mayBeDelayed,
            then: { [self] result in
                if case .success(let applied) = result {
                    if applied.isNew { then(applied.change) }
                    always(applied.reply)
                    // Events that the command caused are sent before its reply.
                    engine.queue(engine.clients.events.flushAnnouncements())
                }
                beforeReply { [self] in reply(result.map(\.reply)) }
                return []
            })
    }

    /// Returns the positions of requests whose downloads are to be placed in directories that must be inspected, one
    /// position for each directory. A directory is not inspected if it was found usable within the last second, or if
    /// the client found no directory.
    func uninspected(_ requests: [Request]) -> [Int] {
        var seen: Set<InspectedDirectories.Identity> = []
        return requests.indices.filter { index in
            guard let destination = requests[index].destination, !destination.isDirectoryAbsent else { return false }
            let directory = InspectedDirectories.Identity(destination)
            return !connection.inspectedDirectories.contains(directory, at: engine.runtime.now)
                && seen.insert(directory).inserted
        }
    }

    /// Checks the directories of the requests at these positions, on a disk thread. If a directory cannot be used,
    /// replies with the failure and the index of the request. Otherwise, calls `then`.
    func inspect(_ requests: [Request], at positions: [Int], then: @escaping () -> Void) {
        let destinations = positions.compactMap { requests[$0].destination }
        connection.isInspecting = true
        let inspected = engine.runtime.returning {
            [self, positions, destinations] (result: Result<[String?], Failure>) in
            guard isConnected else { return [] }
            connection.isInspecting = false
            switch result {
            case .failure(var failure):
                failure.index = failure.index.map { UInt64(positions[Int($0)]) }
                connection.reply(sequence, .failed(failure))
            case .success(let fileSystems):
                connection.inspectedDirectories.insert(destinations, on: fileSystems, at: engine.runtime.now)
                then()
            }
            engine.receiver.receiveQueued(by: connection)
            return []
        }
        engine.services.disk.inspect(destinations, then: inspected)
    }

    /// The request with the identity of the file system that its destination was on at the last inspection.
    func located(_ request: Request) -> Request {
        guard let destination = request.destination else { return request }
        var request = request
        request.destination?.fileSystem = connection.inspectedDirectories.fileSystem(of: .init(destination))
        return request
    }
}
