internal import CBackhaul

extension Driver {
    // Unsafe: handles are opaque and are never dereferenced. Pointers to results are valid during the call.
    /// A function that starts a verb, and does not wait for the verb's result. A *verb* is a function of the library
    /// that sends a command to the engine. To start a verb, a `Start` calls it with BH_START. The arguments of a
    /// `Start` are the handle of the application or session, and the error.
    typealias Start = (OpaquePointer, UnsafeMutablePointer<bh_error>) -> bh_status
    /// A function that returns a batch, which is a list. Its arguments are the handle, the time-out, the batch and the
    /// error.
    typealias Listing = (
        OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<bh_error>?
    ) -> bh_status

    /// Starts a verb, waits until it has ended, and takes its result.
    ///
    /// If the Swift task is cancelled, the method throws `CancellationError` immediately. If the wait has a limit, the
    /// verb then continues in the engine.
    ///
    /// - Parameter isUnlimited: Whether the method waits without a limit. If it is true, a cancellation of the Swift
    ///   task also ends the verb.
    func verb<Value>(
        isUnlimited: Bool = false, _ start: Start, take: (Outcome) throws(BackhaulError) -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await outcome(of: try Driver.ticket(application, start), isUnlimited: isUnlimited, take: take)
    }

    /// Does the same as `verb`, but for a call that reads the file system. Such a call may block, so the driver's
    /// thread (the application's one thread) makes the call.
    func slowVerb<Value>(
        _ start: @escaping @Sendable (OpaquePointer, UnsafeMutablePointer<bh_error>) -> bh_status,
        take: (Outcome) throws(BackhaulError) -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let ticket = try await perform { application throws(BackhaulError) in try Driver.ticket(application, start) }
        return try await outcome(of: ticket, isUnlimited: false, take: take)
    }

    private func outcome<Value>(
        of ticket: Handle, isUnlimited: Bool, take: (Outcome) throws(BackhaulError) -> Value
    ) async throws -> Value {
        // A ticket stands for the result of a started verb. If this wait throws, the ticket is released later: when the
        // verb ends, or when the application is closed. The ticket of an unlimited wait is released on the driver's
        // thread soon after the cancellation, which ends the verb.
        do {
            try await tickets.wait(for: ticket, isUnlimited: isUnlimited)
        } catch let error as CancellationError {
            if isUnlimited { post { [tickets] _ in tickets.drop(ticket) } }
            throw error
        }
        defer { bh_ticket_release(ticket.pointer) }
        return try take(Outcome(ticket: ticket))
    }

    private static func ticket(_ application: Handle, _ start: Start) throws(BackhaulError) -> Handle {
        try Backhaul.start { error in start(application.pointer, error) }
    }
}
