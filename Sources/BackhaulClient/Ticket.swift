public import BackhaulModel
public import BackhaulPlatform

/// An object that stands for a command that was sent to the engine, which runs the tasks. The ticket gets the outcome
/// of the command one time, and keeps the outcome until the ticket is released. If a program *announces* a ticket, it
/// is notified when the outcome comes.
public final class Ticket: Sendable {
    public enum Outcome: Sendable {
        /// The engine's reply, unchanged.
        case reply(Reply)
        /// The session is attached. This replaces the reply to a create or an attach.
        case session(SessionClient, isNew: Bool)
        /// The outcome of an enqueue, whose requests are sent to the engine in chunks. This replaces the replies to the
        /// chunks. It has the known results of the requests, and the failure if some requests did not become tasks.
        case enqueued(EnqueuedList, Failure?)
    }

    private struct State {
        var outcome: Outcome?
        var isAnnounced = false
        var isReleased = false
        var isTaken = false
    }

    private let state = Lock(State())
    private let announced: @Sendable (Ticket) -> Void
    private let withdrawn: @Sendable (Ticket) -> Void
    private let abandoned: @Sendable () -> Void
    private let unread: @Sendable (Outcome) -> Void
    /// A sentence that states what the engine waits for before it replies; nil if the engine replies without waiting.
    public let waitingFor: String?

    /// - announced: called when an announced ticket has its outcome, while the ticket is locked.
    /// - withdrawn: called after an announced ticket was released.
    /// - abandoned: called after the ticket was released before its outcome came.
    /// - unread: called with the outcome if the ticket was released and the host has not taken the outcome.
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

    /// Waits for the outcome until the deadline. Returns nil if there is no outcome by then. If the deadline is nil,
    /// the call does not wait.
    public func wait(until deadline: Deadline?) -> Outcome? {
        state.wait(until: deadline ?? .after(milliseconds: 0)) { state in
            state.outcome
        }
    }

    /// Marks the outcome as taken by the host. Only the first call succeeds, because a session or batch has one owner.
    /// Later calls throw, as do calls after the release.
    public func take() throws(Failure) {
        let before = state.withLock { state in
            defer { state.isTaken = true }
            return state
        }
        if before.isReleased { throw Failure(.wrongState, "the ticket was released") }
        if before.isTaken { throw Failure(.wrongState, "the ticket's result was taken already") }
    }

    public var isCompleted: Bool { state.withLock { $0.outcome != nil } }

    /// Requests a notification: when the outcome comes, the application's event descriptor becomes readable, and
    /// `nextTicket` returns the ticket.
    public func announce() {
        state.withLock { state in
            state.isAnnounced = true
            if state.outcome != nil, !state.isReleased { announced(self) }
        }
    }

    /// Releases the ticket. The command continues. If the outcome is a session that the host has not taken, the session
    /// is closed.
    public func release() {
        let before = state.withLock { state in
            defer { state.isReleased = true }
            return state
        }
        if !before.isReleased {
            if let outcome = before.outcome {
                if !before.isTaken { discard(outcome) }
            } else {
                abandoned()
            }
        }
        if before.isAnnounced { withdrawn(self) }
    }

    private func discard(_ outcome: Outcome) {
        if case .session(let session, _) = outcome { session.close() }
        unread(outcome)
    }

    /// Sets the outcome. Only the first call sets it. `finish`: is called after the outcome is set and the ticket is
    /// announced.
    func complete(with outcome: Outcome, finish: () -> Void = {}) {
        let isLost: Bool = state.change { state in
            // The announcement and `finish` happen under the lock. So when a wait for the outcome returns, both are
            // done.
            defer { finish() }
            guard state.outcome == nil else { return false }
            state.outcome = outcome
            if state.isAnnounced, !state.isReleased { announced(self) }
            return state.isReleased
        }
        if isLost { discard(outcome) }
    }
}
