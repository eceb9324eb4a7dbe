public import BackhaulModel
internal import BackhaulLoop
internal import BackhaulDisk
public import BackhaulPlatform
public import BackhaulStore
internal import BackhaulTransport

/// The engine runs the tasks of a store, which is the directory with all durable data. The engine also serves the
/// programs that use this store. Only the process that has the store lock makes an engine.
///
/// The engine owns a loop thread, a store thread and a few disk threads. It serves clients of this process through
/// memory, and clients of other processes through the store's socket.
public final class Engine: Sendable {
    private enum Phase {
        case running, stopping, ended
    }

    private let loop: LoopThread<EngineLoop>
    private let store: StoreThread
    private let disk: DiskThreads
    private let directory: StoreDirectory
    private let phase = Lock(Phase.running)
    // The store lock is released last: no other process may become the engine while threads of this engine could still
    // use the store.
    private let lock: Lock<StoreLock?>

    /// The name of the Unix socket in the store's directory.
    public static let socketName = SocketServer.socketName

    /// How long a stopping engine waits for its downloads to write and sync their bytes, in milliseconds.
    private static let stopMilliseconds: Int64 = 800
    /// How long a stopping engine then waits for hanging calls of the disk threads, in milliseconds.
    private static let diskMilliseconds: Int64 = 100

    /// The store's socket exists when this initializer returns. So a program that finds the store locked finds its
    /// engine, too, even if the engine's process is stopped (SIGSTOP) before its first reply.
    ///
    /// - ended: a closure. When the owner of the engine has to stop the engine, the engine calls this closure with the
    ///   reason. The closure is called at most one time, on the engine's thread, and must not call the engine.
    public init(
        directory: StoreDirectory, lock storeLock: StoreLock, options: EngineOptions = .embedded,
        ended: @escaping @Sendable (EngineEnd) -> Void
    ) throws(Failure) {
        self.directory = directory
        try directory.makeFolders()
        store = try StoreThread(
            directory: directory, lock: storeLock,
            resolver: URLResolver { (reference, base) throws(Failure) in
                try URLParser.resolve(reference, against: base)
            })
        do {
            disk = try DiskThreads(
                count: DiskThreads.defaultCount, home: directory.path,
                journal: PartJournal(path: directory.partJournalPath))
        } catch {
            store.close()
            throw Failure(.outOfResources, "the engine's disk threads cannot be started; lower the number of threads")
        }
        let mailbox = LoopMailbox()
        let services = Services(store: store, disk: disk, directory: directory, mailbox: mailbox, options: options)
        do {
            loop = try LoopThread(name: "bh-loop") { loop in
                try EngineLoop(loop: loop, services: services, ended: ended)
            }
        } catch {
            disk.close()
            store.close()
            throw (error as? Failure)
                ?? .system(
                    .outOfResources, code: (error as? SystemError)?.code ?? 0,
                    "the engine's loop cannot be started: \(error); \((error as? SystemError)?.advice ?? "try again")")
        }
        lock = Lock(storeLock)
        mailbox.open(loop)
        loop.post { engine in engine.run { $0.begin() } }
    }

    /// Connects a client of this process. `deliver` is called on the engine's thread. It must neither block nor call
    /// the engine. `closed` is called by `LocalPort.close`.
    public func connect(
        closed: @escaping @Sendable () -> Void, deliver: @escaping @Sendable (EngineMessage) -> Void
    ) -> LocalPort {
        let id = ConnectionID.next()
        loop.post { engine in engine.receiver.accept(id, isLocal: true, deliver: deliver) }
        return LocalPort(id: id, loop: loop, closed: closed)
    }

    /// Gives running downloads a limited time to write and sync their bytes. Then ends all threads, and releases the
    /// store lock. Tasks stay in the store. A repeated call only waits for the end.
    ///
    /// If the store's file system hangs, the end of the threads takes as long as the hanging call. The caller waits
    /// only until the deadline. The lock is released after the end of the threads in any case.
    public func stop(until deadline: Deadline? = nil) {
        let isFirst = phase.withLock { phase in
            defer { if phase == .running { phase = .stopping } }
            return phase == .running
        }
        guard isFirst else {
            _ = phase.wait(until: deadline) { $0 == .ended ? true : nil }
            return
        }
        guard let deadline else { return end() }
        // If no thread can be started, the caller must wait for the end itself.
        guard let thread = try? Thread(name: "bh-close", body: { [self] in end() }) else { return end() }
        thread.join(until: deadline)
    }

    private func end() {
        let saved = Lock(false)
        let posted = loop.post { engine in
            engine.run { $0.drainAll { saved.change { $0 = true } } }
        }
        if posted { _ = saved.wait(until: .after(milliseconds: Engine.stopMilliseconds)) { $0 ? true : nil } }
        closeDisks()
        loop.post { engine in engine.close() }
        loop.stop()
        store.close()
        lock.withLock { $0 = nil }
        phase.change { $0 = .ended }
    }

    private func closeDisks() {
        let changing = disk.close(until: .after(milliseconds: Engine.diskMilliseconds))
        guard !changing.isEmpty else { return }
        let renewed = Lock(false)
        let posted = loop.post { engine in
            engine.renewParts(named: changing) { renewed.change { $0 = true } }
        }
        if posted { _ = renewed.wait(until: .after(milliseconds: Engine.stopMilliseconds)) { $0 ? true : nil } }
    }
}

/// The connection of a client to an engine in its own process.
public final class LocalPort: Sendable {
    private let id: ConnectionID
    private let loop: LoopThread<EngineLoop>
    private let closed: @Sendable () -> Void

    init(id: ConnectionID, loop: LoopThread<EngineLoop>, closed: @escaping @Sendable () -> Void) {
        self.id = id
        self.loop = loop
        self.closed = closed
    }

    public func send(_ message: ClientMessage) {
        loop.post { [id] engine in engine.run { $0.receiver.handle(message, from: id) } }
    }

    public func close() {
        loop.post { [id] engine in engine.queue([.disconnected(id)]) }
        closed()
    }
}
