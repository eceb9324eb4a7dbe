public import BackhaulModel
public import BackhaulPlatform

/// A verb that was started. Its outcome comes once and is kept until the ticket is released.
public final class Ticket: Sendable {
    public enum Outcome: Sendable {
        /// The engine's reply, which is passed on as it came.
        case reply(Reply)
        /// The session is attached. Takes the place of the reply to a create or attach.
        case session(SessionClient, isNew: Bool)
        /// What became of each request, as far as that is known, and why some were not applied. Takes the place of the
        /// replies to the chunks of an enqueue.
        case enqueued(EnqueuedList, Failure?)
    }

    private struct State {
        var outcome: Outcome?
        var isAnnounced = false
        var isReleased = false
        var sessionWasTaken = false

        var untakenSession: SessionClient? {
            if !sessionWasTaken, case .session(let session, _) = outcome { session } else { nil }
        }
    }

    private let state = Lock(State())
    private let announced: @Sendable (Ticket) -> Void
    private let withdrawn: @Sendable (Ticket) -> Void
    private let abandoned: @Sendable () -> Void
    private let unread: @Sendable (Outcome) -> Void
    /// What the engine itself waits for before it replies, as a sentence; nil when it replies at once.
    public let waitingFor: String?

    /// - announced: called when the outcome of an announced ticket has come, with the ticket locked.
    /// - withdrawn: called when an announced ticket was released.
    /// - abandoned: called when the ticket was released before its outcome came.
    /// - unread: called with the outcome when the ticket was released before the host read it.
    init(
        announced: @escaping @Sendable (Ticket) -> Void, withdrawn: @escaping @Sendable (Ticket) -> Void,
        abandoned: @escaping @Sendable () -> Void, unread: @escaping @Sendable (Outcome) -> Void = { _ in },
        waitingFor: String? = nil
    ) {
        self.waitingFor = waitingFor
        self.announced = announced
        self.withdrawn = withdrawn
        self.abandoned = abandoned
        self.unread = unread
    }

    /// Nil: not yet. A nil deadline does not wait.
    public func wait(until deadline: Deadline?) -> Outcome? {
        state.wait(until: deadline ?? .after(milliseconds: 0)) { state in
            guard let outcome = state.outcome else { return nil }
            if case .session = outcome { state.sessionWasTaken = true }
            return outcome
        }
    }

    public var isAnswered: Bool { state.withLock { $0.outcome != nil } }

    /// The started form: the application's event descriptor is readable once the outcome has come, and `nextTicket`
    /// returns the ticket.
    public func announce() {
        state.withLock { state in
            state.isAnnounced = true
            if state.outcome != nil, !state.isReleased { announced(self) }
        }
    }

    /// The verb goes on; a session that was not taken is closed. `isRead`: the host has what the outcome holds.
    public func release(isRead: Bool = false) {
        let (before, orphan): (State, SessionClient?) = state.withLock { state in
            defer { state.isReleased = true }
            return (state, state.isReleased ? nil : state.untakenSession)
        }
        orphan?.close()
        if !before.isReleased {
            if let outcome = before.outcome {
                if !isRead { unread(outcome) }
            } else {
                abandoned()
            }
        }
        if before.isAnnounced { withdrawn(self) }
    }

    /// Only the first outcome counts.
    func complete(with outcome: Outcome) {
        let (isUnread, orphan): (Bool, SessionClient?) = state.change { state in
            guard state.outcome == nil else { return (false, nil) }
            state.outcome = outcome
            // Under the lock: a host that has waited for the outcome finds the ticket among the announced ones.
            if state.isAnnounced, !state.isReleased { announced(self) }
            return (state.isReleased, state.isReleased ? state.untakenSession : nil)
        }
        orphan?.close()
        if isUnread { unread(outcome) }
    }
}
