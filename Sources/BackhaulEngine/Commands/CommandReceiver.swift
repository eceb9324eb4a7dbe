internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Receives the messages of clients, from the first message (hello) to the end of the connection, and starts the
/// handling of commands.
final class CommandReceiver {
    private static let introductionMilliseconds: Int64 = 100
    private static let introductionLimit = 20

    private unowned let engine: EngineLoop
    private var server: SocketServer?
    private var metricsServer: MetricsServer?
    /// For each connection whose process could not be read from /proc: the number of failed attempts, and the timer of
    /// the next attempt.
    private var introductions: [ConnectionID: (attempts: Int, timer: any RuntimeTimer)] = [:]

    init(_ engine: EngineLoop) { self.engine = engine }

    // MARK: The socket

    /// Makes the socket for clients of other processes, and the socket of the metrics. These clients wait until
    /// `begin`.
    func listen() throws(Failure) {
        server = try SocketServer(engine.loop, engine.services, self, engine.clients)
        guard let address = engine.services.options.metricsAddress else { return }
        metricsServer = try MetricsServer(address, engine.loop) { [unowned engine = engine] then in
            MetricsReader(engine: engine).read(then: then)
        }
    }

    func begin() {
        server?.begin()
        metricsServer?.begin()
    }

    func close() {
        server?.close()
        server = nil
        metricsServer?.close()
        metricsServer = nil
    }

    /// Accepts all clients that wait in the socket's queue.
    func acceptAll() { server?.acceptAll() }

    /// Makes the socket's file again after a delay, if it was removed or replaced.
    func scheduleListenerRepair() { server?.scheduleListenerRepair() }

    // MARK: Connections

    func accept(
        _ id: ConnectionID, isLocal: Bool, isBackpressured: @escaping () -> Bool = { false },
        deliver: @escaping (EngineMessage) -> Void
    ) {
        if let failure = engine.lifecycle.failure { return deliver(.goodbye(failure)) }
        engine.clients.registry.add(
            ClientConnection(id: id, isLocal: isLocal, isBackpressured: isBackpressured, deliver: deliver))
    }

    /// A peer's connection ended. A part may be sending a message to this peer, so the end is handled later.
    func disconnected(_ id: ConnectionID) { engine.queue([.disconnected(id)]) }

    /// Handles the end of a connection: the client closed the connection, or the client's process ended. Releases the
    /// sessions that the client consumed.
    func closed(_ id: ConnectionID) {
        let clients = engine.clients
        introductions[id] = nil
        guard let connection = clients.registry.remove(id) else { return }
        engine.queue([.mayBeIdle, .workDone])
        guard let hello = connection.hello else { return }
        defer { engine.hosts.launches.hostDisconnected(connection) }
        clients.claims.stopWaiting(id)
        clients.progress.stop(of: id)
        // If the client connected again before the engine noticed the end of this connection, the client keeps its
        // sessions.
        clients.claims.release([hello.client], of: hello.application)
    }

    /// Takes a message from a socket, in a call-back of the socket.
    func received(_ message: ClientMessage, from id: ConnectionID) {
        engine.run { [self] _ in handle(message, from: id) }
    }

    /// Handles a client's message, in a call-back of the runtime.
    func handle(_ message: ClientMessage, from id: ConnectionID) {
        engine.queue([.workDone])
        guard let connection = engine.clients.registry[id] else { return }
        guard !connection.isInspecting else {
            // A connection has one hello, and the first one was checked or is being checked.
            if case .hello = message { return }
            return connection.queue(message)
        }
        if connection.isIngestingBodies, case .command(_, _, .enqueue) = message {
            return connection.queueEnqueue(message)
        }
        switch message {
        case .hello(let hello): introduce(connection, hello)
        case .requestExit(let versions): engine.handOver(to: versions, connection)
        case .command(let sequence, let repliedThrough, let command):
            guard connection.hello != nil else { return }
            let call = CommandCall(engine, connection, sequence: sequence, repliedThrough: repliedThrough)
            do throws(Failure) {
                try CommandHandler(call: call).handle(command)
            } catch {
                call.refuse(error)
            }
        case .credit(let handle, let credit): engine.clients.events.granted(connection, handle, credit)
        }
    }

    /// Handles the client's queued messages, after the check of an earlier message has ended.
    func receiveQueued(by connection: ClientConnection) {
        while !connection.isInspecting, let message = connection.nextQueuedMessage() {
            handle(message, from: connection.id)
        }
    }

    /// Handles the client's queued enqueues (commands that store requests as tasks). The caller has finished the
    /// earlier enqueue: its body files are in the store, or the enqueue was refused.
    func bodiesIngested(by connection: ClientConnection) {
        connection.isIngestingBodies = false
        while !connection.isIngestingBodies, let message = connection.nextQueuedEnqueue() {
            handle(message, from: connection.id)
        }
    }

    // MARK: Hello

    private func introduce(_ connection: ClientConnection, _ hello: Hello) {
        guard connection.hello == nil else { return }
        guard let process = ProcessIdentity.of(processID: hello.process) else {
            if ProcessIdentity.exists(hello.process) { retryIntroduction(connection, hello) }
            return
        }
        connection.introduce(hello, process: process)
        connection.deliver(.welcome(engine.services.welcome))
        engine.hosts.launches.hostConnected(connection)
        // Notifies the client about events and challenges that were in the store before the client connected.
        let clients = engine.clients
        let id = connection.id
        let application = hello.application
        let connected = clients.registry.clients
        let closedClients = hello.closedClients.filter { !connected.contains($0) }
        engine.runtime.storeWithRetry(
            { (transaction) throws(Failure) in
                try transaction.clients.releaseClosed(closedClients, of: process)
                return try transaction.sessions.needingAttention(application: application)
            },
            then: { sessions in
                if !closedClients.isEmpty { clients.claims.released(in: application) }
                for session in sessions {
                    clients.registry[id]?.deliver(
                        .notice(.event(identifier: session.identifier, newest: session.newestEvent)))
                }
                return []
            })
    }

    /// Handles the hello again after a delay, because /proc could not be read: the engine has too little memory or too
    /// few descriptors.
    private func retryIntroduction(_ connection: ClientConnection, _ hello: Hello) {
        let id = connection.id
        let attempts = (introductions[id]?.attempts ?? 0) + 1
        guard attempts <= Self.introductionLimit else {
            return connection.deliver(
                .goodbye(
                    Failure(
                        .outOfResources,
                        "the engine has no descriptor left, or no memory, to read the client's process in /proc; "
                            + "raise its limits (RLIMIT_NOFILE, RLIMIT_AS)")))
        }
        connection.isInspecting = true
        let timer = engine.runtime.timer { [unowned self] in
            guard let connection = engine.clients.registry[id] else { return [] }
            connection.isInspecting = false
            introduce(connection, hello)
            receiveQueued(by: connection)
            return []
        }
        introductions[id] = (attempts, timer)
        timer.start(milliseconds: Self.introductionMilliseconds)
    }
}
