internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform

/// A verb on its way to the engine, or back: what a `bh_ticket` stands for.
final class StartedVerb: Sendable {
    /// Which results the verb has.
    enum Kind: Equatable, Sendable {
        case nothing
        case count
        case session
        case batch
        /// A batch of one task, or `notFound`.
        case oneTask
        case enqueue
    }

    let ticket: Ticket
    let kind: Kind
    let application: ApplicationHandle
    private let isTaken = Lock(false)
    private let data = Lock<UInt>(0)

    init(_ ticket: Ticket, _ kind: Kind, _ application: ApplicationHandle) {
        self.ticket = ticket
        self.kind = kind
        self.application = application
    }

    /// An address that the host keeps with its ticket.
    var hostData: UInt {
        get { data.withLock { $0 } }
        set { data.withLock { $0 = newValue } }
    }

    /// Nil when the engine has not replied by then. A nil deadline does not wait.
    func outcome(until deadline: Deadline?) throws(Failure) -> Ticket.Outcome? {
        guard let outcome = ticket.wait(until: deadline) else { return nil }
        return try kind.checked(outcome)
    }

    /// Lays the outcome out as the batch that the host gets.
    func batch(of outcome: Ticket.Outcome) throws(Failure) -> Batch {
        guard case .reply(let reply) = outcome else { throw Self.otherReply }
        return try Batch(reply, storePath: application.client.storePath)
    }

    /// Lets one caller have what only one can own: the session or batch of the answer.
    func take() throws(Failure) {
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFirst else { throw Failure(.wrongState, "the ticket's result was taken already") }
    }

    /// Forgets the verb, which goes on. A session that nobody took is closed, and events that nobody took are still to
    /// be handed out.
    func release() {
        ticket.release(isRead: isTaken.withLock { $0 })
        // A wait alone counts as taking for the ticket, but gives the host no handle to close.
        guard kind == .session, case .session(let client, _) = ticket.wait(until: nil) else { return }
        do throws(Failure) {
            try take()
            client.close()
        } catch {}
    }

    /// Why a wait ended before the verb did: the engine is slow, or its process is stopped.
    var unanswered: Failure {
        let failure = application.client.timeoutFailure()
        guard let waitingFor = ticket.waitingFor, failure.status == .timeout else { return failure }
        return Failure(.timeout, waitingFor)
    }

    static let otherReply = Failure(
        .internal, "the engine answered another question than was asked; please report it")
}

extension StartedVerb.Kind {
    /// The outcome as that of a verb of this kind. Throws why the verb failed, or that the reply is one to another
    /// command. An enqueue that failed has an outcome, too: what became of each request.
    func checked(_ outcome: Ticket.Outcome) throws(Failure) -> Ticket.Outcome {
        switch (self, outcome) {
        case (.enqueue, .reply(.failed(let failure))): return .enqueued(EnqueuedList(), failure)
        case (_, .reply(.failed(let failure))): throw failure
        case (.oneTask, .reply(.tasks(let tasks, _))):
            guard tasks.count == 1 else { throw Failure(.notFound, "the session has no such task") }
            return .reply(.tasks(tasks, more: false))
        case (.batch, .reply(let reply)) where reply.isListing: return outcome
        // Some replies count where the header promises nothing.
        case (.nothing, .reply(.done)), (.nothing, .reply(.completed)), (.nothing, .reply(.count)),
            (.count, .reply(.count)), (.session, .session), (.enqueue, .enqueued):
            return outcome
        default: throw StartedVerb.otherReply
        }
    }
}
