internal import CBackhaul

/// A verb: a function of the library that sends a command to the engine, and has a result later. Each verb of a session
/// or an application is described one time. The methods of `Session` and `Application` suspend the Swift task until the
/// verb has ended. `BlockingSession` and `BlockingApplication` block the thread.
package struct Verb<Owner, Value>: @unchecked Sendable {
    // Unchecked: the closures read only copies of the arguments, and one thread at a time calls them.
    // Unsafe: handles are opaque and are never dereferenced. The arena owns the copies to which the arguments point.
    /// Calls the function with BH_START, so it does not wait for its result. The arguments are the handle of the
    /// application or session, and the error.
    typealias Start = (OpaquePointer, UnsafeMutablePointer<bh_error>) -> bh_status
    /// A function that returns a batch. Its arguments are the handle, the time-out, the batch and the error.
    typealias Listing = (
        OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<bh_error>?
    ) -> bh_status

    /// The result of a verb that has nothing to do.
    let known: Value?
    /// Whether the function reads the file system before it returns.
    let isSlow: Bool
    /// Whether the wait for the result has no limit.
    let isUnlimited: Bool
    private let start: Start
    private let arena: Arena
    private let take: (Outcome) throws(BackhaulError) -> Value

    /// - Parameters:
    ///   - arena: The owner of the memory to which the arguments point.
    ///   - known: The result, if the verb has nothing to do.
    init(
        _ arena: Arena = Arena(), known: Value? = nil, isSlow: Bool = false, isUnlimited: Bool = false,
        _ start: @escaping Start, take: @escaping (Outcome) throws(BackhaulError) -> Value
    ) {
        self.arena = arena
        self.known = known
        self.isSlow = isSlow
        self.isUnlimited = isUnlimited
        self.start = start
        self.take = take
    }

    static func listing(_ list: @escaping Listing, _ take: @escaping (borrowing Batch) -> Value) -> Verb {
        batch(Arena(), { list($0, BH_START, nil, $1) }, take)
    }

    static func batch(
        _ arena: Arena, known: Value? = nil, _ start: @escaping Start,
        _ take: @escaping (borrowing Batch) -> Value
    ) -> Verb {
        Verb(arena, known: known, start) { outcome throws(BackhaulError) in take(try outcome.batch()) }
    }

    /// Starts the verb, and returns its ticket.
    func ticket(_ handle: Handle) throws(BackhaulError) -> Handle {
        try withExtendedLifetime(arena) { () throws(BackhaulError) in
            try Backhaul.start { error in start(handle.pointer, error) }
        }
    }

    /// Returns the result of the verb, which has ended. Throws its error, if it has failed.
    func result(_ ticket: Handle) throws(BackhaulError) -> Value {
        let outcome = Outcome(ticket: ticket)
        try outcome.done()
        return try take(outcome)
    }
}

extension Verb where Value == Void {
    init(_ arena: Arena = Arena(), _ start: @escaping Start) { self.init(arena, start) { _ in } }
}

extension Verb where Value == UInt64 {
    /// A verb whose result is the number of changed items.
    static func counting(_ arena: Arena = Arena(), known: UInt64? = nil, _ start: @escaping Start) -> Verb {
        Verb(arena, known: known, start) { outcome throws(BackhaulError) in try outcome.count() }
    }
}

extension Driver {
    /// Starts a verb, waits until it has ended, and returns its result.
    ///
    /// If the Swift task is cancelled, the method throws `CancellationError` immediately. If the wait has a limit, the
    /// verb then continues in the engine. Otherwise the cancellation also ends the verb.
    ///
    /// - Parameter handle: The session of the verb. Nil means the application.
    func run<Owner, Value>(_ verb: Verb<Owner, Value>, _ handle: Handle? = nil) async throws -> Value {
        try Task.checkCancellation()
        let ticket: Handle
        if verb.isSlow {
            // The call may block, so the driver's thread makes it.
            ticket = try await perform { application throws(BackhaulError) in try verb.ticket(handle ?? application) }
        } else {
            ticket = try verb.ticket(handle ?? application)
        }
        return try await result(of: verb, ticket)
    }

    /// Waits until the started verb has ended, and returns its result.
    func result<Owner, Value>(of verb: Verb<Owner, Value>, _ ticket: Handle) async throws -> Value {
        // If this wait throws, the ticket is released later: when the verb ends, or when the application is closed. The
        // ticket of an unlimited wait is released on the driver's thread soon after the cancellation, which ends the
        // verb.
        do {
            try await tickets.wait(for: ticket, isUnlimited: verb.isUnlimited)
        } catch let error as CancellationError {
            if verb.isUnlimited { post { [tickets] _ in tickets.drop(ticket) } }
            throw error
        }
        defer { bh_ticket_release(ticket.pointer) }
        return try verb.result(ticket)
    }
}
