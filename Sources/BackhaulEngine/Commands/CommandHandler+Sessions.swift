internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

extension CommandHandler {
    private static let handleLimit = 65_536

    /// Creates or attaches; the handle counts from the reply on. Sending it again is harmless by itself.
    func open(
        _ handle: HandleID, _ role: Role, _ identifier: String, waits: Bool, _ body: @escaping OpenSession
    ) {
        guard let consumer = connection.consumer(handle), let application = connection.application else { return }
        guard connection.handles.count < Self.handleLimit else {
            let failure = Failure(.tooMany, "the application has \(Self.handleLimit) sessions open; close some")
            return connection.reply(sequence, .failed(failure))
        }
        let name = NamedSession(application: application, identifier: identifier)
        let address = HandleAddress(connection: connection.id, handle: handle)
        let opening = SessionOpening(address: address, sequence: sequence, name: name, role: role, open: body)
        let waits = waits && role == .consume
        // Others came first.
        if waits, core.claims.count(of: name) > 0 { return core.claims.wait(opening) }
        if waits { connection.startOpening(handle) }
        core.store({ (transaction) throws(Failure) in
            try body(transaction, application, consumer)
        }, then: { core, result in
            let isWanted = core.clients[address.connection]?.stopOpening(handle) ?? false
            switch result {
            case .success(let opened): core.opened(opened, opening, consumer)
            case .failure(let failure) where waits && failure.status == .inUse:
                if isWanted {
                    core.claims.wait(opening)
                } else {
                    core.clients.reply(address.connection, opening.sequence, .failure(SessionClaims.gaveUp))
                }
            case .failure(let failure):
                core.clients.reply(address.connection, opening.sequence, .failure(failure))
            }
        })
    }

    func closeSession(_ handle: HandleID) {
        guard let client = connection.hello?.client else { return connection.reply(sequence, .done) }
        let (id, sequence, application) = (connection.id, sequence, connection.application ?? "")
        // Not attached here: of an engine that is gone, but what it has claimed there is in the store.
        if let attached = connection.detach(handle) {
            let address = HandleAddress(connection: id, handle: handle)
            core.progress.stop(address)
            core.clients.detached(address, from: attached.session)
        }
        core.store({ (transaction) throws(Failure) in
            try transaction.releaseHandle(client: client, handle: handle)
        }, then: { core, result in
            core.clients.reply(id, sequence, result.map { _ in .done })
            if case .success(let identifier?) = result {
                core.claims.released(NamedSession(application: application, identifier: identifier))
            }
        })
    }

    func listSessions() {
        let (id, sequence, application) = (connection.id, sequence, connection.application ?? "")
        core.store({ (transaction) throws(Failure) in
            (infos: try transaction.sessions(application: application), seen: try transaction.seen(application))
        }, then: { core, result in
            core.clients.reply(id, sequence, result.map { listing in
                var infos = core.withWaiting(listing.infos, of: application)
                core.launches.describe(&infos, of: application, listing.seen)
                return .sessions(infos)
            })
        })
    }
}

extension EngineCore {
    /// The handle counts from now on.
    func opened(_ opened: OpenedSession, _ opening: SessionOpening, _ consumer: ConsumerIdentity) {
        if let application = opened.launchedApplication { launches.attached(application, consumer) }
        remember(opened.configuration, of: opened.id)
        let address = opening.address
        guard let connection = clients[address.connection] else { return }
        let window = PushWindow(newest: opened.newestEvent)
        connection.attach(
            address.handle,
            .init(session: opened.id, identifier: opening.name.identifier, role: opening.role, window: window))
        if opening.role == .consume { clients.setConsumer(of: opened.id, address) }
        connection.reply(
            opening.sequence,
            .session(
                opened.id, isNew: opened.isNew, newestEvent: opened.newestEvent,
                unacknowledged: opened.unacknowledged))
        if opening.role == .consume { claims.askToYield(opening.name) }
    }

    func withWaiting(_ infos: [SessionInfo], of application: String) -> [SessionInfo] {
        infos.map { info in
            var info = info
            let name = NamedSession(application: application, identifier: info.identifier)
            info.waitingConsumers = UInt32(clamping: claims.count(of: name))
            return info
        }
    }
}
