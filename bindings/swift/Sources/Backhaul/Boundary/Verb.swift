internal import CBackhaul

extension Driver {
    // Unsafe: handles are opaque and never dereferenced; what they are written to lives for the length of the call.
    /// Starts a verb: the application's handle, where its ticket goes, where its error goes.
    typealias Start = (
        OpaquePointer, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<bh_error>
    ) -> bh_status

    /// Starts a verb, waits for its answer and takes the result.
    ///
    /// When the Swift task is cancelled this throws `CancellationError` at once, and the verb goes on in the engine.
    ///
    /// - Parameter isPatient: wait without a limit, and end the verb when the Swift task is cancelled.
    func verb<Value>(
        isPatient: Bool = false, _ start: Start, take: (Answer) throws(BackhaulError) -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        return try await outcome(of: try Driver.begin(application, start), isPatient: isPatient, take: take)
    }

    /// As `verb`, for those that look at the file system before they are under way: started on the driver's thread.
    func slowVerb<Value>(
        _ start: @escaping @Sendable (
            OpaquePointer, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<bh_error>
        ) -> bh_status, take: (Answer) throws(BackhaulError) -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let ticket = try await perform { application throws(BackhaulError) in try Driver.begin(application, start) }
        return try await outcome(of: ticket, isPatient: false, take: take)
    }

    private func outcome<Value>(
        of ticket: Handle, isPatient: Bool, take: (Answer) throws(BackhaulError) -> Value
    ) async throws -> Value {
        // Not released when this throws: the table does that with the answer, or the application's end.
        do {
            try await tickets.wait(for: ticket, isPatient: isPatient)
        } catch let error as CancellationError {
            if isPatient { post { [tickets] _ in tickets.drop(ticket) } }
            throw error
        }
        defer { bh_ticket_release(ticket.pointer) }
        return try take(Answer(ticket: ticket))
    }

    private static func begin(_ application: Handle, _ start: Start) throws(BackhaulError) -> Handle {
        var ticket: OpaquePointer?
        try check { error in start(application.pointer, &ticket, error) }
        guard let ticket else { throw BackhaulError(BH_INTERNAL) }
        return Handle(pointer: ticket)
    }
}
