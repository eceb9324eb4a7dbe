public import BackhaulModel
internal import BackhaulPlatform

/// The thread that owns the one connection to a store's database. It commits whatever has gathered while the disk was
/// busy with the commit before (group commit).
public final class StoreThread: Sendable {
    private let worker: Worker<GroupCommit>

    /// Opens, checks and migrates the database on the new thread, and waits for it. The lock is held until the database
    /// is closed.
    ///
    /// Throws storeDamaged, storeNewer, storeReadOnly, storeFull, storeUnavailable, engineFailed or outOfResources.
    public convenience init(directory: StoreDirectory, lock: StoreLock) throws(Failure) {
        try self.init(directory: directory, lock: lock, migrations: Schema.migrations)
    }

    init(directory: StoreDirectory, lock: StoreLock, migrations: [String]) throws(Failure) {
        do {
            worker = try Worker(
                name: "backhaul-store",
                make: { try GroupCommit(directory: directory, lock: lock, migrations: migrations) },
                perform: { commit, jobs in commit.perform(jobs) })
        } catch let failure as Failure {
            throw failure
        } catch let error as SystemError {
            throw Failure.system(.outOfResources, code: error.code, error.description)
        } catch {
            throw Failure(.internal, "the store's thread did not start: \(error)")
        }
    }

    deinit { worker.close() }

    /// `body` runs inside the next transaction: when it throws, only what it did is undone. It may be run a second
    /// time, and so has no effect but on what it is lent. `then` is called on the store's thread, in the order of the
    /// calls, once the body's effect is durable, or with why it is not; after `close`, on the calling thread with
    /// engineFailed. Neither may wait for anything.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(Failure) -> Result,
        then: @escaping @Sendable (Swift.Result<Result, Failure>) -> Void
    ) {
        let isPosted = worker.post { commit in commit.run(body, then: then) }
        if !isPosted { then(.failure(Failure(.engineFailed, "the store is closed"))) }
    }

    /// The database's pages in memory, and statements that are prepared again when they are needed. `then` is called on
    /// the store's thread.
    public func giveMemoryBack(then: @escaping @Sendable () -> Void) {
        worker.post { commit in commit.afterwards { $0.giveMemoryBack(then: then) } }
    }

    /// Performs what was posted, closes the database and ends the thread. Not from within `then`. Harmless when
    /// repeated.
    public func close() { worker.close() }
}
