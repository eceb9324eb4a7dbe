internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Connections of clients, from their hello to their end.
extension EngineCore {
    func accept(
        _ id: ConnectionID, isLocal: Bool, isBehind: @escaping () -> Bool = { false },
        deliver: @escaping (EngineMessage) -> Void
    ) {
        if let failure {
            deliver(.goodbye(failure))
            return
        }
        clients.add(ClientConnection(id: id, isLocal: isLocal, isBehind: isBehind, deliver: deliver))
    }

    /// The client has closed, or its process has ended: its sessions have no consumer by it any more.
    func closed(_ id: ConnectionID) {
        guard let connection = clients.remove(id) else { return }
        idle.mayBeIdle()
        idle.noteWork()
        guard let hello = connection.hello else { return }
        defer { launches.hostLeft(connection) }
        claims.stopWaiting(id)
        progress.stop(of: id)
        // It may have connected again before the end of this connection was seen.
        guard !clients.clients.contains(hello.client) else { return }
        let application = hello.application
        runtime.storeUntilDone({ (transaction) throws(Failure) in
            try transaction.releaseClient(hello.client)
        }, then: { [unowned self] _ in
            claims.released(in: application)
            return []
        })
    }

    func received(_ message: ClientMessage, from id: ConnectionID) {
        idle.noteWork()
        guard let connection = clients[id] else { return }
        guard !connection.isInspecting else { return connection.hold(message) }
        if connection.isTakingBodies, case .command(_, _, .enqueue) = message { return connection.holdEnqueue(message) }
        switch message {
        case .hello(let hello): introduce(connection, hello)
        case .leave(let versions): leave(for: versions, connection)
        case .command(let sequence, let answeredThrough, let command):
            guard connection.hello != nil else { return }
            CommandHandler(core: self, connection: connection, sequence: sequence, answeredThrough: answeredThrough)
                .handle(command)
        case .credit(let handle, let credit): events.granted(connection, handle, credit)
        }
    }

    private static let introductionMilliseconds: Int64 = 100
    private static let introductionLimit = 20

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
        let connected = clients.clients
        let departed = hello.departed.filter { !connected.contains($0) }
        runtime.storeUntilDone({ (transaction) throws(Failure) in
            try transaction.releaseDeparted(departed, of: process)
            return try transaction.waitingEvents(application: application)
        }, then: { [unowned self] waitingEvents in
            if !departed.isEmpty { claims.released(in: application) }
            for waiting in waitingEvents {
                clients[id]?.deliver(.notice(.event(identifier: waiting.identifier, newest: waiting.newestEvent)))
            }
            return []
        })
    }

    /// /proc cannot be read for want of memory or descriptors.
    private func introduceLater(_ connection: ClientConnection, _ hello: Hello) {
        let id = connection.id
        connection.introductions += 1
        guard connection.introductions <= Self.introductionLimit else {
            return connection.deliver(
                .goodbye(
                    Failure(
                        .outOfResources,
                        "the engine has no descriptor left, or no memory, to look at the client's process in /proc; "
                            + "raise its limits (RLIMIT_NOFILE, RLIMIT_AS)")))
        }
        connection.isInspecting = true
        connection.introductionTimer = loop.timer { [unowned self] in
            guard let connection = clients[id] else { return }
            connection.isInspecting = false
            introduce(connection, hello)
            receiveHeld(by: connection)
        }
        connection.introductionTimer?.start(milliseconds: Self.introductionMilliseconds)
    }
}
