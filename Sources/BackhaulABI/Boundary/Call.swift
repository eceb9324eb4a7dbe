internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
internal import CBackhaul
internal import CBackhaulTables

// Unsafe: out parameters are written once, before the call returns. The host promises that they are writable until the
// call returns.

/// Runs the bodies of the exported functions. A function that sends commands to the engine is called a *verb*. A
/// failure that a body throws becomes the returned status, and is written into the host's `bh_error`.
enum Call {
    typealias ErrorPointer = UnsafeMutablePointer<bh_error>
    typealias HandlePointer = UnsafeMutablePointer<OpaquePointer?>
    typealias DispositionPointer = UnsafeMutablePointer<bh_session_disposition>

    /// Runs the body of a function without a status. In a forked child that must not use the library, the body does not
    /// run.
    static func plain(_ body: () -> Void) { ProcessOrigin.perform(body) }

    /// Runs the body of a function that does not wait for the engine, or that waits without a ticket.
    static func immediate(_ error: ErrorPointer?, _ body: () throws(Failure) -> Void) -> bh_status {
        unlessForked(error) {
            do throws(Failure) {
                try body()
                return ErrorReport.reportSuccess(to: error)
            } catch let failure {
                return ErrorReport.report(failure, to: error)
            }
        }
    }

    /// Returns BH_FORKED in a forked child that must not use the library. The body does not run there: it might wait
    /// for a lock that a thread of the parent had locked at the time of the fork.
    private static func unlessForked(_ error: ErrorPointer?, _ body: () -> bh_status) -> bh_status {
        var status = Status.ok.rawValue
        return ProcessOrigin.perform { status = body() } ? status : bht_report_forked(error)
    }

    /// Runs a verb. `deliver` passes the results to the host. If the operation has not ended by the deadline, the host
    /// gets a *ticket*, with which it can read the result later. With `BH_START` the deadline is nil: the call only
    /// starts the operation, and returns the ticket.
    static func verb(
        _ timeout: Int32, _ error: ErrorPointer?, _ start: (Deadline?) throws(Failure) -> StartedVerb,
        deliver: (StartedVerb, Ticket.Outcome) throws(Failure) -> Void = { _, _ in }
    ) -> bh_status {
        unlessForked(error) {
            do throws(Failure) {
                let deadline = try Timeout.deadlineOrAsync(timeout)
                guard deadline != nil || ErrorReport.isUsable(error) else {
                    throw Failure(
                        .invalidArgument, "error is NULL, but with BH_START it is required: it has the ticket")
                }
                let verb = try start(deadline)
                guard let deadline else { return deliverTicket(of: verb, for: started, error) }
                guard let outcome = try verb.outcome(until: deadline) else {
                    return deliverTicket(of: verb, for: verb.notCompletedFailure, error)
                }
                try deliver(verb, outcome)
                return ErrorReport.reportSuccess(to: error)
            } catch let failure {
                return ErrorReport.report(failure, to: error)
            }
        }
    }

    private static var started: Failure {
        Failure(.started, "the operation was started; read its outcome with the ticket, or release the ticket")
    }

    /// Runs a verb whose result is a batch.
    static func verb(
        _ timeout: Int32, batch: HandlePointer?, _ name: String, _ error: ErrorPointer?,
        _ start: (Deadline?) throws(Failure) -> StartedVerb
    ) -> bh_status {
        verb(timeout, error) { deadline throws(Failure) in
            if deadline != nil { _ = try NumberArgument.required(batch, name) }
            return try start(deadline)
        } deliver: { verb, outcome throws(Failure) in
            if let batch { try verb.deliverBatch(outcome, to: batch) }
        }
    }

    // MARK: Verbs of one command
    // `handle` opens the handle of the host, and `send` sends the command.

    /// Runs a verb whose result is a batch.
    static func verb<Handle: ClientHandle>(
        _ handle: @autoclosure () throws(Failure) -> Handle, _ timeout: Int32, batch: HandlePointer?, _ name: String,
        _ error: ErrorPointer?, _ kind: StartedVerb.Kind = .batch, _ send: (Handle.Client) throws(Failure) -> Ticket
    ) -> bh_status {
        verb(timeout, batch: batch, name, error) { _ throws(Failure) in try handle().start(kind, send) }
    }

    /// Runs a verb without a result.
    static func verb<Handle: ClientHandle>(
        _ handle: @autoclosure () throws(Failure) -> Handle, _ timeout: Int32, _ error: ErrorPointer?,
        _ send: (Handle.Client) throws(Failure) -> Ticket
    ) -> bh_status {
        verb(timeout, error, { _ throws(Failure) in try handle().start(.empty, send) })
    }

    /// Runs a verb whose result is a number. The host may pass NULL for `count`.
    static func verb<Handle: ClientHandle>(
        _ handle: @autoclosure () throws(Failure) -> Handle, _ timeout: Int32, count: UnsafeMutablePointer<UInt64>?,
        _ error: ErrorPointer?, _ send: (Handle.Client) throws(Failure) -> Ticket
    ) -> bh_status {
        verb(timeout, error) { _ throws(Failure) in
            try handle().start(.count, send)
        } deliver: { _, outcome in
            if case .reply(.count(let number)) = outcome { count?.pointee = number }
        }
    }

    /// Runs a verb whose result is a session.
    static func verb<Handle: ClientHandle>(
        _ handle: @autoclosure () throws(Failure) -> Handle, _ timeout: Int32, session: HandlePointer?,
        _ disposition: DispositionPointer?, _ error: ErrorPointer?, _ send: (Handle.Client) throws(Failure) -> Ticket
    ) -> bh_status {
        verb(timeout, error) { deadline throws(Failure) in
            if deadline != nil { _ = try NumberArgument.required(session, "session") }
            return try handle().start(.session, send)
        } deliver: { verb, outcome throws(Failure) in
            if let session { try verb.deliverSession(outcome, to: session, disposition) }
        }
    }

    private static func handle(of verb: StartedVerb) throws(Failure) -> OpaquePointer {
        do throws(Failure) {
            return try HandleTable.current.insert(.ticket(verb))
        } catch let failure {
            verb.ticket.release()
            throw failure
        }
    }

    /// Writes the verb's ticket into the host's `bh_error`. If the host has no usable `bh_error`, the operation
    /// continues without a ticket.
    private static func deliverTicket(
        of verb: StartedVerb, for failure: Failure, _ error: ErrorPointer?
    ) -> bh_status {
        guard ErrorReport.isUsable(error) else {
            verb.ticket.release()
            return failure.status.rawValue
        }
        do throws(Failure) {
            let ticket = try handle(of: verb)
            let status = ErrorReport.report(failure, ticket: ticket, to: error)
            // This is the last step: after the announcement, another thread may get the ticket and release it.
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
    /// Makes a handle (a pointer that stands for an object) for the session in the outcome, and returns the handle to
    /// the host. The outcome can be delivered only once, because a session has one owner. Further deliveries throw.
    func deliverSession(
        _ outcome: Ticket.Outcome, to session: Call.HandlePointer, _ disposition: Call.DispositionPointer?
    ) throws(Failure) {
        guard case .session(let client, let isNew) = outcome else { return }
        try ticket.take()
        do throws(Failure) {
            session.pointee = try HandleTable.current.insert(.session(client, application))
        } catch let failure {
            client.close()
            throw failure
        }
        disposition?.pointee = Int32(isNew ? BH_SESSION_CREATED : BH_SESSION_ATTACHED)
    }

    /// Makes a batch from the outcome, and returns its handle to the host. The outcome can be delivered only once,
    /// because a batch has one owner. Further deliveries throw. An enqueue stores requests as tasks. If it fails, the
    /// batch has the results of the requests that were processed before the failure.
    func deliverBatch(_ outcome: Ticket.Outcome, to batch: Call.HandlePointer) throws(Failure) {
        guard case .enqueued(let enqueued, let failure) = outcome else {
            return try deliver(self.batch(of: outcome), to: batch)
        }
        batch.pointee = nil
        let content = Batch(enqueued)
        if failure == nil || content.count > 0 { try deliver(content, to: batch) }
        if let failure { throw failure }
    }

    private func deliver(_ content: Batch, to batch: Call.HandlePointer) throws(Failure) {
        try ticket.take()
        batch.pointee = try content.handle()
    }
}
