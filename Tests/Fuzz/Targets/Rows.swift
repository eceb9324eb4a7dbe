import BackhaulWire
import CSQLite
import Glibc

@testable import BackhaulModel
@testable import BackhaulStore

/// The rows of a database that was damaged without a wrong checksum, for example by another program.
enum Rows {
    /// Lists of texts, as a column has them.
    @Sendable static func blob(_ bytes: [UInt8]) throws {
        do throws(Failure) {
            let texts = try TextBlob.unpack(bytes, "the texts")
            let read = try TextBlob.unpack(TextBlob.pack(texts), "the texts")
            guard read == texts else { throw Failure(.internal, "the texts, written and read, differ") }
            let fields = try HeaderBlob.unpack(bytes)
            guard fields.count * 2 == texts.count else { throw Failure(.internal, "a field is missing") }
        } catch {
            try requireEqual(error.status, .storeDamaged, error.message)
        }
    }

    /// The bytes are changes of a small store. After them, each row is read as the engine reads it.
    @Sendable static func check(_ bytes: [UInt8]) throws {
        guard let store = FuzzedStore.shared else { throw Violation(description: "the store cannot be opened") }
        try store.connection.execute("SAVEPOINT fuzz")
        defer { try? store.connection.execute("ROLLBACK TO fuzz; RELEASE fuzz") }
        var input = FuzzInput(bytes)
        while !input.isEmpty {
            // A change that breaks a rule of the schema is left out.
            try? store.connection.execute(store.change(&input))
        }
        for read in readings {
            do { try read(store.transaction) } catch let failure as Failure {
                try require(failure.status != .internal, failure.message)
            }
        }
    }

    private static let (session, task) = (SessionID(rawValue: 1), TaskID(rawValue: 1))

    private static let readings: [@Sendable (Transaction) throws -> Void] = [
        { transaction in
            let polled = try transaction.events.poll(session, after: .zero, maximum: 9)
            try checkReply(.events(polled.events, more: polled.more))
        },
        { transaction in
            let listed = try transaction.listing.tasks(
                of: session, TaskSelection(), after: .zero, maximum: 9, running: [task], bootMilliseconds: 5, now: 5)
            try checkReply(.tasks(listed.tasks, more: false))
        },
        { transaction in
            let history = try transaction.history.tasks(of: session, after: .zero, maximum: 9)
            try checkReply(.tasks(history.tasks, more: history.more))
        },
        { transaction in
            try checkReply(.sessions(try transaction.sessions.infos(application: "org.example"), more: false))
        },
        { transaction in
            try checkReply(.configuration(try transaction.sessions.configuration(of: session)))
        },
        { transaction in
            try checkReply(.attempts(try transaction.attempts.all(of: [task], in: session).attempts, more: false))
        },
        { transaction in try checkReply(.challenges(try transaction.challenges.all(of: session))) },
        { transaction in
            try checkReply(.waits(try transaction.waits.all(of: task, in: session, now: 5) ?? [], more: false))
        },
        { transaction in
            try checkReply(.activities(try transaction.activities.infos(of: session, now: 5)))
        },
        { transaction in try checkReply(.limits(try transaction.settings.limits())) },
        { transaction in
            for id: UInt64 in 1...5 { _ = try transaction.tasks.find(TaskID(rawValue: id)) }
        },
        { transaction in _ = try transaction.sessions.active() },
        { transaction in _ = try transaction.activities.open(now: 5) },
        { transaction in _ = try transaction.launches.all() },
        { transaction in _ = try transaction.launches.waitingSessions(of: "org.example") },
        { transaction in _ = try transaction.credentials.kept() },
        { transaction in _ = try transaction.challenges.all() },
        { transaction in _ = try transaction.settings.networks() },
        { transaction in _ = try transaction.settings.usage() },
        { transaction in _ = try transaction.cookies.all(of: session) },
        { transaction in _ = try transaction.leftovers.page(now: 5, limit: 9) },
        { transaction in _ = try transaction.bodies.consumed(limit: 9) },
        { transaction in _ = try transaction.waits.open() },
        { transaction in _ = try transaction.tasks.withIntent() },
        { transaction in _ = try transaction.delays.calendar(bootMilliseconds: 5) },
        { transaction in _ = try transaction.delays.overdueAside(bootMilliseconds: .max) },
        { transaction in
            for lane in try transaction.lanes.ready() { _ = try transaction.lanes.waitingTasks(of: lane.id, limit: 9) }
        },
    ]

    /// A client must be able to read what the engine has read.
    private static func checkReply(_ reply: Reply) throws(Failure) {
        let bytes = Wire.encodeReply(reply)
        do throws(Failure) {
            guard Wire.encodeReply(try Wire.decodeReply(bytes)) != bytes else { return }
        } catch {
            throw Failure(.internal, "\(error.message): \(reply)")
        }
        throw Failure(.internal, "the client reads another reply: \(reply)")
    }
}

/// The store of a released version, without its files.
///
/// Unchecked: only one thread runs a target.
private final class FuzzedStore: @unchecked Sendable {
    static let shared = try? FuzzedStore()
    private static let statements =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Support/stores/1.0/store.sql"

    let transaction: Transaction
    private let database: Database
    private var columns: [(table: String, name: String)] = []
    private var tables: [String] = []
    var connection: Connection { database.connection }

    private init() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = scratch.path
        let file = "\(path)/\(Schema.fileName)"
        var handle: OpaquePointer?
        guard sqlite3_open(file, &handle) == SQLITE_OK,
            sqlite3_exec(handle, FuzzedStore.text(FuzzedStore.statements), nil, nil, nil) == SQLITE_OK
        else { throw Violation(description: String(cString: sqlite3_errmsg(handle))) }
        sqlite3_close(handle)
        chmod(file, 0o600)
        let directory = try StoreDirectory.open(path: path)
        database = try Database(directory: directory)
        transaction = Transaction(connection: database.connection, directory: directory)
        try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
        let query = Query(
            """
            SELECT tables.name, columns.name FROM sqlite_schema AS tables
            JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' ORDER BY 1, columns.cid
            """)
        columns = try connection.all(query) { (row) throws(Failure) in (row.text(), row.text()) }
        for column in columns where tables.last != column.table { tables.append(column.table) }
    }

    /// A statement that changes a column of all rows, or adds a row.
    func change(_ input: inout FuzzInput) -> String {
        if input.byte() % 2 == 0 {
            let column = columns[(Int(input.byte()) * 256 + Int(input.byte())) % columns.count]
            return "UPDATE \"\(column.table)\" SET \"\(column.name)\" = \(literal(&input))"
        }
        let table = input.choice(tables)
        let values = columns.filter { $0.table == table }.map { _ in literal(&input) }
        return "INSERT OR REPLACE INTO \"\(table)\" VALUES (\(values.joined(separator: ", ")))"
    }

    private func literal(_ input: inout FuzzInput) -> String {
        switch input.byte() % 6 {
        case 0: "NULL"
        case 1: "\(input.byte())"
        case 2: "\(Int64(bitPattern: input.number()))"
        case 3: FuzzedStore.blob(input.bytes())
        default: "CAST(\(FuzzedStore.blob(input.bytes())) AS TEXT)"
        }
    }

    private static func blob(_ bytes: [UInt8]) -> String {
        "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return String(decoding: bytes.prefix(fread(&bytes, 1, bytes.count, file)), as: UTF8.self)
    }
}
