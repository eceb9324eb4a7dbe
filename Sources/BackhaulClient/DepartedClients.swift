internal import BackhaulModel
internal import BackhaulPlatform

/// The clients of this process that were closed. An engine notices that by the end of the connection. If it was dead
/// then, or ended before it recorded that, the next engine still has them as consumers. So each hello lists them.
final class DepartedClients: Sendable {
    private let list = Lock<[ClientID]>([])
    /// The most clients in the list. An engine has released the earlier ones.
    private static let limit = 64

    // A forked child has closed none of these clients, and may have inherited a locked lock.
    private static let perProcess = ProcessLocal<DepartedClients> { _ in DepartedClients() }

    static var all: [ClientID] { perProcess.current.list.withLock { $0 } }

    static func add(_ client: ClientID) {
        perProcess.current.list.withLock { list in
            list.append(client)
            if list.count > limit { list.removeFirst() }
        }
    }
}
