internal import BackhaulModel
internal import CSQLite

/// The only connection to the database, with its prepared statements. It belongs to the store's thread.
final class Connection {
    // Unsafe: these are C's handles. The database is valid until `close`, and `frames` until deinit; only this object
    // frees them.
    private let database: OpaquePointer
    private let frames: UnsafeMutablePointer<Int32>
    private var statements: [ObjectIdentifier: Prepared] = [:]
    private var isClosed = false
    /// Whether no transaction was written to the log since the last checkpoint.
    private var isWALNew = true

    /// A prepared statement. It retains its query, so that no other query can get the same identity.
    private struct Prepared {
        let query: Query
        let statement: OpaquePointer
    }

    /// Opens the database. `files` is the name of the VFS. SQLite's default VFS is not used, because it belongs to the
    /// program that embeds the library.
    init(path: String, files: String) throws(Failure) {
        guard sqlite3_libversion_number() >= 3_037_000, sqlite3_threadsafe() != 0 else {
            throw Failure(
                .storeUnavailable,
                "the store needs SQLite 3.37 or newer, built for threads; this is \(Connection.libraryVersion)")
        }
        var handle: OpaquePointer?
        // SQLite needs no mutex, because only one thread uses the connection.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, files)
        guard code == SQLITE_OK, let handle else {
            let failure = Connection.failure(
                code, reason: handle.map(Connection.message) ?? "out of memory",
                systemCode: handle.map(sqlite3_system_errno) ?? 0)
            sqlite3_close(handle)
            throw failure
        }
        database = handle
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        // This hook replaces SQLite's own hook, which would run a checkpoint during a commit while callers wait.
        sqlite3_wal_hook(
            database,
            { frames, _, _, count in
                frames?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, frames)
    }

    deinit {
        close()
        frames.deallocate()
    }

    /// Closes the database. SQLite then runs a checkpoint, unless the option SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE is set.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for prepared in statements.values { sqlite3_finalize(prepared.statement) }
        sqlite3_close(database)
    }

    // MARK: Statements

    /// Runs statements, such as pragmas and migrations, without keeping them prepared.
    func execute(_ sql: String) throws(Failure) {
        let code = sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a statement without keeping it prepared, and returns the first column of its first row. The statement runs
    /// to its end: SQLite may report a failed sync only after the last row.
    func pragma(_ sql: String) throws(Failure) -> String? {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        defer { sqlite3_finalize(statement) }
        var text: String?
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_DONE: return text
            case SQLITE_ROW:
                var row = Row(statement)
                text = text ?? row.optionalText()
            case let code: throw failure(code)
            }
        }
    }

    func run(_ query: Query, _ values: Value...) throws(Failure) { try run(query, values) }

    func run(_ query: Query, _ values: [Value]) throws(Failure) {
        let statement = try begin(query, values)
        defer { end(statement) }
        while try step(statement) {}
    }

    func each(_ query: Query, _ values: Value..., body: (inout Row) throws(Failure) -> Void) throws(Failure) {
        try each(query, values, body: body)
    }

    func each(_ query: Query, _ values: [Value], body: (inout Row) throws(Failure) -> Void) throws(Failure) {
        let statement = try begin(query, values)
        defer { end(statement) }
        while try step(statement) {
            var row = Row(statement)
            try body(&row)
        }
    }

    /// Calls the body for each row until the body returns false.
    func eachWhile(_ query: Query, _ values: Value..., body: (inout Row) throws(Failure) -> Bool) throws(Failure) {
        let statement = try begin(query, values)
        defer { end(statement) }
        while try step(statement) {
            var row = Row(statement)
            guard try body(&row) else { return }
        }
    }

    func first<Result>(
        _ query: Query, _ values: Value..., read: (inout Row) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try first(query, values, read: read)
    }

    func first<Result>(
        _ query: Query, _ values: [Value], read: (inout Row) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let statement = try begin(query, values)
        defer { end(statement) }
        guard try step(statement) else { return nil }
        var row = Row(statement)
        return try read(&row)
    }

    func all<Result>(
        _ query: Query, _ values: Value..., read: (inout Row) throws(Failure) -> Result
    ) throws(Failure) -> [Result] {
        let statement = try begin(query, values)
        defer { end(statement) }
        var results: [Result] = []
        while try step(statement) {
            var row = Row(statement)
            results.append(try read(&row))
        }
        return results
    }

    private func begin(_ query: Query, _ values: [Value]) throws(Failure) -> OpaquePointer {
        let statement = try prepared(query)
        do throws(Failure) {
            for (index, value) in values.enumerated() { try bind(value, at: Int32(index) + 1, of: statement) }
        } catch {
            end(statement)
            throw error
        }
        return statement
    }

    /// Advances to the next row. Returns false if there is no further row.
    private func step(_ statement: OpaquePointer) throws(Failure) -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_DONE { return false }
        guard code == SQLITE_ROW else { throw failure(code) }
        return true
    }

    private func end(_ statement: OpaquePointer) {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }

    private func prepared(_ query: Query) throws(Failure) -> OpaquePointer {
        if let statement = statements[ObjectIdentifier(query)]?.statement {
            guard sqlite3_stmt_busy(statement) == 0 else {
                throw Failure(.internal, "a statement of the store was used while it was being read")
            }
            return statement
        }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(database, query.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        statements[ObjectIdentifier(query)] = Prepared(query: query, statement: statement)
        return statement
    }

    private func bind(_ value: Value, at index: Int32, of statement: OpaquePointer) throws(Failure) {
        let code =
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .text(var text):
                text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        bhs_bind_text(statement, index, $0.baseAddress, Int32(clamping: $0.count))
                    }
                }
            case .blob(let bytes):
                bytes.withUnsafeBytes { bhs_bind_blob(statement, index, $0.baseAddress, Int32(clamping: $0.count)) }
            }
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Commits a transaction. The first transaction of each log (after the database was opened, or after a checkpoint)
    /// also writes the database's first page. So each log contains this page, with zeros in place of the checksum. If
    /// another program copies the log into the database file, these zeros overwrite the checksum, and the next engine
    /// detects this (`CheckedFile`).
    func commit() throws(Failure) {
        let isWriting = isWriting
        if isWriting, isWALNew { try run(Self.writeFirstPage) }
        try run(Self.commit)
        if isWriting { isWALNew = false }
    }

    private static let commit = Query("COMMIT")
    private static let writeFirstPage = Query("PRAGMA application_id = \(Schema.applicationID)")

    // MARK: Checksums

    /// Makes SQLite reserve bytes for a checksum in each page of a new database.
    func reserveChecksums() throws(Failure) {
        var size = Int32(CheckedFile.reserve)
        let code = sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &size)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Whether each page of the file has a checksum that is verified when the page is read.
    var hasChecksums: Bool { checkedFile?.hasChecksums ?? false }

    /// Adds checksums to the pages of a database that another program with SQLite has copied or changed. If the disk is
    /// full, or the process is killed meanwhile, the file stays without checksums, and the next engine tries again.
    ///
    /// Throws storeDamaged if SQLite finds damage: checksums of damaged pages would hide the damage.
    func restoreChecksums() throws(Failure) {
        guard let file = file(SQLITE_FCNTL_FILE_POINTER), CheckedFile.of(file)?.pointee.lacksChecksums ?? false else {
            return
        }
        try checkIntegrity()
        do throws(Failure) {
            // This commit increments SQLite's change counter. If another program copies the database with SQLite, the
            // counter of the copy begins with SQLite's first value. Because the two counters differ, `CheckedFile`
            // notices that another program wrote the copy.
            try execute("BEGIN IMMEDIATE")
            try commit()
            checkpoint(truncating: true)
            guard walSize == 0 else { return }
            let code = CheckedFile.seal(file)
            guard code == SQLITE_OK else { throw failure(code) }
        } catch where error.status == .storeFull {
            if isInTransaction { try execute("ROLLBACK") }
        }
    }

    /// Throws storeDamaged if SQLite finds damage. SQLite also reports a page as damaged that the disk could not read,
    /// or for which there was no memory; then the failure is the disk's or the memory's.
    func checkIntegrity() throws(Failure) {
        // The result is nil if SQLite was built without this pragma.
        guard let found = try pragma("PRAGMA integrity_check(1)"), found != "ok" else { return }
        let stated = found.firstOccurrence(of: "error code=").flatMap {
            Int32(found[$0.upperBound...].prefix { $0.isNumber })
        }
        if let code = readFailure ?? stated, code & 0xFF != SQLITE_CORRUPT { throw failure(code) }
        throw .damaged(found)
    }

    /// The result of the last read that has failed.
    private var readFailure: Int32? {
        let ofLog = file(SQLITE_FCNTL_JOURNAL_POINTER).flatMap { LogFile.of($0)?.pointee.readFailure }
        return [checkedFile?.readFailure, ofLog].compactMap(\.self).first { $0 != SQLITE_OK }
    }

    private var checkedFile: CheckedFile? {
        // Unsafe: the state of the file is copied.
        file(SQLITE_FCNTL_FILE_POINTER).flatMap { CheckedFile.of($0)?.pointee }
    }

    /// Returns SQLite's object of the database file (SQLITE_FCNTL_FILE_POINTER) or of the log
    /// (SQLITE_FCNTL_JOURNAL_POINTER).
    private func file(_ operation: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
        // Unsafe: both objects live as long as the connection.
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(database, "main", operation, &file) == SQLITE_OK ? file : nil
    }

    // MARK: State

    /// The number of rows that the last statement inserted, changed or deleted.
    var changes: Int64 { sqlite3_changes64(database) }
    /// The number of rows that were inserted, changed or deleted since the connection was opened.
    var totalChanges: Int64 { sqlite3_total_changes64(database) }
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database) }
    /// Whether a transaction is open. False after an error that made SQLite roll the transaction back.
    var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

    /// Whether the transaction has changed something.
    var isWriting: Bool { sqlite3_txn_state(database, "main") == SQLITE_TXN_WRITE }

    func configure(_ option: Int32, _ on: Bool) { _ = bhs_configure(database, option, on ? 1 : 0) }

    /// The size of the log's pages after the last commit, in bytes, without the headers of the frames. 0 after a
    /// checkpoint.
    var walSize: Int { Int(frames.pointee) * pageSize }

    /// The size of the database's pages, in bytes. It does not change after the first transaction.
    private lazy var pageSize = (try? pragma("PRAGMA page_size")).flatMap { $0 }.flatMap { Int($0) } ?? Schema.pageSize

    /// Runs a checkpoint: copies the pages in the log to the database file. Returns the failure. After a failure, no
    /// page is lost: the log keeps the pages that are not in the file. It is no failure if another connection prevents
    /// the checkpoint now.
    @discardableResult
    func checkpoint(truncating: Bool) -> Failure? {
        let mode = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(database, "main", mode, nil, nil)
        guard code == SQLITE_OK else { return code & 0xFF == SQLITE_BUSY ? nil : failure(code) }
        frames.pointee = 0
        isWALNew = true
        return nil
    }

    /// The texts of all prepared statements.
    var preparedTexts: [String] { statements.values.map(\.query.text) }

    /// Frees cached pages and prepared statements. Both are made again when they are needed.
    func releaseMemory() {
        // sqlite3_stmt_busy is called before sqlite3_finalize, because a freed statement must not be read.
        for (query, prepared) in statements where sqlite3_stmt_busy(prepared.statement) == 0 {
            statements[query] = nil
            sqlite3_finalize(prepared.statement)
        }
        sqlite3_db_release_memory(database)
        if let log = file(SQLITE_FCNTL_JOURNAL_POINTER) { LogFile.releaseMemory(of: log) }
    }

    // MARK: Errors

    static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    func failure(_ code: Int32) -> Failure {
        // The code may not be of the connection's last call.
        var reason =
            sqlite3_extended_errcode(database) & 0xFF == code & 0xFF
            ? Connection.message(database) : String(cString: sqlite3_errstr(code))
        if code == CheckedFile.failure, let page = checkedFile?.damagedPage {
            reason = "its page \(page) does not match its checksum"
        }
        return Connection.failure(code, reason: reason, systemCode: sqlite3_system_errno(database))
    }

    private static func message(_ database: OpaquePointer) -> String { String(cString: sqlite3_errmsg(database)) }
}
