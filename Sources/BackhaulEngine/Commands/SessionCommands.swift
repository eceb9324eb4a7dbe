internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// The commands that create, attach, close, configure and end sessions (named collections of tasks), and the commands
/// for events and progress.
struct SessionCommands {
    let call: CommandCall
    private var engine: EngineLoop { call.engine }

    private static let handleLimit = 65_536

    // MARK: Opening

    func create(
        _ configuration: SessionConfiguration, _ role: Role, _ handle: HandleID, waits: Bool
    ) throws(Failure) {
        try SessionCheck.check(configuration)
        let identifier = configuration.identifier
        let clocks = engine.runtime.clocks
        open(handle, role, identifier, waits: waits) { (transaction, application, consumer) throws(Failure) in
            try transaction.sessions.create(
                application: application, configuration: configuration, role: role, consumer: consumer,
                now: clocks.wallMilliseconds)
        }
    }

    func attach(_ identifier: String, _ role: Role, _ handle: HandleID, waits: Bool) {
        open(handle, role, identifier, waits: waits) { (transaction, application, consumer) throws(Failure) in
            try transaction.sessions.attach(
                application: application, identifier: identifier, role: role, consumer: consumer)
        }
    }

    /// Opens a session. The client (the library in a program that uses it) has chosen the handle, by which its later
    /// commands name the session. The handle is valid after the reply. The client may send this command again.
    private func open(
        _ handle: HandleID, _ role: Role, _ identifier: String, waits: Bool, _ body: @escaping OpenSession
    ) {
        guard let consumer = call.connection.consumer(handle), let application = call.connection.application else {
            return
        }
        guard call.connection.handles.count < Self.handleLimit else {
            let failure = Failure(.tooMany, "the application has \(Self.handleLimit) sessions open; close some")
            return call.connection.reply(call.sequence, .failed(failure))
        }
        let name = NamedSession(application: application, identifier: identifier)
        let address = HandleAddress(connection: call.connection.id, handle: handle)
        let opening = SessionOpening(address: address, sequence: call.sequence, name: name, role: role, open: body)
        let waits = waits && role == .consume
        // If other handles already wait for the right to read the session's events, this opening waits behind them.
        if waits, engine.clients.claims.count(of: name) > 0 { return engine.clients.claims.wait(opening) }
        if waits { call.connection.startOpening(handle) }
        engine.runtime.store(
            { (transaction) throws(Failure) in
                try body(transaction, application, consumer)
            },
            then: { result in
                let isWanted = call.isConnected && call.connection.stopOpening(handle)
                switch result {
                case .success(let opened): engine.opened(opened, opening, consumer)
                case .failure(let failure) where waits && failure.status == .inUse:
                    if isWanted {
                        engine.clients.claims.wait(opening)
                    } else {
                        call.reply(.failure(SessionClaims.cancelledWait))
                    }
                case .failure(let failure): call.reply(.failure(failure))
                }
                return []
            })
    }

    func close(_ handle: HandleID) {
        guard let client = call.connection.hello?.client else { return call.connection.reply(call.sequence, .done) }
        let application = call.connection.application ?? ""
        // If the handle was attached to an earlier engine, this engine does not know the handle. The handle's right to
        // read the events is still in the store, and is released there in any case.
        _ = engine.clients.detach(handle, of: call.connection)
        engine.runtime.store(
            { (transaction) throws(Failure) in
                try transaction.clients.releaseHandle(client: client, handle: handle)
            },
            then: { result in
                call.reply(result.map { _ in .done })
                if case .success(let identifier?) = result {
                    engine.clients.claims.released(NamedSession(application: application, identifier: identifier))
                }
                return []
            })
    }

    func stopWaiting(_ handle: HandleID) {
        engine.clients.claims.stopWaiting(HandleAddress(connection: call.connection.id, handle: handle))
        call.connection.reply(call.sequence, .done)
    }

    // MARK: Configuration

    func configuration(of session: SessionID) {
        call.read { (transaction) throws(Failure) in
            .configuration(try transaction.sessions.configuration(of: session))
        }
    }

    func update(_ configuration: SessionConfiguration, of session: SessionID) {
        let (now, clocks) = (engine.base.calendar.milliseconds, engine.runtime.clocks)
        call.applyOnce(
            { (transaction) throws(Failure) in
                try transaction.sessions.update(session, configuration)
                let now = try transaction.calendar(now, clocks)
                let boot = clocks.bootMilliseconds
                // A task that waits for a command or for another task is due at the end of its resource time-out (the
                // longest time from the enqueue to the end). This time-out may have changed.
                try transaction.challenges.rescheduleParked(of: session, bootMilliseconds: boot, now: now)
                try transaction.delays.rescheduleRetries(of: session, bootMilliseconds: boot, now: now)
                return (.done, nil)
            },
            then: { _ in
                engine.remember(configuration, of: session)
                engine.queue([.checkCalendar, .releaseDue])
            })
    }

    func invalidate(_ session: SessionID, cancelTasks: Bool) {
        // The waiting ends are stored first, so that the command does not cancel a task that has ended.
        engine.tasks.endings.flush()
        call.applyOnce(
            { [clocks = engine.runtime.clocks] (transaction) throws(Failure) in
                let change = try transaction.sessions.invalidate(
                    session, cancelTasks: cancelTasks, now: clocks.wallMilliseconds)
                return (.done, change)
            },
            then: { change in
                if let change { engine.apply(change, tasksEndedOrStopped: cancelTasks ? .cancel : nil) }
            })
    }

    // MARK: Events and progress

    func poll(_ session: SessionID, after: EventID, maximum: Int) {
        call.read { (transaction) throws(Failure) in
            let (events, more) = try transaction.events.poll(session, after: after, maximum: maximum)
            let fitting = Wire.countThatFits(events)
            return .events(Array(events.prefix(fitting)), more: more || fitting < events.count)
        }
    }

    /// An acknowledgement of fewer ids is delayed only if it includes the newest event.
    private static let fewestDelayedEvents: UInt64 = 8

    func acknowledge(_ acknowledgement: Acknowledgement, by handle: HandleID) throws(Failure) {
        let session = try call.consuming(handle)
        // While many tasks end, an acknowledgement may wait for the next ends, so that they share one transaction. But
        // a client may acknowledge each event alone, and wait for each reply. If such a client has further events, the
        // acknowledgement is not delayed.
        let (count, includesNewest) = call.connection.recordAcknowledgement(acknowledgement, by: handle)
        let mayBeDelayed =
            (count >= Self.fewestDelayedEvents || includesNewest)
            && engine.tasks.endings.expectsFurtherEnds
        let returns = Lock(false)
        call.applyOnce(
            { (transaction) throws(Failure) in
                let change = try transaction.events.acknowledge(session, acknowledgement)
                return (.count(UInt64(change.count)), change)
            }, mayBeDelayed: mayBeDelayed,
            then: { change in
                guard let change else { return }
                CrashPoint.afterAcknowledge.reach()
                if !change.removedKept.isEmpty || change.hasLeftoverCopies { engine.housekeeping.leftovers.sweep() }
                if change.sessionRemoved { engine.removed(change) }
                returns.withLock { $0 = change.returnsBodies }
            },
            beforeReply: { reply in
                // Consumed files (moved into the store for uploads) are moved back before the reply is sent.
                guard returns.withLock(\.self) else { return reply() }
                engine.housekeeping.requestBodies.returnBodies {
                    reply()
                    return []
                }
            })
    }

    func watchProgress(_ handle: HandleID, _ milliseconds: UInt32) throws(Failure) {
        _ = try call.attached(handle)
        let address = HandleAddress(connection: call.connection.id, handle: handle)
        try engine.clients.progress.watch(address, milliseconds: milliseconds)
        call.connection.reply(call.sequence, .done)
    }

    // MARK: Listing

    func list(after: String) {
        let application = call.connection.application ?? ""
        let isLaunched = engine.hosts.launches.isLaunched(application)
        call.read(
            { (transaction) throws(Failure) in
                (
                    infos: try transaction.sessions.infos(
                        application: application, after: after, maximum: Limits.batchCount),
                    storedFacts: isLaunched ? try transaction.storedFacts(application) : .empty
                )
            },
            reply: { listing in
                var infos = engine.clients.withWaiting(listing.infos, of: application)
                engine.hosts.launches.describe(&infos, of: application, listing.storedFacts)
                return .sessions(infos, more: infos.count == Limits.batchCount)
            })
    }
}

extension ClientParts {
    /// Adds to each session how many handles wait for the right to read its events.
    func withWaiting(_ infos: [SessionInfo], of application: String) -> [SessionInfo] {
        infos.map { info in
            var info = info
            let name = NamedSession(application: application, identifier: info.identifier)
            info.waitingConsumers = UInt32(clamping: claims.count(of: name))
            return info
        }
    }
}
