public import BackhaulModel
public import BackhaulPlatform

/// The threads for all work that waits for a disk: a few for each file system. A file system that does not respond
/// delays only its own work. The thread pool of libuv is not used, because a process has only one such pool, and a
/// program that uses libuv and embeds the engine would share this pool.
///
/// Completions are called on a disk thread and must not block. After `close` no work is performed and no completion is
/// called.
public final class DiskThreads: Sendable {
    /// The default number of threads of a file system. On two cores with ext4, 3 to 5 threads took the same time for
    /// 10,000 files of 16 KiB; 2 and 8 threads took longer. Threads that sync at the same time share the commits of the
    /// file system's journal.
    public static let defaultCount = 4

    private struct State {
        var all: [UInt64: FileSystemWorkers] = [:]
        var mounts = MountTable()
        var isClosed = false
    }

    private let count: Int
    let files: FileSystem
    private let journal: PartJournal?
    private let home: FileSystemWorkers
    private let state: Lock<State>
    /// The moves of kept files that have not ended, by the file's path in the store.
    private let moves = Lock<[String: RunningMove]>([:])
    private let lastID = Lock<UInt64>(0)

    private struct RunningMove {
        let destination: String
        var completions: [MoveCompletion]
    }

    /// The limit on file systems that have their own threads. Further file systems share the threads of `home`.
    private static let fileSystemLimit = 32

    /// `home` is a directory on the file system that is used most. `journal` records the lengths of part files. Throws
    /// a `SystemError` when no thread can be started.
    public convenience init(count: Int, home: String = "/", journal: PartJournal? = nil) throws {
        try self.init(count: count, home: home, journal: journal, files: FileSystem())
    }

    init(count: Int, home: String = "/", journal: PartJournal? = nil, files: FileSystem) throws {
        var files = files
        files.identities = FileSystemIdentities()
        files.syncDurations = SyncDurations()
        (self.count, self.files, self.journal) = (count, files, journal)
        self.home = try FileSystemWorkers(count: count, files: files, journal: journal)
        var state = State()
        if let device = (try? files.status(of: home))?.device { state.all[device] = self.home }
        self.state = Lock(state)
    }

    /// Returns a download's part file (the file to which the download writes), without I/O. A part file has two
    /// threads. The first one is chosen by the file's name. It does most of the work on part files of this name, in the
    /// order of the calls. The second one is chosen by the destination's directory. It writes files that are written in
    /// one step, and renames files to their final names.
    public func partFile(_ location: PartLocation) -> PartFile {
        PartFile(
            id: newID(), location: location, writer: worker(for: location.partName, at: location.destination),
            placer: worker(for: location.destination.directory, at: location.destination))
    }

    /// Removes a file, and syncs its directory. For example, the engine (the owner of these threads) removes a kept
    /// file after the host has processed the event of the download. A kept file is a finished download in the engine's
    /// store, and the host is the program that uses the library. It is not an error if the file is missing.
    /// `fileSystem`: the identity of the file's file system; nil if it is unknown. If it is away, fails.
    public func remove(
        path: String, on fileSystem: String? = nil, then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        worker(for: path).post { context in context.remove(path: path, on: fileSystem, then: then) }
    }

    /// Removes several files, like `remove(path:)`. `then` is called after the last of them, with the paths of the
    /// removed files.
    public func remove(_ paths: [String], then: @escaping @Sendable (_ removed: Set<String>) -> Void) {
        let state = Lock((remaining: paths.count, removed: Set<String>()))
        if paths.isEmpty { then([]) }
        for path in paths {
            remove(path: path) { result in
                let removed: Set<String>? = state.withLock { state in
                    state.remaining -= 1
                    if case .success = result { state.removed.insert(path) }
                    return state.remaining == 0 ? state.removed : nil
                }
                if let removed { then(removed) }
            }
        }
    }

    /// Records the identity of the file that gets a new name. Calls the closure when the record is durable.
    public typealias IntentRecorder =
        @Sendable (FinishIntent, _ then: @escaping @Sendable (Result<Void, Failure>) -> Void) -> Void

    public typealias MoveCompletion = @Sendable (Result<Void, Failure>) -> Void

    /// Moves a kept file to the path that the host has given, and syncs the file. The file is renamed. If the path is
    /// on another file system, the file is copied, synced and renamed. Before a rename, the identity of the file is
    /// recorded with `record`. The call can be repeated after a crash at any point, with the last recorded identity as
    /// `intent`. If the file is missing at both paths, fails with `notFound`. Can also fail like `PartFile.place`.
    ///
    /// If the call is repeated while the file is moved, it has the result of the first call. For another path, it fails
    /// with `wrongState`.
    public func moveKept(
        from path: String, to target: PartLocation, intent: FinishIntent?, record: @escaping IntentRecorder,
        then: @escaping MoveCompletion
    ) {
        let worker = worker(for: path, at: target.destination)
        let destination = target.destination.path
        let running = moves.withLock { moves -> String? in
            guard let running = moves[path] else {
                moves[path] = RunningMove(destination: destination, completions: [then])
                return nil
            }
            if running.destination == destination { moves[path]?.completions.append(then) }
            return running.destination
        }
        if let running {
            guard running != destination else { return }
            let failure = Failure(.wrongState, "the file is already being moved to \(running)")
            worker.post { _ in then(.failure(failure)) }
            return
        }
        let id = newID()
        let ended: MoveCompletion = { [moves] result in
            for then in moves.withLock({ $0.removeValue(forKey: path)?.completions ?? [] }) { then(result) }
        }
        worker.post { context in
            context.moves[id] = KeptFileMove(from: path, to: target, intent: intent, files: context.files)
            DiskThreads.advance(id, worker, record: record, then: ended)
        }
    }

    private static func advance(
        _ id: UInt64, _ worker: Worker<DiskContext>, record: @escaping IntentRecorder, then: @escaping MoveCompletion
    ) {
        worker.post { context in
            guard let move = context.moves[id] else { return }
            do throws(Failure) {
                switch try move.advance(&context.directories) {
                case .moved:
                    CrashPoint.afterClaimMove.reach()
                    context.moves[id] = nil
                    then(.success(()))
                case .more: advance(id, worker, record: record, then: then)
                case .record(let intent):
                    record(intent) { result in
                        worker.post { context in
                            if case .failure(let failure) = result {
                                context.moves.removeValue(forKey: id)?.removeCopy(&context.directories)
                                return then(.failure(failure))
                            }
                            CrashPoint.afterClaimIntent.reach()
                            advance(id, worker, record: record, then: then)
                        }
                    }
                }
            } catch {
                context.moves[id] = nil
                then(.failure(error))
            }
        }
    }

    /// Performs all posted work, ends the threads and waits for them. A second call has no effect.
    public func close() { _ = close(until: nil) }

    /// Closes like `close()`. For the threads of the home file system, waits without a limit. For all other threads,
    /// waits only until the deadline. After the deadline, these threads begin no further system call. Returns the names
    /// of the part files that they are still changing at the deadline.
    public func close(until deadline: Deadline?) -> Set<String> {
        let all = state.withLock { state in
            state.isClosed = true
            return Array(state.all.values)
        }
        _ = home.close(until: nil)
        var changing: Set<String> = []
        for workers in all where workers !== home { changing.formUnion(workers.close(until: deadline)) }
        moves.change { $0 = [:] }
        return changing
    }

    deinit { close() }

    /// The durations of all syncs so far.
    public var syncDurations: DurationHistogram { files.syncDurations?.value ?? DurationHistogram() }

    func newID() -> UInt64 {
        lastID.withLock { id -> UInt64 in
            id += 1
            return id
        }
    }

    func worker(for name: String, at destination: Destination) -> Worker<DiskContext> {
        workers(of: destination).worker(for: name)
    }

    func worker(for path: String) -> Worker<DiskContext> { workers(nil, path).worker(for: path) }

    /// Returns the thread that reads only metadata, so that these reads do not wait for writes. The engine may not see
    /// the device that the host has sent. Such a device gets no threads, because the number of file systems that have
    /// their own threads is limited. The path then decides, which may lead to another file system by a symbolic link.
    func metadataWorker(at destination: Destination) -> Worker<DiskContext> {
        let device = destination.directoryDevice
        let isSeen = state.withLock { state in
            if state.all[device] != nil { return true }
            return state.mounts.hasMount(of: device)
        }
        return workers(isSeen ? device : nil, destination.path).metadataWorker
    }

    private func workers(of destination: Destination) -> FileSystemWorkers {
        // A device of 0 means that the device is unknown: the host gave the path in an earlier boot, and devices may
        // change with each boot.
        let device = destination.directoryDevice
        return workers(device == 0 ? nil : device, destination.path)
    }

    private func workers(_ device: UInt64?, _ path: String) -> FileSystemWorkers {
        state.withLock { state in
            guard let device = device ?? state.mounts.device(of: path) else { return home }
            if let known = state.all[device] { return known }
            guard !state.isClosed, state.all.count < Self.fileSystemLimit,
                let workers = try? FileSystemWorkers(count: count, files: files, journal: journal)
            else { return home }
            state.all[device] = workers
            return workers
        }
    }
}
