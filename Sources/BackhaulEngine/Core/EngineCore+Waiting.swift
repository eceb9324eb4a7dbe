internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Creates or attaches in a transaction.
typealias OpenSession = @Sendable (Transaction, String, ConsumerIdentity) throws(Failure) -> OpenedSession

/// A create or attach that is answered when the session is free.
struct WaitingConsumer {
    let connection: ConnectionID
    let sequence: UInt64
    let handle: HandleID
    let open: OpenSession
}

/// Those who wait for one session, first come first served. Not in the store: their clients send the command again to
/// the next engine.
struct ConsumerQueue {
    var waiting: [WaitingConsumer] = []
    /// The first is being tried; `isDue`: and is to be tried again after that.
    var isTrying = false
    var isDue = false
}

extension EngineCore {
    /// A holder that is not connected has no connection whose end could be seen.
    private static let lookMilliseconds: Int64 = 1_000
    /// Of all sessions of one client together.
    private static let waitingLimit = 4_096

    func wait(_ consumer: WaitingConsumer, for name: NamedSession) {
        let mine = queues.values.reduce(0) { $0 + $1.waiting.count { $0.connection == consumer.connection } }
        guard mine < Self.waitingLimit else {
            let failure = Failure(.tooMany, "\(mine) handles of this client wait already; release some of the tickets")
            return answer(consumer.connection, consumer.sequence, .failure(failure))
        }
        queues[name, default: ConsumerQueue()].waiting.append(consumer)
        askToYield(name)
    }

    /// The session may be free now.
    func tryWaiting(_ name: NamedSession) {
        guard var queue = queues[name] else { return }
        guard let first = queue.waiting.first, let connection = connections[first.connection],
            let hello = connection.hello, let process = connection.process, !queue.isTrying
        else {
            queues[name]?.isDue = true
            return
        }
        queue.isTrying = true
        queue.isDue = false
        queues[name] = queue
        let consumer = ConsumerIdentity(
            client: hello.client, handle: first.handle, process: process, launch: hello.launch)
        let (open, id, sequence) = (first.open, first.connection, first.sequence)
        store({ (transaction) throws(Failure) in
            try open(transaction, name.application, consumer)
        }, then: { core, result in
            core.queues[name]?.isTrying = false
            let head = core.queues[name]?.waiting.first
            let isWanted = head?.connection == id && head?.sequence == sequence
            switch result {
            case .success(let opened):
                guard isWanted else { return core.giveBack(opened, consumer, name) }
                core.leaveQueue(name)
                core.opened(opened, id, sequence, consumer, .consume, name.identifier)
                if core.connections[id] == nil { core.tryWaiting(name) }
            case .failure(let failure) where failure.status == .inUse:
                core.askToYield(name)
                // What was found for one who has left since says nothing about who is first now.
                if core.queues[name]?.isDue == true || !isWanted { core.tryWaiting(name) }
            case .failure(let failure):
                if isWanted {
                    core.leaveQueue(name)
                    core.answer(id, sequence, .failure(failure))
                }
                core.tryWaiting(name)
            }
        })
    }

    func tryWaiting(in application: String) {
        for name in queues.keys where name.application == application { tryWaiting(name) }
    }

    /// The session went to one who had given up in that moment.
    private func giveBack(_ opened: OpenedSession, _ consumer: ConsumerIdentity, _ name: NamedSession) {
        store({ (transaction) throws(Failure) in
            try transaction.releaseHandle(client: consumer.client, handle: consumer.handle, session: opened.id)
        }, then: { core, _ in core.tryWaiting(name) })
    }

    private func leaveQueue(_ name: NamedSession) {
        queues[name]?.waiting.removeFirst()
        if queues[name]?.waiting.isEmpty == true { queues[name] = nil }
    }

    /// Tells whoever consumes it that others wait; looks again later when that one is not connected.
    func askToYield(_ name: NamedSession) {
        guard queues[name] != nil else { return }
        var isConnected = false
        for connection in connections.values where connection.application == name.application {
            guard connection.consumes(name.identifier) else { continue }
            isConnected = true
            connection.deliver(.notice(.yield(identifier: name.identifier)))
        }
        if !isConnected, holderTimer?.isRunning == false { holderTimer?.start(milliseconds: Self.lookMilliseconds) }
    }

    func lookForHolders() {
        for name in queues.keys { tryWaiting(name) }
    }

    /// True when the handle waits no more.
    func stopWaiting(_ id: ConnectionID, _ handle: HandleID) {
        connections[id]?.stopOpening(handle)
        for (name, queue) in queues {
            guard let index = queue.waiting.firstIndex(where: { $0.connection == id && $0.handle == handle }) else {
                continue
            }
            let consumer = queue.waiting[index]
            remove(from: name) { $0.connection == id && $0.handle == handle }
            answer(id, consumer.sequence, .failure(Self.gaveUp))
            return
        }
    }

    func stopWaiting(_ id: ConnectionID) {
        for name in queues.keys { remove(from: name) { $0.connection == id } }
    }

    private func remove(from name: NamedSession, where isGone: (WaitingConsumer) -> Bool) {
        queues[name]?.waiting.removeAll(where: isGone)
        if queues[name]?.waiting.isEmpty == true { queues[name] = nil }
    }

    static let gaveUp = Failure(.cancelled, "the wait for the session was given up")

    func withWaiting(_ infos: [SessionInfo], of application: String) -> [SessionInfo] {
        infos.map { info in
            var info = info
            let name = NamedSession(application: application, identifier: info.identifier)
            info.waitingConsumers = UInt32(clamping: queues[name]?.waiting.count ?? 0)
            return info
        }
    }
}
