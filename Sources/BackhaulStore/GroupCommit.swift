internal import BackhaulModel
internal import BackhaulPlatform
internal import CSQLite

/// Runs what has gathered in as few transactions as possible, and tells everyone when it is durable. A body that fails
/// leaves no trace. Lives on the store's thread.
final class GroupCommit {
    /// The log that is left in place after its content was moved to the database file.
    static let keptLogSize = 32 << 20
    /// Frames (pages of 4 KiB) of the log after which they are moved.
    static let checkpointFrames: Int32 = 8_192
    /// A log of this many frames was made by one huge transaction; it gives its space back.
    static let truncatingFrames: Int32 = 32_768
    /// Changed rows after which a transaction ends although more bodies wait: the first of them waits for the last.
    static let changesOfOneTransaction: Int64 = 16_384

    private let database: Database
    private let transaction: Transaction
    private let directory: StoreDirectory
    private let lock: StoreLock
    private var connection: Connection { database.connection }

    /// Why no further transaction is possible.
    private var end: Failure?
    /// Why the transaction that is being gathered will not be committed.
    private var batchFailure: Failure?
    private var changesAtBegin: Int64 = 0
    /// Each body has a savepoint of its own. Only in a transaction that is repeated, because SQLite copies each page
    /// that is changed for the first time after a savepoint: most of what a small transaction costs.
    private var hasSavepoints = false
    /// A body has failed that had changed something, and there was no savepoint.
    private var mustRepeat = false
    private var completions: [(Failure?) -> Void] = []
    private var whenOutside: [(GroupCommit) -> Void] = []

    init(directory: StoreDirectory, lock: StoreLock, migrations: [String] = Schema.migrations) throws(Failure) {
        database = try Database(directory: directory, migrations: migrations)
        transaction = Transaction(connection: database.connection, directory: directory)
        self.directory = directory
        self.lock = lock
    }

    deinit {
        let isAbandoned = !isOurs
        // SQLite removes the log by its name.
        if database.descriptors.isTaken(Schema.logName) { connection.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) }
        // Before they are closed: afterwards their numbers may be anyone's.
        database.descriptors.leaveToForkedChildren()
        connection.close(abandoning: isAbandoned)
    }

    /// Performs jobs that call `run`.
    func perform(_ jobs: [@Sendable (GroupCommit) -> Void]) {
        var rest = jobs[...]
        while !rest.isEmpty {
            let waiting = whenOutside
            var performed = gather(rest)
            if mustRepeat {
                abandon()
                whenOutside = waiting
                hasSavepoints = true
                performed = gather(rest)
                hasSavepoints = false
            }
            commit()
            rest = rest.dropFirst(performed)
        }
        checkpointWhenLong()
        let bodies = whenOutside
        whenOutside = []
        for body in bodies { body(self) }
    }

    /// How many of the jobs are in the transaction that is begun here.
    private func gather(_ jobs: ArraySlice<@Sendable (GroupCommit) -> Void>) -> Int {
        begin()
        var count = 0
        for job in jobs {
            job(self)
            count += 1
            if !mayGrow { break }
        }
        return count
    }

    /// When no transaction is under way any more.
    func afterwards(_ body: @escaping (GroupCommit) -> Void) { whenOutside.append(body) }

    func giveMemoryBack(then: () -> Void) {
        if end == nil, isOurs { connection.giveMemoryBack() }
        then()
    }

    /// One body within the transaction that is being gathered. `then` is called when that one is over.
    func run<Result: Sendable>(
        _ body: (Transaction) throws(Failure) -> Result, then: @escaping (Swift.Result<Result, Failure>) -> Void
    ) {
        let result = attempt(body)
        completions.append { failure in
            then(failure.map { .failure($0) } ?? result)
        }
    }

    private func attempt<Result>(_ body: (Transaction) throws(Failure) -> Result) -> Swift.Result<Result, Failure> {
        if let failure = end ?? batchFailure { return .failure(failure) }
        let changesBefore = connection.totalChanges
        do throws(Failure) {
            if hasSavepoints { try connection.run(Self.savepoint) }
            let result = try body(transaction)
            if hasSavepoints { try connection.run(Self.release) }
            return .success(result)
        } catch {
            undo(after: error, hasChanged: connection.totalChanges != changesBefore)
            return .failure(error)
        }
    }

    /// Takes back what one body did. When SQLite has ended the whole transaction by itself (a full disk, an I/O error),
    /// the bodies before it are undone too.
    private func undo(after failure: Failure, hasChanged: Bool) {
        if failure.endsStore { end = failure }
        guard connection.isInTransaction else {
            batchFailure = failure
            return
        }
        guard hasSavepoints else {
            mustRepeat = hasChanged && end == nil
            return
        }
        do throws(Failure) {
            try connection.run(Self.rollBackToSavepoint)
            try connection.run(Self.release)
        } catch {
            batchFailure = error
        }
    }

    private var mayGrow: Bool {
        batchFailure == nil && end == nil && !mustRepeat
            && connection.totalChanges - changesAtBegin < Self.changesOfOneTransaction
    }

    private var isOurs: Bool { lock.isHeld && directory.descriptor.isOurs && database.descriptors.areOurs }

    /// Why what is committed now would be lost.
    private var loss: Failure? {
        if let name = database.descriptors.lostName {
            return Failure(
                .storeUnavailable,
                "the file \(name) of the store \(directory.path) was removed or replaced while the store was open; put "
                    + "it back, and open the application again")
        }
        return directory.isReplaced ? directory.displacement : nil
    }

    private func begin() {
        batchFailure = nil
        mustRepeat = false
        changesAtBegin = connection.totalChanges
        if end == nil, !isOurs {
            end = Failure(
                .engineFailed,
                "the process closed descriptors of the store that were not its own; open the store again")
        }
        guard end == nil else { return }
        do throws(Failure) {
            // For want of memory SQLite may not have rolled the last one back.
            if connection.isInTransaction { try connection.run(Self.rollBack) }
            // Deferred: bodies that only read do not make it a transaction that writes and syncs.
            try connection.run(Self.begin)
        } catch {
            batchFailure = error
        }
    }

    /// Undoes the transaction that is being gathered.
    private func abandon() {
        completions = []
        if connection.isInTransaction { try? connection.run(Self.rollBack) }
    }

    private func commit() {
        if batchFailure == nil, end == nil {
            do throws(Failure) {
                if connection.isWriting, let loss { throw loss }
                try connection.commit()
            } catch {
                batchFailure = error
                if error.endsStore { end = error }
            }
        }
        if end == nil || isOurs, connection.isInTransaction { try? connection.run(Self.rollBack) }
        let failure = batchFailure ?? end
        let completions = completions
        self.completions = []
        for completion in completions { completion(failure) }
    }

    private func checkpointWhenLong() {
        guard end == nil, isOurs else { return }
        let frames = connection.logFrames
        guard frames >= Self.checkpointFrames else { return }
        connection.checkpoint(truncating: frames >= Self.truncatingFrames)
    }

    private static let begin = Query("BEGIN")
    private static let rollBack = Query("ROLLBACK")
    private static let savepoint = Query("SAVEPOINT body")
    private static let release = Query("RELEASE body")
    private static let rollBackToSavepoint = Query("ROLLBACK TO body")
}
