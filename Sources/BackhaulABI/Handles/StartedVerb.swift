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
        /// Of so many requests.
        case enqueue(Int)
    }

    /// The results of a verb that the engine answered; a verb that failed throws instead.
    enum Outcome: Sendable {
        case nothing
        case count(UInt64)
        case session(SessionClient, isNew: Bool)
        case batch(BatchContent)
        /// What became of each request, as far as that is known, and why some were not applied.
        case enqueued(EnqueuedList, Failure?)
    }

    let ticket: Ticket
    let kind: Kind
    let application: ApplicationHandle
    private let isTaken = Lock(false)

    init(_ ticket: Ticket, _ kind: Kind, _ application: ApplicationHandle) {
        self.ticket = ticket
        self.kind = kind
        self.application = application
    }

    /// Nil when the engine has not answered by then. A nil deadline does not wait.
    func outcome(until deadline: Deadline?) throws(Failure) -> Outcome? {
        guard let answer = ticket.wait(until: deadline) else { return nil }
        if kind == .batch, case .engine(let engine) = answer {
            return .batch(.engine(engine, storePath: application.client.storePath))
        }
        return try StartedVerb.outcome(of: answer, kind)
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

    static func outcome(of answer: Ticket.Answer, _ kind: Kind) throws(Failure) -> Outcome {
        switch (kind, answer) {
        case (.enqueue, .failed(let failure)): return .enqueued(EnqueuedList(), failure)
        case (_, .failed(let failure)): throw failure
        // Some replies count where the header promises nothing.
        case (.nothing, .done), (.nothing, .count): return .nothing
        case (.count, .count(let count)): return .count(count)
        case (.session, .session(let client, let isNew)): return .session(client, isNew: isNew)
        case (.batch, .events(let events, let more)): return .batch(.events(events, more: more))
        case (.batch, .tasks(let tasks, let more)): return .batch(.tasks(tasks, more: more))
        case (.batch, .sessions(let sessions)): return .batch(.sessions(sessions))
        case (.batch, .configuration(let configuration)): return .batch(.configuration(configuration))
        case (.batch, .launches(let launches)): return .batch(.launches(launches))
        case (.batch, .currentLaunch(let launch)): return .batch(.currentLaunch(launch))
        case (.batch, .challenges(let challenges)): return .batch(.challenges(challenges))
        case (.batch, .attempts(let attempts)): return .batch(.attempts(attempts))
        case (.batch, .limits(let limits)): return .batch(.limits(limits))
        case (.batch, .waits(let waits)): return .batch(.waits(waits))
        case (.batch, .conditions(let conditions)): return .batch(.conditions(conditions))
        case (.batch, .holds(let holds)): return .batch(.holds(holds))
        case (.batch, .networks(let networks)): return .batch(.networks(networks))
        case (.batch, .activities(let activities)): return .batch(.activities(activities))
        case (.oneTask, .tasks(let tasks, _)):
            guard tasks.count == 1 else { throw Failure(.notFound, "the session has no such task") }
            return .batch(.tasks(tasks, more: false))
        case (.enqueue, .enqueued(let applied, let failure)): return .enqueued(applied, failure)
        default: throw Failure(.internal, "the engine answered another question than was asked; please report it")
        }
    }
}
