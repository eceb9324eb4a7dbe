public import BackhaulModel
public import BackhaulPlatform

/// The outcome of a verb that was started: answered once, kept until released.
public final class Ticket: Sendable {
    public enum Answer: Sendable {
        case failed(Failure)
        case done
        case count(UInt64)
        case session(SessionClient, isNew: Bool)
        case configuration(SessionConfiguration)
        /// The applied prefix, and why the rest was refused.
        case enqueued(EnqueuedList, Failure?)
        case events([Event], more: Bool)
        case tasks([TaskInfo], more: Bool)
        case sessions([SessionInfo])
        case engine(EngineInfo)
        case launches([LaunchInfo])
        case currentLaunch(CurrentLaunch?)
        case challenges([Challenge])
        case attempts([Attempt])
        case limits(EngineLimits)
        case waits([Wait])
        case conditions([ConditionInfo])
        case holds([HoldInfo])
        case networks([NetworkInfo])
        case activities([ActivityInfo])
    }

    private struct State {
        var answer: Answer?
        var isAnnounced = false
        var isReleased = false
        var sessionWasTaken = false
    }

    private let state = Lock(State())
    private let announced: @Sendable (Ticket) -> Void
    private let withdrawn: @Sendable (Ticket) -> Void
    private let abandoned: @Sendable () -> Void
    private let unread: @Sendable (Answer) -> Void
    /// What the engine itself waits for before it answers, as a sentence; nil when it answers at once.
    public let waitingFor: String?

    /// - announced: called when the answer of an announced ticket has come.
    /// - withdrawn: called when an announced ticket was released.
    /// - abandoned: called when it was released before its answer came.
    /// - unread: called with an answer that nobody gets to see, because the ticket was released.
    init(
        announced: @escaping @Sendable (Ticket) -> Void, withdrawn: @escaping @Sendable (Ticket) -> Void,
        abandoned: @escaping @Sendable () -> Void, unread: @escaping @Sendable (Answer) -> Void = { _ in },
        waitingFor: String? = nil
    ) {
        self.waitingFor = waitingFor
        self.announced = announced
        self.withdrawn = withdrawn
        self.abandoned = abandoned
        self.unread = unread
    }

    /// Nil: not yet. A nil deadline does not wait.
    public func wait(until deadline: Deadline?) -> Answer? {
        state.wait(until: deadline ?? .after(milliseconds: 0)) { state in
            guard let answer = state.answer else { return nil }
            if case .session = answer { state.sessionWasTaken = true }
            return answer
        }
    }

    public var isAnswered: Bool { state.withLock { $0.answer != nil } }

    /// Nobody will fetch it.
    var isReleased: Bool { state.withLock { $0.isReleased } }

    /// The started form: the application's event descriptor tells of the answer, and `nextTicket` hands it out.
    public func announce() {
        let isAnswered = state.withLock { state in
            state.isAnnounced = true
            return state.answer != nil
        }
        if isAnswered { announced(self) }
    }

    /// The verb goes on; a session that was not taken is closed. `isRead`: the host has what the answer holds.
    public func release(isRead: Bool = false) {
        let (isFirst, answer, isAnnounced, orphan): (Bool, Answer?, Bool, SessionClient?) = state.withLock { state in
            let isFirst = !state.isReleased
            state.isReleased = true
            return (isFirst, state.answer, state.isAnnounced, isFirst ? Ticket.orphan(state) : nil)
        }
        orphan?.close()
        if isFirst {
            if let answer {
                if !isRead { unread(answer) }
            } else {
                abandoned()
            }
        }
        if isAnnounced { withdrawn(self) }
    }

    func answer(_ answer: Answer) {
        let (isAnnounced, isUnread, orphan): (Bool, Bool, SessionClient?) = state.change { state in
            guard state.answer == nil else { return (false, false, nil) }
            state.answer = answer
            return (state.isAnnounced && !state.isReleased, state.isReleased, Ticket.orphan(state))
        }
        orphan?.close()
        if isUnread { unread(answer) }
        if isAnnounced { announced(self) }
    }

    private static func orphan(_ state: State) -> SessionClient? {
        guard state.isReleased, !state.sessionWasTaken, case .session(let session, _) = state.answer else { return nil }
        return session
    }
}
