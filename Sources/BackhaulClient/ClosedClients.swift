internal import BackhaulModel
internal import BackhaulPlatform

/// The closed clients of this process. When a client is closed, its connection ends. But a connection may also end
/// although its client will connect again, so the engine keeps the stored replies for the client as long as the
/// process is alive. If no engine was running, or if the engine ended before it noticed the end of the connection, the
/// next engine still reserves sessions for the client. So each hello, the first message to an engine, lists the closed
/// clients.
enum ClosedClients {
    private static let list = Lock<[ClientID]>([])
    /// The limit on the clients in the list. If the list exceeds the limit, the earliest client is dropped: an earlier
    /// hello has probably listed it, and engines keep only the last clients of a process.
    private static let limit = 64

    static var all: [ClientID] { list.withLock { $0 } }

    static func add(_ client: ClientID) {
        list.withLock { list in
            list.append(client)
            if list.count > limit { list.removeFirst() }
        }
    }
}
