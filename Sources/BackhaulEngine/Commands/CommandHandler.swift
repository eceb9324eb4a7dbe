internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulWire

/// One command of one client on its way through the engine. A value: what happens later finds the connection by id.
struct CommandHandler {
    let core: EngineCore
    let connection: ClientConnection
    let sequence: UInt64
    let answeredThrough: UInt64

    func handle(_ command: Command) {
        do {
            try perform(command)
        } catch {
            connection.reply(sequence, .failed(error))
        }
    }

    private func perform(_ command: Command) throws(Failure) {
        switch command {
        case .createSession(let configuration, let role, let handle, let waits):
            try SessionCheck.check(configuration)
            let identifier = configuration.identifier
            open(handle, role, identifier, waits: waits) { (transaction, application, consumer) throws(Failure) in
                try transaction.createSession(
                    application: application, configuration: configuration, role: role, consumer: consumer,
                    now: Clock.wallMilliseconds)
            }
        case .attachSession(let identifier, let role, let handle, let waits):
            open(handle, role, identifier, waits: waits) { (transaction, application, consumer) throws(Failure) in
                try transaction.attachSession(
                    application: application, identifier: identifier, role: role, consumer: consumer)
            }
        case .closeSession(let handle): closeSession(handle)
        case .configuration(let handle):
            let session = try attached(handle).session
            read { (transaction) throws(Failure) in .configuration(try transaction.configuration(session)) }
        case .updateConfiguration(let handle, let configuration):
            try SessionCheck.check(configuration)
            let session = try changing(handle)
            let now = core.calendar.milliseconds
            once({ (transaction) throws(Failure) in
                try transaction.updateConfiguration(session, configuration)
                // Those that wait for a credential have a due time of the resource time-out.
                try transaction.rescheduleParked(
                    of: session, bootMilliseconds: Clock.bootMilliseconds, now: now)
                try transaction.rescheduleRetries(
                    of: session, bootMilliseconds: Clock.bootMilliseconds, now: now)
                return (.done, nil)
            }, then: { core, _ in
                core.remember(configuration, of: session)
                core.apply([.lookAtCalendar, .releaseDue])
            })
        case .enqueue(let handle, let requests): try enqueue(requests, into: try changing(handle))
        case .poll(let handle, let after, let maximum):
            let session = try consuming(handle)
            let count = min(Int(maximum), Limits.batchCount)
            read { (transaction) throws(Failure) in
                let (events, more) = try transaction.poll(session, after: after, maximum: count)
                let fitting = Wire.countThatFits(events)
                return .events(Array(events.prefix(fitting)), more: more || fitting < events.count)
            }
        case .acknowledge(let handle, let acknowledgement):
            acknowledge(acknowledgement, in: try consuming(handle))
        case .complete(let handle, let handedOut):
            complete(handle, try consuming(handle), handedOut: handedOut)
        case .tasks(let handle, let selection, let after, let maximum):
            let session = try attached(handle).session
            list(selection, after: after, maximum: min(Int(maximum), Limits.batchCount), of: session)
        case .control(let handle, let control, let selection):
            self.control(control, selection, in: try changing(handle))
        case .claim(let handle, let task, let destination, let ifExists):
            try claim(task, destination, ifExists, in: try changing(handle))
        case .invalidate(let handle, let cancelTasks):
            let session = try changing(handle)
            once({ (transaction) throws(Failure) in
                let change = try transaction.invalidate(
                    session, cancelTasks: cancelTasks, now: Clock.wallMilliseconds)
                return (.done, change)
            }, then: { core, change in
                if let change { core.apply(change, tasksEndedOrStopped: cancelTasks ? .cancel : nil) }
            })
        case .stopWaiting(let handle):
            core.claims.stopWaiting(HandleAddress(connection: connection.id, handle: handle))
            connection.reply(sequence, .done)
        case .sessions: listSessions()
        case .watchProgress(let handle, let milliseconds):
            _ = try attached(handle)
            let address = HandleAddress(connection: connection.id, handle: handle)
            try core.progress.watch(address, milliseconds: milliseconds)
            connection.reply(sequence, .done)
        case .engine: connection.reply(sequence, .engine(core.information))
        case .challenges(let handle): challenges(of: try attached(handle).session)
        case .respond(let handle, let challenge, let response, let life):
            try respond(challenge, response, life, in: try changing(handle))
        case .attempts(let handle, let task): attempts(of: task, in: try attached(handle).session)
        case .history(let handle, let after, let maximum):
            history(of: try attached(handle).session, after: after, maximum: min(Int(maximum), Limits.batchCount))
        case .setLimits(let limits): try setLimits(limits)
        case .limits: limits()
        case .waits(let handle, let task): waits(of: task, in: try attached(handle).session)
        case .conditions: conditions()
        case .holds: holds()
        case .setNetwork(let settings): try setNetwork(settings)
        case .networks: networks()
        case .setActivity(let handle, let activity): try setActivity(activity, in: try changing(handle))
        case .removeActivity(let handle, let identifier): removeActivity(identifier, in: try changing(handle))
        case .activities(let handle): activities(of: try attached(handle).session)
        case .setLaunch(let command): try setLaunch(command)
        case .launches: launches()
        case .currentLaunch: currentLaunch()
        }
    }

    // MARK: Who may

    private func attached(_ handle: HandleID) throws(Failure) -> ClientConnection.AttachedHandle {
        guard let attached = connection.handles[handle] else {
            throw Failure(.invalidHandle, "the session is not attached; attach it first")
        }
        return attached
    }

    private func changing(_ handle: HandleID) throws(Failure) -> SessionID {
        let attached = try attached(handle)
        guard attached.role.mayChange else {
            throw Failure(.wrongRole, "an observer changes nothing; attach as producer or consumer")
        }
        return attached.session
    }

    private func consuming(_ handle: HandleID) throws(Failure) -> SessionID {
        let attached = try attached(handle)
        guard attached.role == .consume else {
            throw Failure(.wrongRole, "only the consumer receives events; attach as consumer")
        }
        return attached.session
    }

    // MARK: How

    func read(_ body: @escaping @Sendable (Transaction) throws(Failure) -> Reply) {
        let (id, sequence) = (connection.id, sequence)
        core.store(body, then: { core, result in core.clients.reply(id, sequence, result) })
    }

    /// Does what has to be done before the answer, and gives it then.
    typealias Settlement = @Sendable (EngineCore, @escaping @Sendable (EngineCore) -> Void) -> Void

    struct Applied: Sendable {
        var reply: Reply
        var change: Change?
        var isNew: Bool
    }

    /// Applies a command once, however often a client sends it: its reply is kept until the client has it. `always` is
    /// called before each answer, `then` before the first.
    func once(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> (Reply, Change?),
        then: @escaping @Sendable (EngineCore, Change?) -> Void,
        always: @escaping @Sendable (EngineCore, Reply) -> Void = { _, _ in },
        settle: Settlement? = nil
    ) {
        let (id, sequence, answeredThrough) = (connection.id, sequence, answeredThrough)
        let command = connection.hello.map { CommandID(client: $0.client, sequence: sequence) }
        core.store({ (transaction) throws(Failure) -> Applied in
            if let command {
                try transaction.forget(command.client, through: answeredThrough)
                if let bytes = try transaction.applied(command) {
                    return Applied(reply: try Wire.decodeReply(bytes), change: nil, isNew: false)
                }
            }
            let (reply, change) = try body(transaction)
            if let command { try transaction.remember(command, reply: Wire.encodeReply(reply)) }
            return Applied(reply: reply, change: change, isNew: true)
        }, then: { core, result in
            switch result {
            case .success(let applied):
                if applied.isNew { then(core, applied.change) }
                always(core, applied.reply)
                // Whoever has the reply knows of the events that it brought about.
                core.apply(core.events.announceAll())
                guard let settle else { return core.clients.reply(id, sequence, .success(applied.reply)) }
                settle(core) { core in core.clients.reply(id, sequence, .success(applied.reply)) }
            case .failure(let failure):
                guard let settle else { return core.clients.reply(id, sequence, .failure(failure)) }
                settle(core) { core in core.clients.reply(id, sequence, .failure(failure)) }
            }
        })
    }
}
