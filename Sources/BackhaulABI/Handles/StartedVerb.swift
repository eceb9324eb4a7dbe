internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform

/// A verb that was sent to the engine, and its result when there is one: the object of a `bh_ticket`.
final class StartedVerb: Sendable {
    /// The kind of the verb's result.
    enum Kind: Equatable, Sendable {
        case nothing
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
    private let isTaken = Lock(false)
    private let data = Lock<UInt>(0)

    init(_ ticket: Ticket, _ kind: Kind, _ application: ApplicationHandle) {
        self.ticket = ticket
        self.kind = kind
        self.application = application
    }

    /// The address that the host has stored with its ticket.
    var hostData: UInt {
        get { data.withLock { $0 } }
        set { data.withLock { $0 = newValue } }
    }

    /// Waits for the outcome. Nil if the engine has not replied until the deadline. A nil deadline does not wait.
    func outcome(until deadline: Deadline?) throws(Failure) -> Ticket.Outcome? {
        guard let outcome = ticket.wait(until: deadline) else { return nil }
        return try kind.checked(outcome)
    }

    /// Makes the batch that the host gets from the outcome.
    func batch(of outcome: Ticket.Outcome) throws(Failure) -> Batch {
        guard case .reply(let reply) = outcome else { throw Self.otherReply }
        return try Batch(reply, storePath: application.client.storePath)
    }

    /// Lets only the first caller have the result, because a session or batch has one owner.
    func take() throws(Failure) {
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFirst else { throw Failure(.wrongState, "the ticket's result was taken already") }
    }

    /// Releases the ticket; the operation continues. A session that was not taken is closed. Events that were not taken
    /// will be delivered again.
    func release() {
        ticket.release(isRead: isTaken.withLock { $0 })
        // A wait counts as taking for the ticket, but the host has no handle to close.
        guard kind == .session, case .session(let client, _) = ticket.wait(until: nil) else { return }
        do throws(Failure) {
            try take()
            client.close()
        } catch {}
    }

    /// Why a wait ended before the verb. The engine is slow, or its process is stopped.
    var unanswered: Failure {
        let failure = application.client.timeoutFailure()
        guard let waitingFor = ticket.waitingFor, failure.status == .timeout else { return failure }
        return Failure(.timeout, waitingFor)
    }

    static let otherReply = Failure(
        .internal, "the engine sent the reply to another command; please report it")
}

extension StartedVerb.Kind {
    /// Checks that the outcome fits this kind of verb. Throws the failure of the verb, or an error if the reply belongs
    /// to another command. A failed enqueue has an outcome, too: the result of each request.
    func checked(_ outcome: Ticket.Outcome) throws(Failure) -> Ticket.Outcome {
        switch (self, outcome) {
        case (.enqueue, .reply(.failed(let failure))): return .enqueued(EnqueuedList(), failure)
        case (_, .reply(.failed(let failure))): throw failure
        case (.oneTask, .reply(.tasks(let tasks, _))):
            guard tasks.count == 1 else { throw Failure(.notFound, "the session has no such task") }
            return .reply(.tasks(tasks, more: false))
        case (.batch, .reply(let reply)) where reply.isListing: return outcome
        // Some replies have a count although the header promises no result.
        case (.nothing, .reply(.done)), (.nothing, .reply(.completed)), (.nothing, .reply(.count)),
            (.count, .reply(.count)), (.session, .session), (.enqueue, .enqueued):
            return outcome
        default: throw StartedVerb.otherReply
        }
    }
}
