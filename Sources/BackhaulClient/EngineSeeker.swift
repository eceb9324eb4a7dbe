internal import BackhaulEngine
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// The work of the client's own thread. It finds the store's engine, starts it or becomes it, transfers the messages of
/// a socket, and starts again when the engine has ended.
struct EngineSeeker: Sendable {
    /// How long an engine that has the lock may take to reply. After that, commands fail with its process id.
    private static let answerMilliseconds: Int64 = 5_000
    private static let pauseMilliseconds: Int64 = 20
    /// The pause between two attempts while a daemon starts, which takes about ten milliseconds.
    private static let startingPauseMilliseconds: Int64 = 2

    let path: String
    let hosting: Hosting
    let state: Lock<ClientState>

    func run() {
        var directory: StoreDirectory?
        // Kept open, so that no other directory gets its inode.
        var served: StoreDirectory?
        var starter = DaemonStarter(path: hosting.daemonPath)
        while waitUntilWanted() {
            do throws(Failure) {
                // Another or a new store does not have this client's sessions.
                if let served, !served.isAtItsPath { throw served.displacement ?? moved(served) }
                // The host may have closed the descriptor, or another directory may have the path now.
                if directory?.descriptor.isOurs != true || directory?.isAtItsPath != true {
                    directory = try StoreDirectory.open(path: path)
                }
                guard let directory else { continue }
                defer { if state.withLock(\.hasBeenServed) { served = served ?? directory } }
                try seek(directory, &starter)
            } catch {
                directory = nil
                let waiting = state.change { $0.failed(error) }
                for answer in waiting { answer(.failed(error)) }
            }
        }
    }

    private func moved(_ store: StoreDirectory) -> Failure {
        Failure(.storeUnavailable, "the store \(store.path) was moved or removed; open the application again")
    }

    /// Waits until an engine is needed. Returns false when the client was closed.
    private func waitUntilWanted() -> Bool {
        state.wait(until: nil) { state in
            switch state.link {
            case .seeking: true
            case .closed: false
            case .connected, .failed: nil
            }
        } ?? false
    }

    /// Finds an engine and uses it until it ends. Throws the reason if there can be none.
    private func seek(_ directory: StoreDirectory, _ starter: inout DaemonStarter) throws(Failure) {
        var deadline = Deadline.after(milliseconds: Self.answerMilliseconds)
        while state.withLock({ !$0.isClosed }) {
            if let lease = try lease(directory) {
                try serveLocal(lease)
                return
            }
            switch try serveSocket(directory, answerBefore: deadline, &starter) {
            case .engine: return
            case .older: deadline = .after(milliseconds: Self.answerMilliseconds)
            case .nobody: break
            }
            if hosting.isDaemon { try starter.tend(directory) }
            if deadline.hasPassed { throw (directory.isLocked ? nil : starter.failure) ?? unresponsive(directory) }
            // If another store or none has the path now, `run` opens the path again.
            guard directory.isAtItsPath else { return }
            // The engine's process may be starting or ending: its lock and its socket do not change in one step.
            let pause = starter.isStarting ? Self.startingPauseMilliseconds : Self.pauseMilliseconds
            _ = state.wait(until: .after(milliseconds: pause)) { $0.isClosed ? true : nil }
        }
    }

    /// A lease of the engine of this process, also if another client of the process with other options made it.
    private func lease(_ directory: StoreDirectory) throws(Failure) -> EngineLease? {
        switch hosting {
        case .embedded: try LocalEngines.current.lease(directory)
        case .daemon: try LocalEngines.current.existing(directory)
        }
    }

    private func unresponsive(_ directory: StoreDirectory) -> Failure {
        guard let holder = directory.lockHolder() else {
            return Failure(.engineUnresponsive, "a process holds the store's lock and does not answer")
        }
        let isStopped = ProcessIdentity.isStopped(processID: holder.processID)
        return Failure(
            .engineUnresponsive,
            "process \(holder.processID) holds the store and \(isStopped ? "is stopped" : "does not answer"); "
                + "let it continue or end it",
            domain: .process, detail: Int64(holder.processID))
    }

    // MARK: An engine of this process

    /// Uses an engine of this process until it ends. Throws the reason if the next engine would end in the same way.
    private func serveLocal(_ lease: EngineLease) throws(Failure) {
        let end = Lock(Ending())
        let carrier = LocalCarrier(lease: lease) { [state] message in
            end.withLock { $0.note(message) }
            EngineSeeker.deliver(message, state)
            // Wakes this client's thread, which waits on the state.
            if case .goodbye = message { state.change { _ in } }
        }
        let process = ProcessIdentity.current.processID
        carrier.send(.hello(state.withLock { $0.hello(process: process) }))
        // If the client was closed meanwhile, the wait ends immediately.
        _ = state.change { $0.connected(carrier, engineProcess: process, isLocal: true) }
        _ = state.wait(until: nil) { $0.isClosed || end.withLock { $0.hasEnded } ? true : nil }
        carrier.close()
        state.change { $0.disconnected() }
        let final = end.withLock { $0 }
        if let failure = final.failure, final.wouldRepeat(failure) { throw failure }
    }

    private struct Ending: Sendable {
        /// An engine that fails sooner is not started again until the host sends a command.
        static let shortLifeMilliseconds: Int64 = 5_000

        private let shortLife = Deadline.after(milliseconds: Ending.shortLifeMilliseconds)
        private(set) var hasEnded = false
        private(set) var failure: Failure?

        var isShort: Bool { !shortLife.hasPassed }

        /// Whether waiting commands fail instead of being sent to the next engine. The next engine would end in the
        /// same way if the store is damaged or this engine failed soon. If the store is gone, it would have another
        /// store.
        func wouldRepeat(_ failure: Failure) -> Bool {
            failure.status == .storeDamaged || failure.status == .storeUnavailable || !shortLife.hasPassed
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

    private enum Served {
        /// An engine was used until it ended or the client was closed.
        case engine
        /// No engine replies yet.
        case nobody
        /// An older daemon was asked to end.
        case older
    }

    private func serveSocket(
        _ directory: StoreDirectory, answerBefore deadline: Deadline, _ starter: inout DaemonStarter
    ) throws(Failure) -> Served {
        guard let carrier = try? SocketCarrier(directory: directory), let peer = carrier.peer else { return .nobody }
        guard peer.isSameUser else {
            throw Failure(
                .storeUnavailable, "the store's engine, process \(peer.processID), belongs to another user",
                domain: .process, detail: Int64(peer.processID))
        }
        carrier.send(.hello(state.withLock { $0.hello(process: ProcessIdentity.current.processID) }))
        // From here on, a close of the client closes the carrier too.
        guard state.change({ $0.opening(carrier, engineProcess: peer.processID) }) else { return .engine }
        var reader = FrameReader()
        var welcome: Welcome?
        var refusal: Failure?
        let opening = carrier.run(until: deadline, &reader) { message in
            switch message {
            case .welcome(let said): welcome = said
            case .goodbye(let failure): refusal = failure
            case .reply, .notice: break
            }
            return false
        }
        if case .failed(let failure) = opening { throw failure }
        if let welcome {
            switch HandOver.action(own: .current, engine: welcome, mayAsk: hosting.isDaemon && starter.mayAskToLeave) {
            case .speak: break
            case .refuse(let failure): throw failure
            case .askToLeave:
                starter.askedToLeave()
                askToLeave(directory, until: deadline)
                return .older
            }
        }
        if let refusal { throw refusal }
        guard welcome != nil else { return .nobody }
        let isWanted = state.change { $0.connected(carrier, engineProcess: peer.processID, isLocal: false) }
        guard isWanted else { return .engine }
        starter.succeeded()
        var end = Ending()
        _ = carrier.run(until: nil, &reader) { message in
            end.note(message)
            EngineSeeker.deliver(message, state)
            return !end.hasEnded
        }
        state.change { $0.disconnected() }
        if end.isShort { starter.endedEarly() } else { starter.endedLate() }
        if let failure = end.failure, end.wouldRepeat(failure) { throw failure }
        return .engine
    }

    /// Asks an older daemon to end. Returns when the daemon has closed the connection or refused. This needs a new
    /// connection, because an engine of another version has closed the one with the hello.
    private func askToLeave(_ directory: StoreDirectory, until deadline: Deadline) {
        guard let carrier = try? SocketCarrier(directory: directory) else { return }
        carrier.send(.leave(.current))
        var reader = FrameReader()
        _ = carrier.run(until: deadline, &reader) { _ in false }
    }

    private static func deliver(_ message: EngineMessage, _ state: Lock<ClientState>) {
        switch message {
        case .reply(let sequence, let reply):
            let waiting = state.change { $0.answered(sequence, reply) }
            waiting?(reply)
        case .notice(let notice): state.change { $0.noticed(notice) }
        case .welcome, .goodbye: break
        }
    }
}
