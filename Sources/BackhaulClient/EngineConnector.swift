internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// The work of the client's thread. A *client* is one open application in this process. The *engine* runs the tasks of
/// a *store*, which is a directory with all durable data. The thread finds the store's engine, or starts an engine in a
/// daemon or in this process. If the engine is another process, the thread receives the messages, and writes those that
/// the senders have not written to the socket. When the engine has ended, the thread searches for an engine again.
struct EngineConnector: Sendable {
    /// How long an engine that has the store's lock may take to reply. After this time, commands fail, and the failure
    /// has the engine's process id.
    private static let replyTimeoutMilliseconds: Int64 = 5_000
    private static let pauseMilliseconds: Int64 = 20
    /// The pause between two attempts to find the engine while a daemon starts. The start takes about ten milliseconds.
    private static let startingPauseMilliseconds: Int64 = 2

    let path: String
    let hosting: Hosting
    let state: Lock<ClientState>

    func run() {
        var directory: StoreDirectory?
        // The directory of the store that an engine has served. It stays open, so that no other directory gets the same
        // inode number.
        var served: StoreDirectory?
        var starter = DaemonStarter(path: hosting.daemonPath)
        while Self.waitUntilConnecting(state) {
            do throws(Failure) {
                // If the store is not at its path any more, commands fail. A store that is now at this path does not
                // have this client's sessions.
                if let served, !served.isAtPath { throw served.replacementFailure ?? missingFailure(served) }
                // The path may now lead to another directory.
                if directory?.isAtPath != true { directory = try StoreDirectory.open(path: path) }
                guard let directory else { continue }
                defer { if state.withLock(\.hasConnected) { served = served ?? directory } }
                try connect(directory, &starter)
            } catch {
                directory = nil
                let waiting = state.change { $0.failed(error) }
                for completion in waiting { completion(.failed(error)) }
            }
        }
    }

    private func missingFailure(_ store: StoreDirectory) -> Failure {
        Failure(.storeUnavailable, "the store is not found at \(store.path) now; open the application again")
    }

    /// Waits until an engine is needed, or until the pause after a failure is over. Returns false if the client was
    /// closed.
    static func waitUntilConnecting(_ state: Lock<ClientState>) -> Bool {
        while true {
            let retry = state.withLock { $0.retryDeadline }
            let isNeeded = state.wait(until: retry) { state -> Bool? in
                switch state.link {
                case .connecting: true
                case .closed: false
                case .connected, .failed: nil
                }
            }
            if let isNeeded { return isNeeded }
            state.change { $0.searchAgain() }
        }
    }

    /// Finds an engine and uses it until it ends. Throws the reason if no engine can be found or started.
    private func connect(_ directory: StoreDirectory, _ starter: inout DaemonStarter) throws(Failure) {
        var deadline = Deadline.after(milliseconds: Self.replyTimeoutMilliseconds)
        while state.withLock({ !$0.isClosed }) {
            if let lease = try lease(directory) {
                try serveLocal(lease)
                return
            }
            switch try serveSocket(directory, &starter) {
            case .engine: return
            case .older: deadline = .after(milliseconds: Self.replyTimeoutMilliseconds)
            case .noSocket where deadline.hasPassed && isStarting(directory):
                deadline = .after(milliseconds: Self.replyTimeoutMilliseconds)
            case .noSocket, .noReply: break
            }
            if hosting.isDaemon { try starter.supervise(directory) }
            if deadline.hasPassed {
                throw (directory.isLocked ? nil : starter.failure) ?? unresponsiveFailure(directory)
            }
            // If the path leads to another store or to none now, `run` opens the path again.
            guard directory.isAtPath else { return }
            // The process of the engine may be starting or ending. Its lock and its socket do not change at the same
            // moment, so the thread tries both again after a pause.
            let pause = starter.isStarting ? Self.startingPauseMilliseconds : Self.pauseMilliseconds
            _ = state.wait(until: .after(milliseconds: pause)) { $0.isClosed ? true : nil }
        }
    }

    /// Returns a lease of the store's engine in this process. The engine runs as long as at least one client has a
    /// lease of it. Returns nil if another process runs the engine. If no engine runs, the options of the host decide:
    /// for an embedded engine, the call starts an engine and returns its lease; for a daemon, the call returns nil.
    private func lease(_ directory: StoreDirectory) throws(Failure) -> EngineLease? {
        switch hosting {
        case .embedded: try LocalEngines.current.lease(directory)
        case .daemon: try LocalEngines.current.existingLease(directory)
        }
    }

    /// Whether a process that is not stopped has the lock. It has no socket yet, because it opens the database, which a
    /// slow disk delays. Each command has its own time-out.
    private func isStarting(_ directory: StoreDirectory) -> Bool {
        guard directory.isLocked, let holder = directory.lockHolder() else { return false }
        return !ProcessIdentity.isStopped(processID: holder.processID)
    }

    private func unresponsiveFailure(_ directory: StoreDirectory) -> Failure {
        guard let holder = directory.lockHolder() else {
            return Failure(.engineUnresponsive, "a process holds the store's lock and does not reply")
        }
        let isStopped = ProcessIdentity.isStopped(processID: holder.processID)
        return Failure(
            .engineUnresponsive,
            "process \(holder.processID) holds the store and \(isStopped ? "is stopped" : "does not reply"); "
                + "let it continue or end it",
            domain: .process, detail: Int64(holder.processID))
    }

    // MARK: An engine of this process

    /// Uses an engine of this process until the engine ends. If the engine ends with a persistent failure
    /// (`EngineRun.isPersistent`), throws this failure.
    private func serveLocal(_ lease: EngineLease) throws(Failure) {
        let end = Lock(EngineRun())
        let transport = lease.engine.connect(closed: { lease.release() }) { [state] message in
            end.withLock { $0.note(message) }
            EngineConnector.deliver(message, state)
            // `state.change` wakes this client's thread, which waits (below) until the engine has ended.
            if case .goodbye = message { state.change { _ in } }
        }
        let process = ProcessIdentity.current.processID
        transport.send(.hello(state.withLock { $0.hello(process: process) }))
        // If the client was closed meanwhile, the wait ends immediately.
        _ = state.change { $0.connected(transport, engineProcess: process, isLocal: true) }
        _ = state.wait(until: nil) { $0.isClosed || end.withLock { $0.hasEnded } ? true : nil }
        transport.close()
        state.change { $0.disconnected() }
        let final = end.withLock { $0 }
        if let failure = final.failure, final.isPersistent(failure) { throw failure }
    }

    private struct EngineRun: Sendable {
        /// If an engine fails within this time, an engine is started again only after a command of the host or after a
        /// pause (`Outage`).
        static let earlyEndMilliseconds: Int64 = 5_000

        private let earlyEndDeadline = Deadline.after(milliseconds: EngineRun.earlyEndMilliseconds)
        private(set) var hasEnded = false
        private(set) var failure: Failure?

        var isEarly: Bool { !earlyEndDeadline.hasPassed }

        /// Whether waiting commands fail. Otherwise they are sent to the next engine. If the store is damaged, or if
        /// this engine failed early, the next engine would probably fail in the same way. If the store was removed
        /// or moved, the next engine would serve another store.
        func isPersistent(_ failure: Failure) -> Bool {
            failure.status == .storeDamaged || failure.status == .storeUnavailable || !earlyEndDeadline.hasPassed
        }

        mutating func note(_ message: EngineMessage) {
            switch message {
            case .goodbye(let failure):
                hasEnded = true
                self.failure = failure
            case .reply, .notice, .welcome: break
            }
        }
    }

    // MARK: An engine of another process

    private enum ConnectResult {
        /// An engine was used. Then the engine ended or the client was closed.
        case engine
        /// The store has no socket, or no process listens to it.
        case noSocket
        /// A process listens to the socket, and does not reply.
        case noReply
        /// An older daemon was requested to exit.
        case older
    }

    private func serveSocket(
        _ directory: StoreDirectory, _ starter: inout DaemonStarter
    ) throws(Failure) -> ConnectResult {
        guard let transport = try? SocketClientTransport(directory: directory), let peer = transport.peer
        else { return .noSocket }
        guard peer.isSameUser else {
            throw Failure(
                .storeUnavailable, "the store's engine, process \(peer.processID), belongs to another user",
                domain: .process, detail: Int64(peer.processID))
        }
        // An engine that has just made its socket has the whole time for its reply.
        let deadline = Deadline.after(milliseconds: Self.replyTimeoutMilliseconds)
        transport.send(.hello(state.withLock { $0.hello(process: ProcessIdentity.current.processID) }))
        // From now on, closing the client also closes the transport.
        guard state.change({ $0.opening(transport, engineProcess: peer.processID) }) else { return .engine }
        var reader = FrameReader()
        var welcome: Welcome?
        var refusal: Failure?
        let opening = transport.run(until: deadline, &reader) { message in
            switch message {
            case .welcome(let received): welcome = received
            case .goodbye(let failure): refusal = failure
            case .reply, .notice: break
            }
            return false
        }
        if case .failed(let failure) = opening { throw failure }
        if let welcome {
            let mayRequestExit = hosting.isDaemon && starter.mayRequestExit
            switch VersionNegotiation.action(own: .current, engine: welcome, mayRequestExit: mayRequestExit) {
            case .proceed: break
            case .refuse(let failure): throw failure
            case .requestExit:
                starter.exitRequested()
                requestExit(directory, until: deadline)
                return .older
            }
        }
        if let refusal { throw refusal }
        guard welcome != nil else { return .noReply }
        let isWanted = state.change { $0.connected(transport, engineProcess: peer.processID, isLocal: false) }
        guard isWanted else { return .engine }
        starter.succeeded()
        var end = EngineRun()
        _ = transport.run(until: nil, &reader) { message in
            end.note(message)
            EngineConnector.deliver(message, state)
            return !end.hasEnded
        }
        state.change { $0.disconnected() }
        if end.isEarly { starter.endedEarly() } else { starter.endedLate() }
        if let failure = end.failure, end.isPersistent(failure) { throw failure }
        return .engine
    }

    /// Requests that an older daemon exits. Returns when the daemon has closed the connection or sent a message, or at
    /// the deadline. A new connection is used, because an engine of another version closes a connection after the
    /// hello, the first message of a client.
    private func requestExit(_ directory: StoreDirectory, until deadline: Deadline) {
        guard let transport = try? SocketClientTransport(directory: directory) else { return }
        transport.send(.requestExit(.current))
        var reader = FrameReader()
        _ = transport.run(until: deadline, &reader) { _ in false }
    }

    static func deliver(_ message: EngineMessage, _ state: Lock<ClientState>) {
        switch message {
        case .reply(let sequence, let reply):
            if let (waiting, reply) = state.change({ $0.replied(sequence, reply) }) { waiting(reply) }
        case .notice(let notice): state.change { $0.received(notice) }
        case .welcome, .goodbye: break
        }
    }
}
