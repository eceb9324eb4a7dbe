internal import BackhaulClient
internal import BackhaulModel
internal import CBackhaul

// Unsafe: the pointers are handles, which are never dereferenced.

/// The object that a handle stands for.
enum HandleTarget: Sendable {
    case application(ApplicationClient)
    case session(SessionClient, ApplicationHandle)
    case ticket(StartedVerb)
    case batch(Batch)

    /// The application that owns the handle. Closing the application also closes the handle.
    var application: HandleNumber? {
        switch self {
        case .application, .batch: nil
        case .session(_, let application): application.number
        case .ticket(let verb): verb.application.number
        }
    }

    fileprivate var kind: String {
        switch self {
        case .application: "an application"
        case .session: "a session"
        case .ticket: "a ticket"
        case .batch: "a batch"
        }
    }
}

/// A handle whose object sends commands to the engine.
protocol ClientHandle {
    associatedtype Client
    var client: Client { get }
    var application: ApplicationHandle { get }
}

extension ClientHandle {
    func start(
        _ kind: StartedVerb.Kind, _ send: (Client) throws(Failure) -> Ticket
    ) throws(Failure) -> StartedVerb {
        StartedVerb(try send(client), kind, application)
    }
}

/// An open application and its handle.
struct ApplicationHandle: ClientHandle, Sendable {
    let number: HandleNumber
    let client: ApplicationClient
    var application: ApplicationHandle { self }

    init(_ pointer: OpaquePointer?) throws(Failure) {
        let (number, target) = try HandleTable.current.target(of: pointer, "application")
        guard case .application(let client) = target else { throw wrongKind("application", target) }
        self.number = number
        self.client = client
    }
}

/// An open session and the application that it belongs to.
struct SessionHandle: ClientHandle {
    let client: SessionClient
    let application: ApplicationHandle

    init(_ pointer: OpaquePointer?) throws(Failure) {
        let (_, target) = try HandleTable.current.target(of: pointer, "session")
        guard case .session(let client, let application) = target else { throw wrongKind("session", target) }
        self.client = client
        self.application = application
    }
}

extension StartedVerb {
    /// The function call (the verb) that a ticket stands for. Nil if the ticket is released. This function does not
    /// throw, because its callers return no status.
    static func find(_ pointer: OpaquePointer?) -> StartedVerb? {
        guard case .ticket(let verb) = HandleTable.current.target(of: pointer) else { return nil }
        return verb
    }

    static func of(_ pointer: OpaquePointer?) throws(Failure) -> StartedVerb {
        let (_, target) = try HandleTable.current.target(of: pointer, "ticket")
        guard case .ticket(let verb) = target else { throw wrongKind("ticket", target) }
        return verb
    }
}

extension Batch {
    /// The batch of a handle. Nil if the handle is not an open batch. This function does not throw, because the
    /// functions that read batches return no status.
    static func of(_ pointer: OpaquePointer?) -> Batch? {
        guard case .batch(let batch) = HandleTable.current.target(of: pointer) else { return nil }
        return batch
    }
}

private func wrongKind(_ name: String, _ target: HandleTarget) -> Failure {
    Failure(.invalidHandle, "\(name) is the handle of \(target.kind)")
}
