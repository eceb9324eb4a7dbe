public import BackhaulModel
internal import BackhaulPlatform

/// The thread that owns the only connection to a store's database. While the disk syncs a commit, new jobs are queued.
/// After the sync, the thread commits all queued jobs together (group commit).
public final class StoreThread: Sendable {
    /// The longest time for which a body that may be delayed waits for other work.
    public static let longestDelayMilliseconds: Int64 = 5

    /// After this time without a job, the log is copied to the database.
    static let idleMilliseconds: Int64 = 250

    private let worker: Worker<GroupCommit>
    private let delayMilliseconds: Int64

    /// Starts the thread, and waits until the thread has opened, checked and migrated the database. The thread keeps
    /// `lock` until the database is closed.
    ///
    /// Throws storeDamaged, storeNewer, storeReadOnly, storeFull, storeUnavailable, engineFailed or outOfResources.
    public convenience init(directory: StoreDirectory, lock: StoreLock, resolver: URLResolver) throws(Failure) {
        try self.init(directory: directory, lock: lock, resolver: resolver, laterMigrations: [])
    }

    init(
        directory: StoreDirectory, lock: StoreLock, resolver: URLResolver = .none, laterMigrations: [String],
        delayMilliseconds: Int64 = StoreThread.longestDelayMilliseconds
    ) throws(Failure) {
        self.delayMilliseconds = delayMilliseconds
        do {
            worker = try Worker(
                name: "backhaul-store",
                make: {
                    try GroupCommit(
                        directory: directory, lock: lock, resolver: resolver, laterMigrations: laterMigrations)
                },
                perform: { commit, jobs in commit.perform(jobs) },
                idle: .init(
                    after: Self.idleMilliseconds, if: { $0.needsIdleCheckpoint },
                    perform: { $0.checkpointWhileIdle() }))
        } catch let failure as Failure {
            throw failure
        } catch let error as SystemError {
            throw Failure.system(.outOfResources, code: error.code, error.description)
        } catch {
            throw Failure(.internal, "the store's thread did not start: \(error)")
        }
    }

    deinit { worker.close() }

    /// Runs `body` inside the next transaction. If `body` throws, only its own changes are undone. `body` may run
    /// twice, so it must have no effect outside of the transaction. `then` is called on the store's thread, in the
    /// order of the calls to `perform`. `then` gets a failure, or the result of `body` after the transaction is
    /// durable. After `close`, `then` is called with engineFailed on the calling thread. Neither closure may block.
    ///
    /// A transaction costs more than most bodies. So a body that is not urgent has `mayBeDelayed`: if only such bodies
    /// are queued, they wait for other work up to `longestDelayMilliseconds`. The bodies run in the order of the calls
    /// in any case: a body without a delay takes the earlier bodies with it into the next transaction.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Result, mayBeDelayed: Bool = false,
        then: @escaping @Sendable (Swift.Result<Result, Failure>) -> Void
    ) {
        let deadline = mayBeDelayed ? Deadline.after(milliseconds: delayMilliseconds) : nil
        let isPosted = worker.post({ commit in commit.run(body, then: then) }, delayedUpTo: deadline)
        if !isPosted { then(.failure(Failure(.engineFailed, "the store is closed"))) }
    }

    /// Frees the database's cached pages and prepared statements. SQLite makes them again when they are needed. `then`
    /// is called on the store's thread.
    public func releaseMemory(then: @escaping @Sendable () -> Void) {
        worker.post { commit in commit.afterTransaction { $0.releaseMemory(then: then) } }
    }

    /// Performs all posted jobs, even those that may be delayed. Then closes the database and ends the thread. A
    /// closure `then` must not call this function. A second call has no effect.
    public func close() { worker.close() }
}
