internal import BackhaulModel
internal import BackhaulPlatform
internal import CPostgreSQL
internal import Glibc

/// A connection to the fleet's database. One thread uses it. It uses no state of a session of PostgreSQL outside of
/// transactions (prepared statements, advisory locks, LISTEN), so a connection pool in transaction mode may be between.
final class DatabaseConnection {
    private let library: bhl_postgresql
    // Unsafe: an opaque object of libpq. We own it until `deinit`.
    private let handle: OpaquePointer
    /// How long a reply may take. A server that hangs does not end its connections.
    private let replyMilliseconds: Int64
    private var isOverdue = false

    /// The removal of a session with a million tasks takes less time.
    static let longestReplyMilliseconds: Int64 = 300_000

    /// The parameters that the address may replace. An interrupted network ends a connection after some seconds.
    private static let defaults = [
        ("connect_timeout", "5"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"),
        ("keepalives_interval", "5"), ("keepalives_count", "2"), ("fallback_application_name", "backhaul"),
    ]

    /// Connects, and waits until the server has accepted the connection or the time-out has passed.
    ///
    /// - replyMilliseconds: after this time without a reply, the connection counts as lost.
    init(
        _ address: DatabaseAddress, replyMilliseconds: Int64 = longestReplyMilliseconds
    ) throws(FleetError) {
        self.replyMilliseconds = replyMilliseconds
        library = try PostgreSQLLibrary.functions()
        let made = Self.withParameters(address, library.connectdbParams)
        guard let made else { throw FleetError(.outOfResources, "libpq has no memory for a connection") }
        handle = made
        _ = library.setNoticeProcessor(handle, bhl_postgresql_drop_notice, nil)
        guard library.status(handle) == CONNECTION_OK else {
            throw FleetError(
                .storeUnavailable, "the database cannot be reached: \(Self.oneLine(library.errorMessage(handle)))")
        }
        _ = library.setnonblocking(handle, 1)
    }

    deinit { library.finish(handle) }

    /// Whether no server answers at the address, or the server is starting or stopping.
    static func isAway(_ address: DatabaseAddress) -> Bool {
        guard let library = try? PostgreSQLLibrary.functions() else { return false }
        let state = withParameters(address, library.pingParams)
        return state == PQPING_REJECT || state == PQPING_NO_RESPONSE
    }

    private static func withParameters<Result>(
        _ address: DatabaseAddress,
        _ function: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?, Int32) -> Result
    ) -> Result {
        let parameters = defaults + [("dbname", address.text), ("client_encoding", "UTF8")]
        return withCStrings(parameters.map(\.0)) { keywords in
            withCStrings(parameters.map { Optional($0.1) }) { values in function(keywords, values, 1) }
        }
    }

    /// Whether the connection has ended. Then a new connection is needed.
    var isLost: Bool { isOverdue || library.status(handle) != CONNECTION_OK }

    /// Runs one statement, whose parameters are $1, $2, and so on.
    @discardableResult
    func run(_ statement: String, _ values: [SQLValue] = []) throws(FleetError) -> Rows {
        let isSent = Self.withCStrings(values.map(\.encoded)) { pointers in
            library.sendQueryParams(handle, statement, Int32(values.count), nil, pointers, nil, nil, 0)
        }
        return try rows(try reply(isSent))
    }

    /// Runs several statements without parameters.
    func runScript(_ script: String) throws(FleetError) {
        _ = try rows(try reply(library.sendQuery(handle, script)))
    }

    /// Waits for the results of the statements that were sent, and returns the last one. `PQexec` would wait for ever.
    private func reply(_ isSent: Int32) throws(FleetError) -> OpaquePointer? {
        guard isSent == 1 else { throw lostError }
        let deadline = Deadline.after(milliseconds: replyMilliseconds)
        var last: OpaquePointer?
        do throws(FleetError) {
            while true {
                try waitForResult(until: deadline)
                guard let result = library.getResult(handle) else { return last }
                library.clear(last)
                last = result
            }
        } catch {
            library.clear(last)
            throw error
        }
    }

    private func waitForResult(until deadline: Deadline) throws(FleetError) {
        while true {
            let unsent = library.flush(handle)
            guard unsent >= 0 else { throw lostError }
            guard unsent == 1 || library.isBusy(handle) == 1 else { return }
            var socket = pollfd(
                fd: library.socket(handle), events: Int16(POLLIN | (unsent == 1 ? POLLOUT : 0)), revents: 0)
            let ready = poll(&socket, 1, Int32(clamping: deadline.millisecondsLeft))
            guard ready != 0 || !deadline.hasPassed else {
                isOverdue = true
                throw FleetError(.storeUnavailable, "the database has not replied for \(replyMilliseconds) ms")
            }
            guard ready < 0 || library.consumeInput(handle) == 1 else { throw lostError }
        }
    }

    /// The length of a queue changes faster than the planner's statistics, so the planner could read a whole queue for
    /// one task. A queue has more index entries of removed rows than of rows. Only an index scan marks these entries,
    /// so that the next scan skips them; a bitmap scan reads the removed rows each time. The planner overestimates
    /// recursive queries, and would compile them, which takes longer than to run them. A process that is stopped within
    /// a transaction keeps its locks only for some seconds. Whatever the default of the database is, a statement sees
    /// what was committed before it began, and not only what was committed before the transaction began. And a commit
    /// returns only when it is on the disk of the server: a worker then gives a file its final name, or forgets a run.
    /// Defaults that also wait for other servers are kept.
    private var begin: String {
        """
        BEGIN ISOLATION LEVEL READ COMMITTED;
        SELECT set_config('synchronous_commit', 'local', true) WHERE current_setting('synchronous_commit') = 'off';
        SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off;
        SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL statement_timeout = \(replyMilliseconds)
        """
    }

    /// Runs `body` in a transaction. If the transaction loses a conflict with another one, runs it again.
    func transaction<Result>(_ body: () throws(FleetError) -> Result) throws(FleetError) -> Result {
        var conflicts = 0
        while true {
            try runScript(begin)
            do throws(FleetError) {
                let result = try body()
                try commit()
                return result
            } catch {
                conflicts += 1
                try rollBack(after: error, conflicts)
            }
        }
    }

    private func commit() throws(FleetError) { try run("COMMIT") }

    /// Throws the error, except if the transaction has lost a conflict and is run again.
    private func rollBack(after error: FleetError, _ conflicts: Int) throws(FleetError) {
        // If the connection has ended, the server has rolled back, or has committed without a reply.
        if !isLost { _ = try? run("ROLLBACK") }
        guard error.isConflict, conflicts < 10 else { throw error }
    }

    private func rows(_ result: OpaquePointer?) throws(FleetError) -> Rows {
        guard let result else { throw lostError }
        defer { library.clear(result) }
        let status = library.resultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            let sqlState = field(bhl_postgresql_sqlstate, of: result)
            if sqlState.isEmpty { throw lostError }
            throw FleetError(
                sqlState: sqlState, message: field(bhl_postgresql_message, of: result),
                constraint: field(bhl_postgresql_constraint, of: result))
        }
        let (count, columns) = (library.ntuples(result), library.nfields(result))
        var cells: [[UInt8]?] = []
        cells.reserveCapacity(Int(count) * Int(columns))
        for row in 0..<count {
            for column in 0..<columns {
                guard library.getisnull(result, row, column) == 0, let value = library.getvalue(result, row, column)
                else {
                    cells.append(nil)
                    continue
                }
                // Unsafe: libpq gives the length of the value, which is valid until the result is cleared.
                let bytes = UnsafeRawBufferPointer(start: value, count: Int(library.getlength(result, row, column)))
                cells.append(Array(bytes))
            }
        }
        let affected = library.cmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        return Rows(columns: Int(columns), cells: cells, affected: affected)
    }

    private var lostError: FleetError {
        let reason = Self.oneLine(library.errorMessage(handle))
        return FleetError(.storeUnavailable, "the connection to the database ended: \(reason)")
    }

    private func field(_ code: Int32, of result: OpaquePointer) -> String {
        library.resultErrorField(result, code).map { String(cString: $0) } ?? ""
    }

    private static func oneLine(_ message: UnsafePointer<CChar>?) -> String {
        message.map { String(cString: $0).split(separator: "\n").joined(separator: "; ") } ?? "no memory"
    }

    /// Calls `body` with an array of C strings, which ends with a null pointer.
    private static func withCStrings<Result>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        // Unsafe: all strings are in one buffer, which is valid until `body` returns. A pointer is nil for NULL.
        var bytes: [CChar] = []
        let offsets: [Int?] = texts.map { text in
            guard let text else { return nil }
            defer { bytes += text.utf8CString }
            return bytes.count
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let pointers = offsets.map { offset in offset.flatMap { buffer.baseAddress?.advanced(by: $0) } }
            return (pointers + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
        }
    }
}
