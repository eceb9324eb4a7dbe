internal import BackhaulModel
internal import BackhaulPlatform
internal import CSQLite

/// Runs queued bodies in as few transactions as possible. Each caller gets a report when the result of its body is
/// durable. A body that fails has no effect. All calls are on the store's thread.
final class GroupCommit {
    /// After a checkpoint, which copies the log's pages to the database, SQLite truncates the log file to this size, in
    /// bytes.
    static let walSizeLimit = 8 << 20
    /// A checkpoint is due when the log has this many bytes of pages, even if bodies are queued. They wait for the
    /// checkpoint: four seconds for a memory card that writes 2 MB per second.
    static let checkpointSize = 8 << 20
    /// A checkpoint while no body is queued is due when the log has this many bytes of pages.
    static let idleCheckpointSize = 1 << 20
    /// Only a huge transaction makes a log with this many bytes of pages. The checkpoint of such a log truncates the
    /// file to 0 bytes.
    static let truncatingSize = 128 << 20
    /// A transaction ends after this many changed rows, even if more bodies are queued. Replies are sent after the
    /// commit, so a longer transaction would delay the reply for the transaction's first body.
    static let changesOfOneTransaction: Int64 = 16_384
    /// A transaction ends after its bodies have read for this time, even if more bodies are queued. With a million
    /// tasks, a body may read for a second, and all replies of the transaction wait for it.
    static let readingMicrosecondsOfOneTransaction: Int64 = 100_000
    /// A body may take this time for each row that it changes. The rest of its time counts as reading.
    static let microsecondsOfOneChange: Int64 = 50

    private let database: Database
    private let transaction: Transaction
    private let directory: StoreDirectory
    /// Held until the database is closed.
    private let lock: StoreLock
    private var connection: Connection { database.connection }

    /// Why this object refuses all further transactions; nil while it accepts them.
    private var end: Failure?
    /// Why the current transaction cannot be committed; nil while it can be committed.
    private var batchFailure: Failure?
    private var changesAtBegin: Int64 = 0
    /// How long the bodies of the current transaction have read.
    private var readingMicroseconds: Int64 = 0
    /// Whether each body has its own savepoint, so that the changes of a single body can be undone. After a savepoint,
    /// SQLite copies each page before it changes the page for the first time. These copies are most of the cost of a
    /// small transaction. So this property is true only while a transaction is repeated, because one of its bodies has
    /// failed.
    private var hasSavepoints = false
    /// Whether the transaction must be repeated with savepoints. True if a body without a savepoint has failed after it
    /// changed a row.
    private var mustRetry = false
    /// After a failed checkpoint, the size of the log at which the next one is due. An earlier one would probably copy
    /// the whole log and fail again.
    private var nextCheckpointSize = 0
    private var completions: [(Failure?) -> Void] = []
    private var afterTransactionActions: [(GroupCommit) -> Void] = []

    init(
        directory: StoreDirectory, lock: StoreLock, resolver: URLResolver = .none, laterMigrations: [String] = []
    ) throws(Failure) {
        database = try Database(directory: directory, laterMigrations: laterMigrations)
        transaction = Transaction(connection: database.connection, directory: directory, resolver: resolver)
        self.directory = directory
        self.lock = lock
    }

    deinit {
        // When the connection is closed, SQLite makes a checkpoint and deletes the log by its name. This option
        // prevents both.
        if database.descriptors.mayBeReplaced(Schema.walName) {
            connection.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        }
        // After the close, the numbers of the database's descriptors may belong to other files of the process.
        database.descriptors.excludeFromForkGuard()
        connection.close()
    }

    /// Performs jobs, in one or more transactions. Each job calls `run` or `afterTransaction`.
    func perform(_ jobs: [@Sendable (GroupCommit) -> Void]) {
        var rest = jobs[...]
        while !rest.isEmpty {
            let waiting = afterTransactionActions
            var performed = fillBatch(rest)
            if mustRetry {
                abandon()
                afterTransactionActions = waiting
                hasSavepoints = true
                performed = fillBatch(rest)
                hasSavepoints = false
            }
            commit()
            rest = rest.dropFirst(performed)
        }
        checkpointIfLong()
        let bodies = afterTransactionActions
        afterTransactionActions = []
        for body in bodies { body(self) }
    }

    /// Begins a transaction and performs jobs in it. Returns how many jobs it has performed.
    private func fillBatch(_ jobs: ArraySlice<@Sendable (GroupCommit) -> Void>) -> Int {
        begin()
        var count = 0
        for job in jobs {
            job(self)
            count += 1
            if !canAddToBatch { break }
        }
        return count
    }

    /// Runs the body after the queued jobs, outside of any transaction.
    func afterTransaction(_ body: @escaping (GroupCommit) -> Void) { afterTransactionActions.append(body) }

    func releaseMemory(then: () -> Void) {
        if end == nil { connection.releaseMemory() }
        then()
    }

    /// Runs one body in the current transaction. `then` is called after that transaction has ended.
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
        let began = Clock.bootMicroseconds
        defer {
            let changing = (connection.totalChanges - changesBefore) * Self.microsecondsOfOneChange
            readingMicroseconds += max(0, Clock.bootMicroseconds - began - changing)
        }
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

    /// Undoes the changes of one body. If the body has no savepoint, its changes are undone later, because the whole
    /// transaction is repeated (`mustRetry`). After some failures, such as an I/O error, SQLite has rolled back the
    /// whole transaction by itself. In that case, the changes of earlier bodies are undone, too.
    private func undo(after failure: Failure, hasChanged: Bool) {
        if failure.endsStore { end = failure }
        guard connection.isInTransaction else {
            batchFailure = failure
            return
        }
        guard hasSavepoints else {
            mustRetry = hasChanged && end == nil
            return
        }
        do throws(Failure) {
            try connection.run(Self.rollBackToSavepoint)
            try connection.run(Self.release)
        } catch {
            batchFailure = error
        }
    }

    private var canAddToBatch: Bool {
        batchFailure == nil && end == nil && !mustRetry
            && connection.totalChanges - changesAtBegin < Self.changesOfOneTransaction
            && readingMicroseconds < Self.readingMicrosecondsOfOneTransaction
    }

    /// Throws if a commit would be lost, because the store or a file in it was removed or replaced.
    private func checkFiles() throws(Failure) {
        try database.descriptors.checkNames(of: directory)
        if directory.isReplaced, let failure = directory.replacementFailure { throw failure }
    }

    private func begin() {
        batchFailure = nil
        mustRetry = false
        changesAtBegin = connection.totalChanges
        readingMicroseconds = 0
        guard end == nil else { return }
        do throws(Failure) {
            // The last transaction may still be open, because a rollback fails when memory is short.
            if connection.isInTransaction { try connection.run(Self.rollBack) }
            // The transaction is deferred: if its bodies only read, SQLite does not write or sync.
            try connection.run(Self.begin)
        } catch {
            batchFailure = error
        }
    }

    /// Undoes the current transaction, and drops its completions.
    private func abandon() {
        completions = []
        if connection.isInTransaction { try? connection.run(Self.rollBack) }
    }

    private func commit() {
        if batchFailure == nil, end == nil {
            do throws(Failure) {
                let isWriting = connection.isWriting
                if isWriting { try checkFiles() }
                let began = isWriting ? Clock.bootMicroseconds : 0
                try connection.commit()
                if isWriting { transaction.commits.add(microseconds: Clock.bootMicroseconds - began) }
            } catch {
                batchFailure = error
                if error.endsStore { end = error }
            }
        }
        if connection.isInTransaction { try? connection.run(Self.rollBack) }
        let failure = batchFailure ?? end
        let completions = completions
        self.completions = []
        for completion in completions { completion(failure) }
    }

    private func checkpointIfLong() {
        if end == nil, connection.walSize >= max(Self.checkpointSize, nextCheckpointSize) { checkpoint() }
    }

    var needsIdleCheckpoint: Bool {
        end == nil && connection.walSize >= max(Self.idleCheckpointSize, nextCheckpointSize)
    }

    func checkpointWhileIdle() {
        if needsIdleCheckpoint { checkpoint() }
    }

    private func checkpoint() {
        let size = connection.walSize
        nextCheckpointSize = 0
        guard let failure = connection.checkpoint(truncating: size >= Self.truncatingSize) else { return }
        nextCheckpointSize = size + Self.checkpointSize
        if failure.endsStore { end = failure }
    }

    private static let begin = Query("BEGIN")
    private static let rollBack = Query("ROLLBACK")
    private static let savepoint = Query("SAVEPOINT body")
    private static let release = Query("RELEASE body")
    private static let rollBackToSavepoint = Query("ROLLBACK TO body")
}
