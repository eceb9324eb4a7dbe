internal import BackhaulModel
internal import BackhaulPlatform

/// The clients of this process that were closed. An engine notices a closed client by the end of its connection. If the
/// engine was dead then, or ended before it recorded the end, the next engine still has the client as a consumer. So
/// each hello lists the closed clients.
final class ClosedClients: Sendable {
    private let list = Lock<[ClientID]>([])
    /// The most clients in the list. Earlier clients are dropped, because an engine has probably released them.
    private static let limit = 64

    // The list belongs to one process, because a forked child has closed none of these clients, and may have inherited
    // a locked lock.
    private static let ofProcess = ProcessLocal<ClosedClients> { _ in ClosedClients() }

    static var all: [ClientID] { ofProcess.current.list.withLock { $0 } }

    static func add(_ client: ClientID) {
        ofProcess.current.list.withLock { list in
            list.append(client)
            if list.count > limit { list.removeFirst() }
        }
    }
}
