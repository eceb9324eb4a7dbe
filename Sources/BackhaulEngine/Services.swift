internal import BackhaulDisk
internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import Synchronization

/// What the engine's loop reaches on other threads.
struct Services: Sendable {
    let store: StoreThread
    let disk: DiskThreads
    let directory: StoreDirectory
    let outbox: Outbox
    let options: EngineOptions

    var welcome: Welcome {
        Welcome(versions: .current, isDaemon: options.isDaemon, process: ProcessIdentity.current.processID)
    }
}

/// The way back to the loop for answers of the store and disk threads, which exist before the loop does.
final class Outbox: Sendable {
    private let loop: Lock<LoopThread<EngineLoop>?> = Lock(nil)

    func open(_ loop: LoopThread<EngineLoop>) { self.loop.withLock { $0 = loop } }

    func post(_ job: @escaping @Sendable (EngineLoop) -> Void) {
        let loop = loop.withLock { $0 }
        loop?.post(job)
    }

    /// The loop owns the engine, the engine this outbox: whoever closes the engine breaks the circle.
    func close() { loop.withLock { $0 = nil } }
}

/// A client's connection to this engine, local or by socket.
struct ConnectionID: Hashable, Sendable {
    private let number: UInt64
    // No lock: a child that was forked while another thread holds one would wait for it for ever.
    private static let last = Atomic<UInt64>(0)

    static func next() -> ConnectionID { ConnectionID(number: last.add(1, ordering: .relaxed).newValue) }
}
