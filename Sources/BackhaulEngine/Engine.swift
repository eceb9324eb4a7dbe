public import BackhaulModel
internal import BackhaulLoop
internal import BackhaulDisk
internal import BackhaulPlatform
public import BackhaulStore

/// The single runner of a store: whoever holds its lock makes one. It owns a loop thread, a store thread and a few disk
/// threads, serves clients of this process through memory and those of others through the store's socket.
public final class Engine: Sendable {
    private let loop: LoopThread<EngineLoop>
    private let store: StoreThread
    private let disk: DiskThreads
    private let directory: StoreDirectory
    private let isStopped = Lock(false)
    // Released last: while threads of this engine could still touch the store nobody else may become the engine.
    private let lock: Lock<StoreLock?>

    /// Of the Unix socket in the store's directory.
    public static let socketName = SocketServer.socketName

    /// How long a stopping engine gives its downloads to write and sync what they have.
    private static let stopMilliseconds: Int64 = 800
    /// And then to disks that do not answer.
    private static let diskMilliseconds: Int64 = 100

    /// - ended: called at most once, on the engine's thread, when it is to be stopped, with the reason. It must not
    ///   call back.
    public init(
        directory: StoreDirectory, lock storeLock: StoreLock, options: EngineOptions = .embedded,
        ended: @escaping @Sendable (EngineEnd) -> Void
    ) throws(Failure) {
        self.directory = directory
        store = try StoreThread(directory: directory, lock: storeLock)
        do {
            disk = try DiskThreads(
                count: DiskThreads.usualCount, home: directory.path,
                journal: PartJournal(path: directory.partJournalPath))
        } catch {
            store.close()
            throw Failure(.outOfResources, "the engine's disk threads cannot be started; lower the number of threads")
        }
        let outbox = Outbox()
        let services = Services(store: store, disk: disk, directory: directory, outbox: outbox, options: options)
        do {
            loop = try LoopThread(
                name: "bh-loop",
                make: { loop in try EngineLoop(loop: loop, services: services, ended: ended) },
                broken: { engine in engine.fail(Engine.brokenFailure) })
        } catch {
            disk.close()
            store.close()
            throw (error as? Failure)
                ?? .system(
                    .outOfResources, code: (error as? SystemError)?.code ?? 0,
                    "the engine's loop cannot be started: \(error); \((error as? SystemError)?.advice ?? "try again")")
        }
        lock = Lock(storeLock)
        outbox.open(loop)
        loop.post { engine in engine.begin() }
    }

    /// A client of this process. `deliver` is called on the engine's thread and must neither block nor call back.
    public func connect(_ deliver: @escaping @Sendable (EngineMessage) -> Void) -> LocalPort {
        let id = ConnectionID.next()
        loop.post { engine in engine.receiver.accept(id, isLocal: true, deliver: deliver) }
        return LocalPort(id: id, loop: loop)
    }

    /// Writes and syncs what the running downloads have, within a bound; then ends all threads and releases the lock.
    /// Tasks stay where they are in the store. Harmless when repeated.
    public func stop() {
        guard isStopped.withLock({ stopped in
            defer { stopped = true }
            return !stopped
        }) else { return }
        let saved = Lock(false)
        let posted = loop.post { engine in
            engine.leaveAll { saved.change { $0 = true } }
        }
        if posted { _ = saved.wait(until: .after(milliseconds: Engine.stopMilliseconds)) { $0 ? true : nil } }
        leaveDisks()
        loop.post { engine in engine.close() }
        loop.stop()
        store.close()
        lock.withLock { $0 = nil }
    }

    private func leaveDisks() {
        let changing = disk.close(until: .after(milliseconds: Engine.diskMilliseconds))
        guard !changing.isEmpty else { return }
        let renewed = Lock(false)
        let posted = loop.post { engine in
            engine.renewParts(named: changing) { renewed.change { $0 = true } }
        }
        if posted { _ = renewed.wait(until: .after(milliseconds: Engine.stopMilliseconds)) { $0 ? true : nil } }
    }

    private static let brokenFailure = Failure(
        .engineFailed,
        "a descriptor of the engine was closed by the host; close only descriptors that the host has opened, then "
            + "open the application again")
}

/// One client's way into an engine of its own process.
public final class LocalPort: Sendable {
    private let id: ConnectionID
    private let loop: LoopThread<EngineLoop>

    init(id: ConnectionID, loop: LoopThread<EngineLoop>) {
        self.id = id
        self.loop = loop
    }

    public func send(_ message: ClientMessage) {
        loop.post { [id] engine in engine.receiver.received(message, from: id) }
    }

    public func close() {
        loop.post { [id] engine in engine.receiver.closed(id) }
    }
}
