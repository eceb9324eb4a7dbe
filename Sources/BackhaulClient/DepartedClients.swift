internal import BackhaulModel
internal import BackhaulPlatform

/// The clients of this process that were closed. An engine learns of it from the end of a connection; when it was dead
/// then, or ended before that was written, the next one still knows them as consumers.
final class DepartedClients: Sendable {
    private let list = Lock<[ClientID]>([])
    /// Only the latest clients are kept: an engine has released the earlier ones.
    private static let limit = 64

    // A forked child has closed none of them, and may have inherited the lock as locked.
    private static let perProcess = ProcessLocal<DepartedClients> { _ in DepartedClients() }

    static var all: [ClientID] { perProcess.current.list.withLock { $0 } }

    static func add(_ client: ClientID) {
        perProcess.current.list.withLock { list in
            list.append(client)
            if list.count > limit { list.removeFirst() }
        }
    }
}
