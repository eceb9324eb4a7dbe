internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform

/// A function call whose command was sent to the engine, which runs the tasks. This object has the result as soon as
/// the engine has replied. A *verb* is a function of the C header that sends commands. A `bh_ticket` is a handle to a
/// started verb.
final class StartedVerb: Sendable {
    /// The kind of the verb's result.
    enum Kind: Equatable, Sendable {
        case empty
        case count
        case session
        case batch
        /// A batch with one task, or the failure `notFound`.
        case oneTask
        case enqueue
    }

    let ticket: Ticket
    let kind: Kind
    let application: ApplicationHandle
    private let data = Lock<UInt>(0)

    init(_ ticket: Ticket, _ kind: Kind, _ application: ApplicationHandle) {
        self.ticket = ticket
        self.kind = kind
        self.application = application
    }

    /// A number or address that the host stores with the ticket. The library does not use it.
    var hostData: UInt {
        get { data.withLock { $0 } }
        set { data.withLock { $0 = newValue } }
    }

    /// Waits for the outcome. Returns nil if the engine has not replied by the deadline. If the deadline is nil, the
    /// call does not wait.
    func outcome(until deadline: Deadline?) throws(Failure) -> Ticket.Outcome? {
        guard let outcome = ticket.wait(until: deadline) else { return nil }
        return try kind.checked(outcome)
    }

    /// Makes a batch from the outcome, for the host.
    func batch(of outcome: Ticket.Outcome) throws(Failure) -> Batch {
        guard case .reply(let reply) = outcome else { throw Self.unexpectedReply }
        return try Batch(reply, storePath: application.client.storePath)
    }

    /// The failure of a call that returns before its verb has an outcome, for example because the engine is slow, or
    /// because the engine's process is stopped.
    var notCompletedFailure: Failure {
        let failure = application.client.timeoutFailure()
        guard let waitingFor = ticket.waitingFor, failure.status == .timeout else { return failure }
        return Failure(.timeout, waitingFor)
    }

    static let unexpectedReply = Failure(
        .internal, "the engine sent the reply to another command; please report it")
}

extension StartedVerb.Kind {
    /// Checks that the outcome fits this kind of verb. Throws the failure of the verb, or an error if the reply has
    /// another kind. If the verb is an enqueue that has failed, this function does not throw. It returns an outcome
    /// with the failure, and with the results of the requests that were stored as tasks before the failure.
    func checked(_ outcome: Ticket.Outcome) throws(Failure) -> Ticket.Outcome {
        switch (self, outcome) {
        case (.enqueue, .reply(.failed(let failure))): return .enqueued(EnqueuedList(), failure)
        case (_, .reply(.failed(let failure))): throw failure
        case (.oneTask, .reply(.tasks(let tasks, _))):
            guard tasks.count == 1 else { throw Failure(.notFound, "the session has no such task") }
            return .reply(.tasks(tasks, more: false))
        case (.batch, .reply(let reply)) where reply.isListing: return outcome
        // For some verbs the engine replies with a count, although the function of the C header has no result.
        case (.empty, .reply(.done)), (.empty, .reply(.completed)), (.empty, .reply(.count)),
            (.count, .reply(.count)), (.session, .session), (.enqueue, .enqueued):
            return outcome
        default: throw StartedVerb.unexpectedReply
        }
    }
}
