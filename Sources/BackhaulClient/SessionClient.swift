public import BackhaulModel
public import BackhaulPlatform

/// A session that a host has opened. The *engine* runs the session's tasks, and stores the session's events: messages
/// for the host. Any thread may use this object.
public final class SessionClient: Sendable {
    public let identifier: String
    public let role: Role
    let handle: HandleID
    let application: ApplicationClient
    private let descriptor: EventFD

    init(application: ApplicationClient, identifier: String, role: Role) throws(SystemError) {
        self.application = application
        self.identifier = identifier
        self.role = role
        let descriptor = try EventFD()
        self.descriptor = descriptor
        handle = application.state.withLock { state in
            let handle = state.nextHandle()
            state.sessions[handle] = AttachedSession(identifier: identifier, role: role, descriptor: descriptor)
            return handle
        }
    }

    /// A descriptor that is readable while the session has events that no poll of this handle has returned. While a
    /// poll of this handle waits for the engine's reply, the descriptor is not readable.
    public var eventDescriptor: Int32 { descriptor.number }

    /// Gives up the handle's role in the session, such as the right to read events. The session's transfers continue.
    public func close() {
        let isKnown = application.state.change { $0.remove(handle) }
        if isKnown { _ = application.submit(.closeSession(handle)) }
    }

    // MARK: Verbs, which send commands to the engine

    /// Sends the command that `make` returns for this object's handle. The outcome is the engine's reply.
    public func submit(_ make: (HandleID) -> Command) -> Ticket {
        if let failure { return application.completedTicket(.failed(failure)) }
        return application.submit(make(handle))
    }

    /// Completes the session: states that the host has processed all events that it has read. If the engine started
    /// this process for this session, the call also ends this object's handle, which is the reference to the session.
    /// After that, a second call does nothing. The call also succeeds if the session was removed: then the host has
    /// processed all events.
    public func complete() -> Ticket {
        if let failure, failure.status != .invalidated {
            return application.completedTicket(failure.status == .completed ? .done : .failed(failure))
        }
        let ticket = application.makeTicket()
        let deliveredThrough = application.state.withLock { $0.sessions[handle]?.returnedThrough ?? .zero }
        application.send(.complete(handle, deliveredThrough: deliveredThrough)) { [application, handle] reply in
            if reply == .completed(endsHandle: true) { application.state.change { $0.completed(handle) } }
            // An engine may not know the handle of a session that is removed or completed. `ClientState` then puts the
            // reason in the place of its reply.
            if case .failed(let failure) = reply, [.invalidated, .completed].contains(failure.status) {
                return ticket.complete(with: .reply(.done))
            }
            ticket.complete(with: .reply(reply))
        }
        return ticket
    }

    public func acknowledge(_ acknowledgement: Acknowledgement) -> Ticket {
        if let failure { return application.completedTicket(.failed(failure)) }
        application.state.withLock { $0.acknowledging(handle, acknowledgement) }
        let ticket = application.makeTicket()
        application.send(.acknowledge(handle, acknowledgement)) { [application, handle] reply in
            application.state.withLock { $0.acknowledged(handle, acknowledgement, reply) }
            ticket.complete(with: .reply(reply))
        }
        return ticket
    }

    public func tasks(_ selection: TaskSelection, after: TaskID, maximum: UInt32) -> Ticket {
        submit { .tasks($0, selection, after: after, maximum: maximum) }
    }

    public func control(_ control: TaskControl, _ selection: TaskSelection) -> Ticket {
        submit { .control($0, control, selection) }
    }

    /// Returns the events that exist now, without waiting for new ones.
    public func poll(after: EventID, maximum: UInt32) -> Ticket {
        if let failure { return application.completedTicket(.failed(failure)) }
        let ticket = application.makeTicket(unread: { [weak application, handle] outcome in
            guard case .reply(.events(let events, _)) = outcome, let first = events.first else { return }
            application?.state.change { $0.unreturn(handle, from: first.id) }
        })
        let pushed = application.state.withLock { $0.takePushed(handle, after: after, maximum: maximum) }
        if let pushed {
            ticket.complete(with: .reply(.events(pushed.events, more: pushed.more)))
            return ticket
        }
        let newest = application.state.withLock { $0.pollBegan(handle) }
        application.send(.poll(handle, after: after, maximum: maximum)) { [application, handle] reply in
            if case .events(let events, let more) = reply {
                application.state.change { $0.polled(handle, after: after, events, more: more, newest: newest) }
            }
            // The descriptor becomes readable only after the outcome is set. So a woken host finds the outcome of this
            // poll, and does not poll the same events again.
            ticket.complete(with: .reply(reply)) { application.state.change { $0.pollEnded(handle) } }
        }
        return ticket
    }

    /// How long an engine may take to reply, even if the host's deadline is earlier. For example, an engine may be
    /// syncing to a slow disk. For the host, a late empty reply is better than an error. An engine whose process is
    /// stopped does not reply, so for such an engine the call ends at the host's deadline.
    private static let replyTimeoutMilliseconds: Int64 = 5_000

    /// Waits until an event after `after` exists, or the deadline passes. If the engine replies in time, the returned
    /// ticket has the reply.
    public func poll(after: EventID, maximum: UInt32, until deadline: Deadline) -> Ticket {
        while true {
            let seen = application.state.withLock { $0.sessions[handle]?.newest ?? .zero }
            let ticket = poll(after: after, maximum: maximum)
            let reply = application.outcome(
                of: ticket, until: deadline, replyMilliseconds: Self.replyTimeoutMilliseconds)
            guard case .reply(.events(let events, let more)) = reply, events.isEmpty, !more else { return ticket }
            let hasNewEvents = application.state.wait(until: deadline) { state -> Bool? in
                guard state.failure == nil, let session = state.sessions[handle], session.failure == nil else {
                    return true
                }
                return session.newest > seen ? true : nil
            }
            if hasNewEvents == nil { return ticket }
        }
    }

    static let closedFailure = Failure(.invalidHandle, "the session was closed")

    /// Why this handle does not work any more; nil while it works. The caller passes the failure to the host.
    var failure: Failure? {
        application.state.withLock { state in
            guard state.sessions[handle] != nil else { return Self.closedFailure }
            return state.sessions[handle]?.takeFailure()
        }
    }
}
