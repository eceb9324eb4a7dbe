internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

extension CommandHandler {
    private static let handleLimit = 65_536

    /// Creates or attaches; the handle counts from the reply on. Sending it again is harmless by itself.
    func open(
        _ handle: HandleID, _ role: Role, _ identifier: String, waits: Bool, _ body: @escaping OpenSession
    ) {
        guard let hello = connection.hello, let process = connection.process else { return }
        guard connection.handles.count < Self.handleLimit else {
            let failure = Failure(.tooMany, "the application has \(Self.handleLimit) sessions open; close some")
            return connection.reply(sequence, .failed(failure))
        }
        let consumer = ConsumerIdentity(client: hello.client, handle: handle, process: process, launch: hello.launch)
        let name = NamedSession(application: hello.application, identifier: identifier)
        let (id, sequence, waits) = (connection.id, sequence, waits && role == .consume)
        let waiting = WaitingConsumer(connection: id, sequence: sequence, handle: handle, open: body)
        // Others came first.
        if waits, core.queues[name] != nil { return core.wait(waiting, for: name) }
        if waits { connection.startOpening(handle) }
        core.store({ (transaction) throws(Failure) in
            try body(transaction, name.application, consumer)
        }, then: { core, result in
            let isWanted = core.connections[id]?.stopOpening(handle) ?? false
            switch result {
            case .success(let opened): core.opened(opened, id, sequence, consumer, role, identifier)
            case .failure(let failure) where waits && failure.status == .inUse:
                if isWanted {
                    core.wait(waiting, for: name)
                } else {
                    core.answer(id, sequence, .failure(EngineCore.gaveUp))
                }
            case .failure(let failure): core.answer(id, sequence, .failure(failure))
            }
        })
    }

    func closeSession(_ handle: HandleID) {
        guard let client = connection.hello?.client else { return connection.reply(sequence, .done) }
        let (id, sequence, application) = (connection.id, sequence, connection.application ?? "")
        // Not attached here: of an engine that is gone, but what it has claimed there is in the store.
        if let attached = connection.detach(handle) {
            let address = HandleAddress(connection: id, handle: handle)
            core.progressWatches[address] = nil
            if core.consumers[attached.session] == address { core.consumers[attached.session] = nil }
        }
        core.store({ (transaction) throws(Failure) in
            try transaction.releaseHandle(client: client, handle: handle)
        }, then: { core, result in
            core.answer(id, sequence, result.map { _ in .done })
            if case .success(let identifier?) = result {
                core.tryWaiting(NamedSession(application: application, identifier: identifier))
            }
        })
    }

    func listSessions() {
        let (id, sequence, application) = (connection.id, sequence, connection.application ?? "")
        core.store({ (transaction) throws(Failure) in
            (infos: try transaction.sessions(application: application), seen: try transaction.seen(application))
        }, then: { core, result in
            core.answer(id, sequence, result.map { listing in
                var infos = core.withWaiting(listing.infos, of: application)
                core.launches.describe(&infos, of: application, listing.seen)
                return .sessions(infos)
            })
        })
    }
}

extension EngineCore {
    /// The handle counts from now on.
    func opened(
        _ opened: OpenedSession, _ id: ConnectionID, _ sequence: UInt64, _ consumer: ConsumerIdentity, _ role: Role,
        _ identifier: String
    ) {
        let handle = consumer.handle
        if let application = opened.launchedApplication { launches.attached(application, consumer) }
        remember(opened.configuration, of: opened.id)
        guard let connection = connections[id] else { return }
        let window = PushWindow(newest: opened.newestEvent)
        connection.attach(handle, .init(session: opened.id, identifier: identifier, role: role, window: window))
        if role == .consume { consumers[opened.id] = HandleAddress(connection: id, handle: handle) }
        connection.reply(
            sequence,
            .session(
                opened.id, isNew: opened.isNew, newestEvent: opened.newestEvent,
                unacknowledged: opened.unacknowledged))
        if role == .consume, let application = connection.application {
            askToYield(NamedSession(application: application, identifier: identifier))
        }
    }
}
