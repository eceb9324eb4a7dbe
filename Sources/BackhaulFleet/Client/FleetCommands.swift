internal import BackhaulModel
internal import BackhaulPlatform

/// Performs the commands of one client. One thread uses it.
final class FleetCommands {
    private struct OpenHandle {
        var session: SessionID
        var role: Role
        /// Whether another handle has taken the right to read the session's events. This handle does not get it back:
        /// the host must attach the session again.
        var hasLostEvents = false
    }

    /// An opening that waits until another handle releases the right to read the session's events.
    private struct Waiting {
        var sequence: UInt64
        var handle: HandleID
        var command: Command
    }

    private let database: DatabaseConnection
    private let hello: Hello
    private let application: Int64
    private let process = ProcessIdentity.current
    private var handles: [HandleID: OpenHandle] = [:]
    private var waiting: [Waiting] = []
    /// The newest event of each session that the client knows.
    private var newest: [SessionID: EventID] = [:]
    /// The sequence numbers of commands that have waited, and were cancelled.
    private var cancelled: [UInt64] = []
    private var renewal = Deadline.after(milliseconds: FleetCommands.renewalMilliseconds)
    private let startedMilliseconds = Clock.wallMilliseconds

    /// See `HostQueue.claimEvents`.
    private static let renewalMilliseconds: Int64 = 5_000

    private var queue: HostQueue { HostQueue(database: database) }

    init(_ database: DatabaseConnection, _ hello: Hello) throws(FleetError) {
        self.database = database
        self.hello = hello
        application = try HostQueue(database: database).application(hello.application)
    }

    /// Performs a command. Returns nil if the reply comes later. Throws only if the connection to the database ended:
    /// then the client repeats the command over the next connection.
    func perform(_ command: Command, _ sequence: UInt64, repliedThrough: UInt64) throws(FleetError) -> Reply? {
        do throws(FleetError) {
            switch command {
            case .createSession(let configuration, let role, let handle, let waits):
                try FleetConfiguration.check(configuration)
                let reply = try open(handle, role, configuration.identifier) { () throws(FleetError) in
                    try queue.create(configuration, application: application)
                }
                return deferred(reply, waits: waits, Waiting(sequence: sequence, handle: handle, command: command))
            case .attachSession(let identifier, let role, let handle, let waits):
                let reply = try open(handle, role, identifier) { () throws(FleetError) in
                    try queue.find(identifier, application: application)
                }
                return deferred(reply, waits: waits, Waiting(sequence: sequence, handle: handle, command: command))
            case .enqueue(let handle, let requests):
                let id = CommandID(client: hello.client, sequence: sequence)
                // If the handle could not be attached again, an earlier connection may have performed the command.
                if handles[handle] == nil, let results = try Enqueue.earlierResults(of: id, in: database) {
                    return .enqueued(results)
                }
                return .enqueued(try enqueue(requests, by: handle, id, repliedThrough: repliedThrough))
            default: return try perform(command)
            }
        } catch {
            if database.isLost || error.isConnectionEnd { throw error }
            return .failed(error.failure)
        }
    }

    private static func batch(_ maximum: UInt32) -> Int { min(Int(maximum), Limits.batchCount) }

    /// Performs the commands whose repetition has no further effect.
    private func perform(_ command: Command) throws(FleetError) -> Reply {
        switch command {
        case .stopWaiting(let handle): stopWaiting(handle)
        case .closeSession(let handle): try close(handle)
        case .configuration(let handle): return .configuration(try queue.configuration(of: try session(handle)))
        case .updateConfiguration(let handle, let configuration):
            try FleetConfiguration.check(configuration)
            try queue.update(configuration, of: try changing(handle))
        case .invalidate(let handle, let cancelTasks):
            try queue.invalidate(try changing(handle), cancelTasks: cancelTasks)
        case .poll(let handle, let after, let maximum):
            let found = try queue.poll(try consuming(handle), after: after, maximum: Self.batch(maximum))
            return .events(found.events, more: found.more)
        case .acknowledge(let handle, let acknowledgement):
            let session = try consuming(handle)
            let count = try queue.acknowledge(acknowledgement, of: session)
            try queue.removeIfFinished(session)
            return .count(count)
        case .complete(let handle, let deliveredThrough):
            try complete(try consuming(handle), deliveredThrough)
            return .completed(endsHandle: false)
        case .tasks(let handle, let selection, let after, let maximum):
            let found = try queue.tasks(selection, after: after, maximum: Self.batch(maximum), of: try session(handle))
            return .tasks(found.tasks, more: found.more)
        case .history(let handle, let after, let maximum):
            let found = try queue.history(after: after, maximum: Self.batch(maximum), of: try session(handle))
            return .tasks(found.tasks, more: found.more)
        case .attempts(let handle, let task):
            return .attempts(try queue.attempts(of: task, in: try session(handle)), more: false)
        case .attemptsOfTasks(let handle, let tasks):
            let found = try queue.attempts(of: tasks, in: try session(handle))
            return .attempts(found.attempts, more: found.more)
        case .control(let handle, let control, let selection):
            let session = try changing(handle)
            return .count(
                try database.transaction { () throws(FleetError) in
                    try queue.control(control, selection, of: session)
                })
        default: return try performForStore(command)
        }
        return .done
    }

    private func performForStore(_ command: Command) throws(FleetError) -> Reply {
        switch command {
        case .sessions: return .sessions(try queue.sessions(of: application), more: false)
        case .applications: return .applications(try queue.applications())
        case .limits:
            var limits = EngineLimits()
            limits.connectionsPerOrigin = try queue.connectionsPerOrigin()
            return .limits(limits)
        case .setLimits(let limits):
            var other = limits
            other.connectionsPerOrigin = nil
            guard other == EngineLimits(), let connections = limits.connectionsPerOrigin else {
                throw FleetError(.invalidArgument, "the only limit of a fleet is its connections per origin; give it")
            }
            try queue.setConnectionsPerOrigin(connections)
            return .done
        case .engine:
            return .engine(
                EngineInfo(
                    processID: hello.process, version: Versions.current.library, isDaemon: false,
                    startedMilliseconds: startedMilliseconds, connections: 1))
        case .challenges(let handle):
            _ = try session(handle)
            return .challenges([])
        case .waits(let handle, _), .waitsOfTasks(let handle, _):
            _ = try session(handle)
            return .waits([], more: false)
        case .activities(let handle):
            _ = try session(handle)
            return .activities([])
        case .watchProgress(let handle, _):
            // Progress is on the workers. The client's stream stays empty.
            _ = try session(handle)
            return .done
        case .conditions: return .conditions([])
        case .holds: return .holds([])
        case .networks: return .networks([])
        case .launches: return .launches([])
        case .currentLaunch: return .currentLaunch(nil)
        default:
            throw FleetError(
                .invalidArgument, "a store in PostgreSQL has no \(command.subject); use a local store for it")
        }
    }

    // MARK: Handles

    private func open(
        _ handle: HandleID, _ role: Role, _ name: String, _ find: () throws(FleetError) -> HostQueue.OpenedSession
    ) throws(FleetError) -> Reply {
        let opened = try find()
        if role == .consume {
            guard try queue.claimEvents(of: opened.id, for: consumer(handle)) else {
                return .failed(
                    Failure(.inUse, "another handle consumes the session \(name); close it, or wait for the session"))
            }
        }
        handles[handle] = OpenHandle(session: opened.id, role: role)
        return .session(
            opened.id, isNew: opened.isNew, newestEvent: opened.newest, unacknowledged: opened.unacknowledged)
    }

    /// Returns nil if the opening waits for the session.
    private func deferred(_ reply: Reply, waits: Bool, _ opening: Waiting) -> Reply? {
        guard waits, case .failed(let failure) = reply, failure.status == .inUse else { return reply }
        waiting.append(opening)
        return nil
    }

    private func stopWaiting(_ handle: HandleID) {
        cancelled += waiting.filter { $0.handle == handle }.map(\.sequence)
        waiting.removeAll { $0.handle == handle }
    }

    private func consumer(_ handle: HandleID) -> Consumer {
        Consumer(handle: "\(hello.client.text)/\(handle.rawValue)", process: process)
    }

    private func close(_ handle: HandleID) throws(FleetError) {
        // If an earlier connection ended before its release of the handle, only the client knows this handle.
        handles[handle] = nil
        try queue.releaseEvents(from: consumer(handle).handle, application: application)
    }

    /// Gives up the rights of all handles.
    func close() throws(FleetError) {
        for handle in handles.keys { try close(handle) }
    }

    private func opened(_ handle: HandleID) throws(FleetError) -> OpenHandle {
        guard let open = handles[handle] else { throw FleetError(.invalidHandle, "the session is not attached") }
        return open
    }

    private func session(_ handle: HandleID) throws(FleetError) -> SessionID { try opened(handle).session }

    private func changing(_ handle: HandleID) throws(FleetError) -> SessionID {
        let open = try opened(handle)
        guard open.role.mayChange else {
            throw FleetError(.wrongRole, "the handle only observes; attach the session to produce or consume")
        }
        return open.session
    }

    private func consuming(_ handle: HandleID) throws(FleetError) -> SessionID {
        let open = try opened(handle)
        guard open.role == .consume else {
            throw FleetError(.wrongRole, "only a handle that consumes the session reads its events")
        }
        // The next tick may come later than this command, if this process was stopped.
        if try queue.isConsumed(open.session, byOtherThan: consumer(handle).handle) {
            throw FleetError(
                .inUse,
                "another handle consumes the session now, because this process was stopped for a long time; attach "
                    + "the session again")
        }
        return open.session
    }

    // MARK: Tasks and events

    private func enqueue(
        _ requests: [Request], by handle: HandleID, _ command: CommandID, repliedThrough: UInt64
    ) throws(FleetError) -> [Enqueued] {
        let session = try changing(handle)
        let configuration = try queue.configuration(of: session)
        var checked: [FleetRequest] = []
        checked.reserveCapacity(requests.count)
        for (index, request) in requests.enumerated() {
            do throws(Failure) {
                checked.append(try FleetRequest(request, in: configuration))
            } catch var failure {
                failure.index = UInt64(index)
                throw FleetError(failure)
            }
        }
        return try Enqueue(database: database, session: session).run(checked, command, repliedThrough: repliedThrough)
    }

    private func complete(_ session: SessionID, _ deliveredThrough: EventID) throws(FleetError) {
        let count = try queue.countEvents(of: session, through: deliveredThrough)
        guard count > 0 else { return }
        throw FleetError(
            Failure(
                .eventsOutstanding,
                "\(count) events were returned and not acknowledged; acknowledge them, then complete",
                detail: Int64(clamping: count)))
    }

    /// Renews the rights to read events. Returns the news for the client: new events, removed sessions, and the replies
    /// to openings that have waited.
    func tick() throws(FleetError) -> [EngineMessage] {
        var messages: [EngineMessage] = []
        let news = try queue.news(of: application)
        for one in news {
            guard let id = one.newest, id > newest[one.session] ?? .zero else { continue }
            newest[one.session] = id
            messages.append(.notice(.event(identifier: one.name, newest: id)))
        }
        let open = Set(news.map(\.session))
        newest = newest.filter { open.contains($0.key) }
        for (handle, session) in handles where !open.contains(session.session) {
            handles[handle] = nil
            messages.append(.notice(.removed(handle)))
        }
        if renewal.hasPassed {
            for (handle, session) in handles where session.role == .consume && !session.hasLostEvents {
                let isRenewed = try queue.claimEvents(of: session.session, for: consumer(handle))
                // This process was stopped for so long that another handle consumes the session now.
                if !isRenewed { handles[handle]?.hasLostEvents = true }
            }
            renewal = .after(milliseconds: Self.renewalMilliseconds)
        }
        return messages + (try waitingReplies())
    }

    private func waitingReplies() throws(FleetError) -> [EngineMessage] {
        var messages = cancelled.map { sequence in
            EngineMessage.reply(
                sequence: sequence, .failed(Failure(.cancelled, "the wait for the session was given up")))
        }
        cancelled = []
        let openings = waiting
        waiting = []
        for opening in openings {
            if let reply = try perform(opening.command, opening.sequence, repliedThrough: 0) {
                messages.append(.reply(sequence: opening.sequence, reply))
            }
        }
        return messages
    }
}

extension Command {
    /// What a command concerns that a fleet does not have.
    fileprivate var subject: String {
        switch self {
        case .claim: "kept files"
        case .setLaunch: "launch commands"
        case .respond: "challenges"
        case .setNetwork: "settings of networks"
        case .metrics: "metrics"
        case .setActivity, .removeActivity: "activities"
        default: "such command"
        }
    }
}
