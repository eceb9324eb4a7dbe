internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import Synchronization

/// The objects of an engine outside of its event loop: the store's thread, the threads for disk work, the store's
/// directory, the options, and the mailbox. The mailbox posts the results of these threads to the loop.
struct Services: Sendable {
    let store: StoreThread
    let disk: DiskThreads
    let directory: StoreDirectory
    let mailbox: LoopMailbox
    let options: EngineOptions

    var welcome: Welcome {
        Welcome(versions: .current, isDaemon: options.isDaemon, process: ProcessIdentity.current.processID)
    }
}

/// Posts results of the store and disk threads to the loop. These threads start before the loop exists, so the mailbox
/// gets the loop later (`open`).
final class LoopMailbox: Sendable {
    private let loop: Lock<LoopThread<EngineLoop>?> = Lock(nil)

    func open(_ loop: LoopThread<EngineLoop>) { self.loop.withLock { $0 = loop } }

    func post(_ job: @escaping @Sendable (EngineLoop) -> Void) {
        let loop = loop.withLock { $0 }
        loop?.post(job)
    }

    /// Releases the loop. This breaks a cycle of references: the loop owns the engine, the engine owns this mailbox,
    /// and this mailbox owns the loop.
    func close() { loop.withLock { $0 = nil } }
}

/// The number of a client's connection to this engine, in memory or by socket.
struct ConnectionID: Hashable, Comparable, Sendable {
    private let number: UInt64
    private static let last = Atomic<UInt64>(0)

    static func < (left: ConnectionID, right: ConnectionID) -> Bool { left.number < right.number }

    static func next() -> ConnectionID { ConnectionID(number: last.add(1, ordering: .relaxed).newValue) }
}
