public import BackhaulModel
public import BackhaulPlatform
internal import BackhaulEngine
internal import BackhaulStore
internal import Glibc

/// A client: an application that a host has opened. The client finds the engine of its store, or starts one. Then the
/// client sends commands to the engine. If an engine dies, the client sends the commands that have no reply yet to the
/// next engine. The client buffers events, progress and replies until the host reads them. Any thread may use the
/// client.
public final class ApplicationClient: Sendable {
    let state: Lock<ClientState>
    private let descriptor: EventFD
    public let storePath: String
    private let thread: Lock<Thread?> = Lock(nil)

    /// Opens the store. If there is a deadline, waits for the first reply of an engine, and throws if no engine can be
    /// found. If the deadline is nil, the call does not wait, and the first command reports such a failure.
    public static func open(
        _ options: ApplicationOptions, until deadline: Deadline?
    ) throws(Failure) -> ApplicationClient {
        try SessionCheck.checkApplication(options.application)
        let client: ApplicationClient
        do {
            client = try ApplicationClient(options)
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(.outOfResources, "the client's thread or descriptor cannot be made: \(error)")
        }
        guard let deadline else { return client }
        let failure: Failure? =
            client.state.wait(until: deadline) { state -> Failure?? in
                switch state.link {
                case .connected: .some(nil)
                case .failed(let failure, retry: _): .some(failure)
                case .connecting, .closed: nil
                }
            } ?? client.timeoutFailure(hasTicket: false)
        if let failure {
            client.close()
            throw failure
        }
        return client
    }

    private init(_ options: ApplicationOptions) throws {
        if options.remoteStore == nil { try Self.checkStore(options) }
        storePath = options.storePath
        descriptor = try EventFD()
        state = Lock(ClientState(options, descriptor: descriptor))
        let connector = EngineConnector(path: options.storePath, hosting: options.hosting, state: state)
        let remote = options.remoteStore.map { RemoteConnector(store: $0, state: state) }
        let thread = try Thread(name: "bh-client") { remote?.run() ?? connector.run() }
        self.thread.withLock { $0 = thread }
    }

    /// Opens the store, so that a bad path is reported before the client's thread opens the store again.
    private static func checkStore(_ options: ApplicationOptions) throws(Failure) {
        if options.hosting.isDaemon {
            try DaemonStarter(path: options.hosting.daemonPath).checkProgram(forStore: options.storePath)
        }
        _ = try StoreDirectory.open(path: options.storePath)
    }

    /// The descriptor that is readable while the host has something to read:
    /// - a session that needs attention, for example because of new events, and has not been reported yet. While a poll
    ///   of the session is under way, its events do not count: the poll returns them, and the host has nothing to do
    /// - the failure of a client that has lost its engine and finds no other one, until `poll` has thrown the failure.
    ///   Until an engine serves the client again, sessions that need attention do not count
    /// - the outcome of a command for which the host has requested a notification (`Ticket.announce`). The host has a
    ///   *ticket*, an object that stands for the command.
    public var eventDescriptor: Int32 { descriptor.number }

    /// Gives up the roles of all session handles, and disconnects from the engine. A *role* is a right of a handle,
    /// such as the right to read events. If the engine runs in this process, the engine stops when its last client is
    /// closed. The call returns after a limited time, even if a call of the client's thread or of the engine hangs.
    public func close() {
        let deadline = Deadline.after(milliseconds: LocalEngines.stopMilliseconds)
        let (waiting, transport) = state.change { $0.close() }
        transport?.close()
        for completion in waiting { completion(.failed(ClientState.closedFailure)) }
        thread.withLock { thread in
            if thread?.isCurrent == false { thread?.join(until: deadline) }
            thread = nil
        }
    }

    // MARK: Verbs, which send commands to the engine

    /// Creates a session. `waits`: whether the engine waits while another handle has the right to read the session's
    /// events. If so, the ticket gets its outcome only after that handle has given up this right.
    public func createSession(_ configuration: SessionConfiguration, _ role: Role, waits: Bool = false) -> Ticket {
        open(role, configuration.identifier, waits) { .createSession(configuration, role, $0, waits: waits) }
    }

    public func attachSession(_ identifier: String, _ role: Role, waits: Bool = false) -> Ticket {
        open(role, identifier, waits) { .attachSession(identifier: identifier, role, $0, waits: waits) }
    }

    /// Sends a command that concerns no session, or all sessions. The outcome is the engine's reply.
    public func submit(_ command: Command) -> Ticket {
        let ticket = makeTicket()
        send(command) { ticket.complete(with: .reply($0)) }
        return ticket
    }

    /// Lists the sessions of the application.
    public func sessions() -> Ticket {
        let ticket = makeTicket()
        listSessions { ticket.complete(with: .reply($0)) }
        return ticket
    }

    /// Joins the pages of the engine's listing of the sessions. `found`: the sessions of the earlier pages.
    private func listSessions(_ found: [SessionInfo] = [], then: @escaping @Sendable (Reply) -> Void) {
        send(.sessions(after: found.last?.identifier ?? "")) { [weak self] reply in
            guard case .sessions(let page, let more) = reply else { return then(reply) }
            guard more, let self else { return then(.sessions(found + page, more: false)) }
            listSessions(found + page, then: then)
        }
    }

    /// Waits until there are sessions that need attention and have not been reported yet. Returns these sessions; none
    /// if the deadline has passed. If the engine does not list its sessions in time, throws a failure, and a later poll
    /// uses the listing. If no engine can be used, throws the failure, and makes the client search for an engine again.
    public func poll(until deadline: Deadline) throws(Failure) -> [SessionInfo] {
        repeat {
            let isWanted = state.wait(until: deadline) { state -> Bool? in
                state.failure != nil || state.attention.hasUnreported ? true : nil
            }
            guard isWanted != nil else { return [] }
            if let failure = state.change({ $0.takeFailure() }) { throw failure }
            guard let requested = listing() else { continue }
            guard let outcome = outcome(of: requested, until: deadline) else {
                throw timeoutFailure(hasTicket: false)
            }
            guard let listing = state.change({ $0.takeListing(requested.ticket) }) else { continue }
            switch outcome {
            case .reply(.sessions(let infos, _)):
                let found = infos.filter { listing.unreported.contains($0.identifier) && $0.needsAttention }
                state.change { $0.reported(listing.unreported, infos) }
                if !found.isEmpty { return found }
            case .reply(.failed(let failure)): throw failure
            default: return []
            }
        } while !deadline.hasPassed
        return []
    }

    /// How long a poll waits for the engine's listing, even if the host's deadline is earlier.
    private static let listingMilliseconds: Int64 = 1_000

    /// Returns the present listing. If there is none, requests one. Returns nil if no session needs attention any more.
    private func listing() -> AttentionListing? {
        let new = makeTicket()
        let listing = state.withLock { $0.currentListing(orNew: new) }
        if listing?.ticket === new {
            listSessions { [state] reply in
                new.complete(with: .reply(reply))
                state.change { $0.listingArrived(new) }
            }
        }
        return listing
    }

    /// Waits for the listing. If an earlier poll has already waited for it, waits only until the host's deadline.
    private func outcome(of listing: AttentionListing, until deadline: Deadline) -> Ticket.Outcome? {
        let milliseconds = listing.isLate ? 0 : Self.listingMilliseconds
        if let outcome = outcome(of: listing.ticket, until: deadline, replyMilliseconds: milliseconds) {
            return outcome
        }
        state.change { $0.markListingLate(listing.ticket) }
        // The outcome may have come before the listing was marked as late. Then no other call makes an edge.
        return listing.ticket.wait(until: nil)
    }

    /// How long a call waits before it checks whether the engine's process is stopped.
    private static let stopCheckMilliseconds: Int64 = 100

    /// Waits for the engine's reply to a poll until the deadline, but at least for `replyMilliseconds`. If the process
    /// of the engine is stopped, waits only until the deadline.
    func outcome(of ticket: Ticket, until deadline: Deadline, replyMilliseconds: Int64) -> Ticket.Outcome? {
        let replyDeadline = Deadline.after(milliseconds: max(replyMilliseconds, deadline.millisecondsLeft))
        let atLeast = min(Self.stopCheckMilliseconds, replyMilliseconds)
        let first = Deadline.after(milliseconds: max(atLeast, deadline.millisecondsLeft))
        if let outcome = ticket.wait(until: first) { return outcome }
        return ticket.wait(until: timeoutFailure().status == .engineUnresponsive ? nil : replyDeadline)
    }

    /// Returns the next ticket that has its outcome, and for which the host has requested a notification
    /// (`Ticket.announce`). Each ticket is returned only one time.
    public func nextTicket() -> Ticket? {
        state.change { $0.dequeueAnnounced() }
    }

    /// The failure of a wait that timed out. `hasTicket`: whether the outcome can still be read from a ticket.
    public func timeoutFailure(hasTicket: Bool = true) -> Failure {
        state.withLock { $0.timeoutFailure(hasTicket: hasTicket) }
    }

    // MARK: Commands

    private func open(
        _ role: Role, _ identifier: String, _ waits: Bool, _ command: (HandleID) -> Command
    ) -> Ticket {
        let session: SessionClient
        do {
            session = try SessionClient(application: self, identifier: identifier, role: role)
        } catch {
            return completedTicket(.failed(Failure.system(.outOfResources, code: error.code, error.description)))
        }
        let handle = session.handle
        let waitingFor =
            "another handle still consumes the session \(identifier); the ticket waits until that handle is closed"
        let ticket = makeTicket(
            abandoned: { [weak self] in
                if waits { self?.send(.stopWaiting(handle)) { _ in } }
            }, waitingFor: waits ? waitingFor : nil)
        send(command(handle)) { [state] reply in
            if case .session(_, let isNew, let newest, let unacknowledged) = reply {
                state.change { $0.attached(handle, newest: newest, unacknowledged: unacknowledged) }
                ticket.complete(with: .session(session, isNew: isNew))
            } else {
                state.change { $0.sessions[handle] = nil }
                ticket.complete(with: .reply(reply))
            }
        }
        return ticket
    }

    func makeTicket(
        abandoned: @escaping @Sendable () -> Void = {}, unread: @escaping @Sendable (Ticket.Outcome) -> Void = { _ in },
        waitingFor: String? = nil
    ) -> Ticket {
        Ticket(
            announced: { [weak self] ticket in self?.state.change { $0.announce(ticket) } },
            withdrawn: { [weak self] ticket in self?.state.change { $0.withdraw(ticket) } }, abandoned: abandoned,
            unread: unread, waitingFor: waitingFor)
    }

    /// Returns a ticket that already has this reply as its outcome. No command is sent to the engine.
    func completedTicket(_ reply: Reply) -> Ticket {
        let ticket = makeTicket()
        ticket.complete(with: .reply(reply))
        return ticket
    }

    /// Sends a command. `then` is called one time with the reply, on any thread. While `then` runs, the thread owns no
    /// lock of the client.
    func send(_ command: Command, then: @escaping @Sendable (Reply) -> Void) {
        if let failure = state.change({ $0.send(command, then) }) { then(.failed(failure)) }
    }
}
