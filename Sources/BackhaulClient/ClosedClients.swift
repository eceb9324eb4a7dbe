internal import BackhaulModel
internal import BackhaulPlatform

/// The closed clients of this process. When a client is closed, its connection ends, so the engine notices the close.
/// But if no engine was running, or if the engine ended before it recorded the close, the next engine still reserves
/// sessions for the client. So each hello, the first message to an engine, lists the closed clients.
enum ClosedClients {
    private static let list = Lock<[ClientID]>([])
    /// The limit on the clients in the list. If the list exceeds the limit, the earliest client is dropped, because an
    /// engine has probably released the sessions of this client.
    private static let limit = 64

    static var all: [ClientID] { list.withLock { $0 } }

    static func add(_ client: ClientID) {
        list.withLock { list in
            list.append(client)
            if list.count > limit { list.removeFirst() }
        }
    }
}
