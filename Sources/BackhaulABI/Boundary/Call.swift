internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
internal import CBackhaul

// Unsafe: out parameters are written once, before the call returns; the host promises that they can be until then.

/// The frames of the exported functions: what they throw becomes their status and fills the host's `bh_error`.
enum Call {
    typealias ErrorPointer = UnsafeMutablePointer<bh_error>
    typealias HandlePointer = UnsafeMutablePointer<OpaquePointer?>

    /// A call that does not wait.
    static func immediate(_ error: ErrorPointer?, _ body: () throws(Failure) -> Void) -> bh_status {
        do throws(Failure) {
            try body()
            return Status.ok.rawValue
        } catch let failure {
            return ErrorReport.report(failure, to: error)
        }
    }

    /// The started form of a verb: its ticket gets a handle and counts for the application's descriptor.
    static func started(
        _ ticket: HandlePointer?, _ error: ErrorPointer?, _ start: () throws(Failure) -> StartedVerb
    ) -> bh_status {
        immediate(error) { () throws(Failure) in
            let ticket = try NumberArgument.required(ticket, "ticket")
            let verb = try start()
            ticket.pointee = try handle(of: verb)
            // Last: from now on another thread may be given the ticket.
            verb.ticket.announce()
        }
    }

    /// The blocking form. `deliver` hands the results to the host. When the engine does not answer in time the host is
    /// given the ticket, if it can be.
    static func blocking(
        _ timeout: Int32, _ error: ErrorPointer?, _ start: (Deadline) throws(Failure) -> StartedVerb,
        deliver: (StartedVerb, Ticket.Outcome) throws(Failure) -> Void = { _, _ in }
    ) -> bh_status {
        var unanswered: StartedVerb?
        let status = immediate(error) { () throws(Failure) in
            let deadline = try Timeout.deadline(timeout)
            let verb = try start(deadline)
            guard let outcome = try verb.outcome(until: deadline) else {
                unanswered = verb
                return
            }
            try deliver(verb, outcome)
        }
        guard let unanswered else { return status }
        return timedOut(unanswered, error)
    }

    /// The blocking form of a verb whose result is a batch.
    static func blocking(
        _ timeout: Int32, batch: HandlePointer?, _ name: String, _ error: ErrorPointer?,
        _ start: (Deadline) throws(Failure) -> StartedVerb
    ) -> bh_status {
        blocking(timeout, error) { deadline throws(Failure) in
            _ = try NumberArgument.required(batch, name)
            return try start(deadline)
        } deliver: { verb, outcome throws(Failure) in
            batch?.pointee = try verb.batch(of: outcome).handle()
        }
    }

    /// The blocking form of a verb whose result is a number that the host need not want.
    static func blocking(
        _ timeout: Int32, count: UnsafeMutablePointer<UInt64>?, _ error: ErrorPointer?,
        _ start: () throws(Failure) -> StartedVerb
    ) -> bh_status {
        blocking(timeout, error) { _ throws(Failure) in
            try start()
        } deliver: { _, outcome in
            if case .reply(.count(let number)) = outcome { count?.pointee = number }
        }
    }

    /// The blocking form of a verb whose result is a session.
    static func blocking(
        _ timeout: Int32, session: HandlePointer?, _ disposition: UnsafeMutablePointer<Int32>?, _ error: ErrorPointer?,
        _ start: () throws(Failure) -> StartedVerb
    ) -> bh_status {
        blocking(timeout, error) { _ throws(Failure) in
            _ = try NumberArgument.required(session, "session")
            return try start()
        } deliver: { verb, outcome throws(Failure) in
            if let session { try verb.deliverSession(outcome, to: session, disposition) }
        }
    }

    private static func handle(of verb: StartedVerb) throws(Failure) -> OpaquePointer {
        do throws(Failure) {
            return try HandleTable.current.insert(.ticket(verb))
        } catch let failure {
            verb.release()
            throw failure
        }
    }

    private static func timedOut(_ verb: StartedVerb, _ error: ErrorPointer?) -> bh_status {
        let failure = verb.unanswered
        guard ErrorReport.isUsable(error) else {
            verb.release()
            return failure.status.rawValue
        }
        do throws(Failure) {
            let ticket = try handle(of: verb)
            let status = ErrorReport.report(failure, ticket: ticket, to: error)
            // From now on it counts for the application's descriptor like the tickets of started verbs.
            verb.ticket.announce()
            return status
        } catch let failure {
            return ErrorReport.report(failure, to: error)
        }
    }
}

extension Batch {
    func handle() throws(Failure) -> OpaquePointer { try HandleTable.current.insert(.batch(self)) }
}

extension StartedVerb {
    /// Gives the session of the outcome a handle, once.
    func deliverSession(
        _ outcome: Ticket.Outcome, to session: Call.HandlePointer, _ disposition: UnsafeMutablePointer<Int32>?
    ) throws(Failure) {
        guard case .session(let client, let isNew) = outcome else { return }
        try take()
        do throws(Failure) {
            session.pointee = try HandleTable.current.insert(.session(client, application))
        } catch let failure {
            client.close()
            throw failure
        }
        disposition?.pointee = Int32(isNew ? BH_SESSION_CREATED : BH_SESSION_ATTACHED)
    }
}
