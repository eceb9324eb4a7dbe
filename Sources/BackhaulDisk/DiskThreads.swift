public import BackhaulModel
internal import BackhaulPlatform

/// A few threads for everything that waits for a disk. They are our own: libuv's pool is one per process, shared with a
/// host that uses libuv itself.
///
/// Completions are called on a disk thread and must not wait. After `close` nothing is performed and no completion is
/// called.
public final class DiskThreads: Sendable {
    /// Measured on two cores with ext4, 10,000 files of 16 KiB through the whole engine: 3 to 5 threads take the same,
    /// 2 and 8 take longer. They wait for the disk together and share its commits; more of them only wake each other.
    public static let usualCount = 4

    private let workers: [Worker<DiskContext>]
    private let lastID = Lock<UInt64>(0)

    /// Throws a `SystemError` when no thread can be started.
    public convenience init(count: Int) throws {
        try self.init(count: count, files: FileSystem())
    }

    init(count: Int, files: FileSystem) throws {
        var workers: [Worker<DiskContext>] = []
        do {
            for index in 0..<max(1, count) {
                workers.append(
                    try Worker(
                        name: "backhaul-disk\(index)", make: { DiskContext(files: files) },
                        perform: { context, jobs in context.perform(jobs) }))
            }
        } catch {
            for worker in workers { worker.close() }
            throw error
        }
        self.workers = workers
    }

    /// No I/O yet. All work on part files of one name happens on one thread, in the order in which it was asked for;
    /// only the final name is given by the thread of its directory.
    public func partFile(_ location: PartLocation) -> PartFile {
        PartFile(
            id: newID(), location: location, worker: worker(for: location.partName),
            placer: worker(for: location.destination.directory))
    }

    /// Removes a file, such as a kept one whose event was acknowledged, and syncs its directory. Absent is fine.
    public func remove(path: String, then: @escaping @Sendable (Result<Void, Failure>) -> Void) {
        worker(for: path).post { context in context.remove(path: path, then: then) }
    }

    /// Moves a kept file of `size` bytes to its claimed destination, synced: by rename, or across file systems by copy,
    /// sync and rename. May be repeated after a crash at any point. Fails with `notFound` when the file is in neither
    /// place, and as `PartFile.place`.
    public func moveKept(
        from path: String, to target: PartLocation, size: UInt64,
        then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        let worker = worker(for: path)
        let id = newID()
        worker.post { context in
            context.moves[id] = KeptFileMove(from: path, to: target, size: size, files: context.files)
            DiskThreads.advance(id, worker, then: then)
        }
    }

    private static func advance(
        _ id: UInt64, _ worker: Worker<DiskContext>, then: @escaping @Sendable (Result<Void, Failure>) -> Void
    ) {
        worker.post { context in
            guard let move = context.moves[id] else { return }
            do throws(Failure) {
                guard try move.advance(&context.directories) else { return advance(id, worker, then: then) }
                context.moves[id] = nil
                then(.success(()))
            } catch {
                context.moves[id] = nil
                then(.failure(error))
            }
        }
    }

    /// Performs what was asked for, ends the threads and waits for them. Harmless when repeated.
    public func close() {
        for worker in workers { worker.close() }
    }

    deinit { close() }

    func newID() -> UInt64 {
        lastID.withLock { id -> UInt64 in
            id += 1
            return id
        }
    }

    func worker(for name: String) -> Worker<DiskContext> {
        workers[Int(UInt(bitPattern: name.hashValue) % UInt(workers.count))]
    }
}
