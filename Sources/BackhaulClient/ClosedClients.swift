internal import BackhaulModel
internal import BackhaulPlatform

/// The closed clients of this process. A *client* is one application handle that the process has opened with the
/// library. It is connected to the engine, which runs the tasks. When a client is closed, its connection ends, so the
/// engine notices the close. But if no engine was running, or if the engine ended before it recorded the close, the
/// next engine still reserves sessions for the client. So each hello, the first message to an engine, lists the closed
/// clients.
final class ClosedClients: Sendable {
    private let list = Lock<[ClientID]>([])
    /// The limit on the clients in the list. If the list exceeds the limit, the earliest client is dropped, because an
    /// engine has probably released the sessions of this client.
    private static let limit = 64

    // Each process has its own list. A forked child has closed none of the clients in its parent's list, and the lock
    // of that list may be locked in the child.
    private static let ofProcess = ProcessLocal<ClosedClients> { _ in ClosedClients() }

    static var all: [ClientID] { ofProcess.current.list.withLock { $0 } }

    static func add(_ client: ClientID) {
        ofProcess.current.list.withLock { list in
            list.append(client)
            if list.count > limit { list.removeFirst() }
        }
    }
}
