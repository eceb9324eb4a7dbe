internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// A client as the engine sees it: who it is, which sessions it has attached, and how to reach it.
final class ClientConnection {
    let id: ConnectionID
    let deliver: (EngineMessage) -> Void
    private(set) var hello: Hello?
    private(set) var process: ProcessIdentity?
    /// In this process, so that it sees every directory as the engine does.
    let isLocal: Bool
    /// It reads slower than it is sent to: what can wait is not sent.
    let isBehind: () -> Bool
    private(set) var handles: [HandleID: AttachedHandle] = [:]
    /// The disk is asked about the destinations of an enqueue, or /proc about the client's process. What came after it
    /// waits, so that a client's commands keep their order.
    var isInspecting = false
    var introductionTimer: LoopTimer?
    private var held: [ClientMessage] = []
    /// The disk takes the files of an enqueue over, which may last: the next enqueue waits, but nothing else does.
    var isTakingBodies = false
    private var heldEnqueues: [ClientMessage] = []

    struct AttachedHandle: Sendable {
        var session: SessionID
        var identifier: String
        var role: Role
        var window: PushWindow
        var isReadingAhead = false
    }

    /// Creates and attaches that wait when the session is not free, and were not given up since.
    private var opening: Set<HandleID> = []

    init(
        id: ConnectionID, isLocal: Bool, isBehind: @escaping () -> Bool, deliver: @escaping (EngineMessage) -> Void
    ) {
        self.id = id
        self.isLocal = isLocal
        self.isBehind = isBehind
        self.deliver = deliver
    }

    var application: String? { hello?.application }

    func introduce(_ hello: Hello, process: ProcessIdentity) {
        self.hello = hello
        self.process = process
    }

    func hold(_ message: ClientMessage) { held.append(message) }

    func takeHeld() -> ClientMessage? { held.isEmpty ? nil : held.removeFirst() }

    func holdEnqueue(_ message: ClientMessage) { heldEnqueues.append(message) }

    func takeHeldEnqueue() -> ClientMessage? { heldEnqueues.isEmpty ? nil : heldEnqueues.removeFirst() }

    func attach(_ handle: HandleID, _ attached: AttachedHandle) { handles[handle] = attached }

    func consumes(_ identifier: String) -> Bool {
        handles.values.contains { $0.role == .consume && $0.identifier.utf8.elementsEqual(identifier.utf8) }
    }

    func startOpening(_ handle: HandleID) { opening.insert(handle) }

    /// False when it was stopped before.
    @discardableResult
    func stopOpening(_ handle: HandleID) -> Bool { opening.remove(handle) != nil }

    func update(_ handle: HandleID, _ window: PushWindow) { handles[handle]?.window = window }

    func setReadingAhead(_ handle: HandleID, _ isReading: Bool) { handles[handle]?.isReadingAhead = isReading }

    func detach(_ handle: HandleID) -> AttachedHandle? { handles.removeValue(forKey: handle) }

    func reply(_ sequence: UInt64, _ reply: Reply) { deliver(.reply(sequence: sequence, reply)) }
}

extension EngineCore {
    func accept(
        _ id: ConnectionID, isLocal: Bool, isBehind: @escaping () -> Bool = { false },
        deliver: @escaping (EngineMessage) -> Void
    ) {
        if let failure {
            deliver(.goodbye(failure))
            return
        }
        connections[id] = ClientConnection(id: id, isLocal: isLocal, isBehind: isBehind, deliver: deliver)
    }

    var connectedClients: Set<ClientID> { Set(connections.values.compactMap { $0.hello?.client }) }

    /// The client has closed, or its process has ended: its sessions have no consumer by it any more.
    func closed(_ id: ConnectionID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        for (session, address) in consumers where address.connection == id { consumers[session] = nil }
        considerLeaving()
        noteWork()
        guard let hello = connection.hello else { return }
        defer { launches.hostLeft(connection) }
        stopWaiting(id)
        stopProgress(of: id)
        // It may have connected again before the end of this connection was seen.
        guard !connections.values.contains(where: { $0.hello?.client == hello.client }) else { return }
        let application = hello.application
        storeUntilDone({ (transaction) throws(Failure) in
            try transaction.releaseClient(hello.client)
        }, then: { core, _ in core.tryWaiting(in: application) })
    }

    func received(_ message: ClientMessage, from id: ConnectionID) {
        noteWork()
        guard let connection = connections[id] else { return }
        guard !connection.isInspecting else { return connection.hold(message) }
        if connection.isTakingBodies, case .command(_, _, .enqueue) = message { return connection.holdEnqueue(message) }
        switch message {
        case .hello(let hello): introduce(connection, hello)
        case .leave(let versions): leave(for: versions, connection)
        case .command(let sequence, let answeredThrough, let command):
            guard connection.hello != nil else { return }
            CommandHandler(core: self, connection: connection, sequence: sequence, answeredThrough: answeredThrough)
                .handle(command)
        case .credit(let handle, let credit): granted(connection, handle, credit)
        }
    }

    private static let introductionMilliseconds: Int64 = 100

    private func introduce(_ connection: ClientConnection, _ hello: Hello) {
        guard connection.hello == nil else { return }
        guard let process = ProcessIdentity.of(processID: hello.process) else {
            if ProcessIdentity.exists(hello.process) { introduceLater(connection, hello) }
            return
        }
        connection.introduce(hello, process: process)
        connection.deliver(.welcome(services.welcome))
        launches.hostCame(connection)
        // What waited before this client came: it learns of it as if it happened now.
        let id = connection.id
        let application = hello.application
        let connected = connectedClients
        let departed = hello.departed.filter { !connected.contains($0) }
        storeUntilDone({ (transaction) throws(Failure) in
            try transaction.releaseDeparted(departed, of: process)
            return try transaction.waitingEvents(application: application)
        }, then: { core, waitingEvents in
            if !departed.isEmpty { core.tryWaiting(in: application) }
            guard let connection = core.connections[id] else { return }
            for waiting in waitingEvents {
                connection.deliver(.notice(.event(identifier: waiting.identifier, newest: waiting.newestEvent)))
            }
        })
    }

    /// /proc cannot be read for want of memory or descriptors.
    private func introduceLater(_ connection: ClientConnection, _ hello: Hello) {
        let id = connection.id
        connection.isInspecting = true
        connection.introductionTimer = loop.timer { [unowned self] in
            guard let connection = connections[id] else { return }
            connection.isInspecting = false
            introduce(connection, hello)
            receiveHeld(by: connection)
        }
        connection.introductionTimer?.start(milliseconds: Self.introductionMilliseconds)
    }
}
