internal import BackhaulModel
internal import BackhaulStore

/// The name of a session as its clients use it: the application and the identifier.
struct NamedSession: Hashable, Sendable {
    var application: String
    var identifier: String

    init(application: String, identifier: String) {
        self.application = application
        self.identifier = identifier
    }

    init(_ change: Change) { self.init(application: change.application, identifier: change.identifier) }

    // Compares bytes, as the store does. Swift's `==` may return true for texts with different bytes (Unicode canonical
    // equivalence).
    static func == (left: NamedSession, right: NamedSession) -> Bool {
        left.application.utf8.elementsEqual(right.application.utf8)
            && left.identifier.utf8.elementsEqual(right.identifier.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in identifier.utf8 { hasher.combine(byte) }
        hasher.combine(application.utf8.count)
    }
}

/// Creates a session, or attaches (opens) an existing session, in a transaction.
typealias OpenSession = @Sendable (Transaction, String, ConsumerIdentity) throws(Failure) -> OpenedSession

/// A create or attach command that may have to wait until no other handle reads the events of the session.
struct SessionOpening {
    let address: HandleAddress
    let sequence: UInt64
    let name: NamedSession
    let role: Role
    let open: OpenSession
}

/// The queues of clients that wait for the right to read the events of a session (a claim). Only one handle has this
/// right at a time. This handle is the session's consumer. In each queue, the command that arrived first is the first.
///
/// Each engine has one object of this type. The queues are not durable: a client sends its command again to the next
/// engine.
final class SessionClaims {
    /// The delay between two attempts to open a session whose consumer is not connected. The engine is not notified
    /// when such a consumer ends and the session becomes free, so the engine retries.
    private static let retryMilliseconds: Int64 = 1_000
    /// How long clients of an earlier engine may take to connect to this engine. A client searches for the next engine
    /// immediately. If a process is stopped for a longer time, it loses its right to read the events of its sessions.
    private static let reconnectMilliseconds: Int64 = 10_000
    /// The limit on the waiting commands of one client, in all queues together.
    private static let waitingLimit = 4_096

    private let runtime: any Runtime
    private let clients: ClientRegistry
    private var queues: [NamedSession: Queue] = [:]
    private var timer: (any RuntimeTimer)?
    /// The timer that runs while clients of an earlier engine may reconnect.
    private var reconnectTimer: (any RuntimeTimer)?
    /// Whether claims of an earlier engine's clients are not yet released. Until then the daemon does not exit, because
    /// the release may need a launch.
    private(set) var awaitsClients = false

    private struct Queue {
        var waiting: [SessionOpening] = []
        /// `isAttempting`: whether the transaction for the first opening of the queue runs. `isDue`: whether another
        /// attempt follows this transaction.
        var isAttempting = false
        var isDue = false
    }

    init(_ runtime: any Runtime, _ clients: ClientRegistry) {
        self.runtime = runtime
        self.clients = clients
        timer = runtime.timer { [unowned self] in
            released(in: nil)
            return []
        }
    }

    func close() {
        timer?.stop()
        reconnectTimer?.stop()
    }

    func count(of name: NamedSession) -> Int { queues[name]?.waiting.count ?? 0 }

    /// Adds the opening to the queue. The reply to its command is sent when the session is free.
    func wait(_ opening: SessionOpening) {
        let connection = opening.address.connection
        let mine = queues.values.reduce(0) { $0 + $1.waiting.count { $0.address.connection == connection } }
        guard mine < Self.waitingLimit else {
            let failure = Failure(.tooMany, "\(mine) handles of this client wait already; release some of the tickets")
            return reply(opening, .failure(failure))
        }
        queues[opening.name, default: Queue()].waiting.append(opening)
        requestYield(opening.name)
    }

    private func reply(_ opening: SessionOpening, _ result: Result<Reply, Failure>) {
        clients[opening.address.connection]?.reply(opening.sequence, result)
    }

    // MARK: A session may be free

    /// The sessions for which handles wait, in a fixed order.
    private var names: [NamedSession] {
        queues.keys.sorted { ($0.application, $0.identifier) < ($1.application, $1.identifier) }
    }

    /// Sessions of the application may be free; nil: of all applications.
    func released(in application: String?) {
        for name in names where application == nil || name.application == application { released(name) }
    }

    func released(_ name: NamedSession) {
        guard var queue = queues[name] else { return }
        guard !queue.isAttempting, let first = queue.waiting.first,
            let consumer = clients[first.address.connection]?.consumer(first.address.handle)
        else {
            queues[name]?.isDue = true
            return
        }
        queue.isAttempting = true
        queue.isDue = false
        queues[name] = queue
        let open = first.open
        runtime.store(
            { (transaction) throws(Failure) in
                try open(transaction, name.application, consumer)
            }, then: { [unowned self] result in finishedAttempt(first, consumer, result) })
    }

    private func finishedAttempt(
        _ opening: SessionOpening, _ consumer: ConsumerIdentity, _ result: Result<OpenedSession, Failure>
    ) -> [EngineEffect] {
        let name = opening.name
        queues[name]?.isAttempting = false
        let head = queues[name]?.waiting.first
        let isWanted = head?.address == opening.address && head?.sequence == opening.sequence
        switch result {
        case .success(let opened):
            guard isWanted else {
                returnSession(opened, consumer, name)
                return []
            }
            dequeue(name)
            return [.opened(opened, opening, consumer)]
        case .failure(let failure) where failure.status == .inUse:
            requestYield(name)
            // If the opening was cancelled meanwhile, its result does not apply to the opening that is now the first in
            // the queue.
            if queues[name]?.isDue == true || !isWanted { released(name) }
        case .failure(let failure):
            if isWanted {
                dequeue(name)
                reply(opening, .failure(failure))
            }
            released(name)
        }
        return []
    }

    /// Releases a session again: it was opened for a handle, but the client has cancelled the wait meanwhile.
    private func returnSession(_ opened: OpenedSession, _ consumer: ConsumerIdentity, _ name: NamedSession) {
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.clients.releaseHandle(
                    client: consumer.client, handle: consumer.handle, session: opened.id)
            },
            then: { [unowned self] _ in
                released(name)
                return []
            })
    }

    /// Asks the consumer to give up the session, by a yield notice. If the consumer is not connected, the engine
    /// attempts the openings again later.
    func requestYield(_ name: NamedSession) {
        guard queues[name] != nil else { return }
        var isConnected = false
        for connection in clients.all where connection.application == name.application {
            guard connection.consumes(name.identifier) else { continue }
            isConnected = true
            connection.deliver(.notice(.yield(identifier: name.identifier)))
        }
        if !isConnected, timer?.isRunning == false { timer?.start(milliseconds: Self.retryMilliseconds) }
    }

    // MARK: Clients of an earlier engine

    /// Starts the reconnect timer. When the timer fires, the claims of an earlier engine's clients are released if
    /// these clients have not reconnected. The reason: a client may have ended while no engine ran, so it could not
    /// release its claims.
    func startReconnectTimer() {
        awaitsClients = true
        let timer = runtime.timer { [unowned self] in
            releaseDisconnected()
            return []
        }
        reconnectTimer = timer
        timer.start(milliseconds: Self.reconnectMilliseconds)
    }

    private func releaseDisconnected() {
        runtime.storeWithRetry(
            { (transaction) throws(Failure) in try transaction.clients.withClaims() },
            then: { [unowned self] known in
                release(known)
                return []
            })
    }

    /// Releases the claims of those clients that are not connected. If the store fails, retries later, without the
    /// clients that have connected meanwhile. `application`: the application of the clients; nil: several applications.
    func release(_ known: [ClientID], of application: String? = nil) {
        let connected = clients.clients
        let gone = known.filter { !connected.contains($0) }
        guard !gone.isEmpty || application == nil else { return }
        runtime.store(
            { (transaction) throws(Failure) in
                try transaction.clients.releaseClaims(of: gone, connected: connected)
            },
            then: { [unowned self] result in
                switch result {
                case .success:
                    if application == nil { awaitsClients = false }
                    released(in: application)
                    return [.checkLaunches(of: application), .mayBeIdle]
                case .failure(let failure) where failure.endsStore: return []
                case .failure: return [.retryLater { [unowned self] in release(gone, of: application) }]
                }
            })
    }

    // MARK: Cancelled waits

    static let cancelledWait = Failure(.cancelled, "the wait for the session was given up")

    func stopWaiting(_ address: HandleAddress) {
        clients[address.connection]?.stopOpening(address.handle)
        for (name, queue) in queues {
            guard let opening = queue.waiting.first(where: { $0.address == address }) else { continue }
            dequeue(name) { $0.address == address }
            return reply(opening, .failure(Self.cancelledWait))
        }
    }

    func stopWaiting(_ connection: ConnectionID) {
        for name in names { dequeue(name) { $0.address.connection == connection } }
    }

    private func dequeue(_ name: NamedSession) {
        queues[name]?.waiting.removeFirst()
        if queues[name]?.waiting.isEmpty == true { queues[name] = nil }
    }

    private func dequeue(_ name: NamedSession, where isGone: (SessionOpening) -> Bool) {
        queues[name]?.waiting.removeAll(where: isGone)
        if queues[name]?.waiting.isEmpty == true { queues[name] = nil }
    }
}
