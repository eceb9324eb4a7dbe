internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
public import CBackhaul

// A *ticket* stands for a command that was sent to the engine, which runs the tasks. With the ticket, the host reads
// the result later. Unsafe: the host keeps its out parameters writable until the call returns.

@c @implementation
public func bh_application_next_ticket(
    _ application: OpaquePointer?, _ ticket: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let application = try ApplicationHandle(application)
        let ticket = try NumberArgument.required(ticket, "ticket")
        var pointer: OpaquePointer?
        while pointer == nil, let next = application.client.nextTicket() {
            // If another thread has just released a ticket, the ticket has no handle. Such a ticket is skipped.
            pointer = HandleTable.current.pointer(of: next)
        }
        ticket.pointee = pointer
    }
}

@c @implementation
public func bh_ticket_wait(
    _ ticket: OpaquePointer?, _ timeout_ms: Int32, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let verb = try StartedVerb.of(ticket)
        guard let outcome = try verb.outcome(until: Timeout.deadline(timeout_ms)) else {
            throw verb.notCompletedFailure
        }
        if case .enqueued(_, let failure?) = outcome { throw failure }
    }
}

@c @implementation
public func bh_ticket_session(
    _ ticket: OpaquePointer?, _ session: UnsafeMutablePointer<OpaquePointer?>?,
    _ disposition: UnsafeMutablePointer<bh_session_disposition>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let (verb, outcome) = try completedOutcome(ticket) { $0 == .session }
        try verb.deliverSession(outcome, to: NumberArgument.required(session, "session"), disposition)
    }
}

@c @implementation
public func bh_ticket_batch(
    _ ticket: OpaquePointer?, _ batch: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let (verb, outcome) = try completedOutcome(ticket) { kind in
            kind == .batch || kind == .oneTask || kind == .enqueue
        }
        try verb.deliverBatch(outcome, to: NumberArgument.required(batch, "batch"))
    }
}

@c @implementation
public func bh_ticket_count(
    _ ticket: OpaquePointer?, _ count: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<bh_error>?
) -> bh_status {
    Call.immediate(error) { () throws(Failure) in
        let (_, outcome) = try completedOutcome(ticket) { $0 == .count }
        let count = try NumberArgument.required(count, "count")
        if case .reply(.count(let number)) = outcome { count.pointee = number }
    }
}

@c @implementation
public func bh_ticket_set_data(_ ticket: OpaquePointer?, _ data: UnsafeMutableRawPointer?) {
    Call.plain { StartedVerb.find(ticket)?.hostData = UInt(bitPattern: data) }
}

@c @implementation
public func bh_ticket_data(_ ticket: OpaquePointer?) -> UnsafeMutableRawPointer? {
    var data: UInt = 0
    Call.plain { data = StartedVerb.find(ticket)?.hostData ?? 0 }
    return UnsafeMutableRawPointer(bitPattern: data)
}

@c @implementation
public func bh_ticket_release(_ ticket: OpaquePointer?) {
    Call.plain {
        let verb: StartedVerb? = HandleTable.current.remove(ticket) { target in
            if case .ticket(let verb) = target { verb } else { nil }
        }
        verb?.ticket.release()
    }
}

/// The verb of the ticket (the function call that sent the command), and the outcome of this verb. Throws if `isRight`
/// is false for the kind of the verb, if the engine has not replied yet, or if a verb other than an enqueue has failed.
private func completedOutcome(
    _ ticket: OpaquePointer?, _ isRight: (StartedVerb.Kind) -> Bool
) throws(Failure) -> (StartedVerb, Ticket.Outcome) {
    let verb = try StartedVerb.of(ticket)
    guard isRight(verb.kind) else {
        throw Failure(.wrongState, "the ticket's operation has no result of this kind")
    }
    guard let outcome = try verb.outcome(until: nil) else { throw verb.notCompletedFailure }
    return (verb, outcome)
}
