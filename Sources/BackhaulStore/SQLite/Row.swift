internal import BackhaulModel
internal import CSQLite

/// The current row of a statement. A function that reads a row of several columns passes the name of a column to each
/// read. To get the list of the columns for the SELECT, `Query` runs this function without a statement. So the list and
/// the reads cannot differ. The function must read all columns unconditionally, and must not run a statement.
struct Row {
    // Unsafe: the pointer is valid until the statement is stepped or reset. A row is passed only to closures that do
    // not store it.
    /// The statement; nil while `Query` lists the columns.
    private let statement: OpaquePointer?
    private let list: ColumnList?
    private var column: Int32 = 0

    init(_ statement: OpaquePointer) {
        self.statement = statement
        list = nil
    }

    private init(listing list: ColumnList) {
        statement = nil
        self.list = list
    }

    /// Whether the reads list the columns.
    var isListing: Bool { list != nil }

    private final class ColumnList {
        private(set) var names: [String] = []

        func append(_ name: String) { names.append(name) }
    }

    /// Returns the names of the columns that the function reads.
    static func columns<Result>(_ read: (inout Row) throws(Failure) -> Result) -> [String] {
        var row = Row(listing: ColumnList())
        _ = try? read(&row)
        return row.names
    }

    private var names: [String] { list?.names ?? [] }

    // MARK: Columns

    // In these functions, the name is a column or an expression of SQL. The name may be omitted if the statement has
    // only one column.

    mutating func integer(_ name: String = "") -> Int64 {
        let index = next(name)
        guard let statement else { return 0 }
        return sqlite3_column_int64(statement, index)
    }

    mutating func optionalInteger(_ name: String = "") -> Int64? {
        let index = next(name)
        guard let statement, !isNull(index) else { return nil }
        return sqlite3_column_int64(statement, index)
    }

    mutating func flag(_ name: String = "") -> Bool { integer(name) != 0 }
    mutating func optionalFlag(_ name: String = "") -> Bool? { optionalInteger(name).map { $0 != 0 } }

    /// A number stored by `Value.bits`.
    mutating func bits(_ name: String = "") -> UInt64 { UInt64(bitPattern: integer(name)) }
    mutating func optionalBits(_ name: String = "") -> UInt64? {
        optionalInteger(name).map(UInt64.init(bitPattern:))
    }

    mutating func number<Number: FixedWidthInteger>(_ name: String = "") -> Number { Number(clamping: integer(name)) }
    mutating func optionalNumber<Number: FixedWidthInteger>(_ name: String = "") -> Number? {
        optionalInteger(name).map { Number(clamping: $0) }
    }

    mutating func text(_ name: String = "") -> String { optionalText(name) ?? "" }

    mutating func optionalText(_ name: String = "") -> String? {
        let index = next(name)
        guard let statement, let start = sqlite3_column_text(statement, index) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    mutating func optionalBlob(_ name: String = "") -> [UInt8]? {
        let index = next(name)
        guard let statement, !isNull(index) else { return nil }
        guard let start = sqlite3_column_blob(statement, index) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }

    /// The value of the next column, whatever its type is.
    mutating func value() -> Value {
        guard let statement else { return .null }
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(integer())
        case SQLITE_TEXT: return .text(text())
        case SQLITE_BLOB: return .optional(optionalBlob())
        default:
            column += 1
            return .null
        }
    }

    mutating func sessionID(_ name: String = "") -> SessionID { SessionID(rawValue: number(name)) }
    mutating func taskID(_ name: String = "") -> TaskID { TaskID(rawValue: number(name)) }
    mutating func eventID(_ name: String = "") -> EventID { EventID(rawValue: number(name)) }
    mutating func challengeID(_ name: String = "") -> ChallengeID { ChallengeID(rawValue: number(name)) }
    mutating func launchID(_ name: String = "") -> LaunchID { LaunchID(rawValue: number(name)) }
    mutating func constraintsID(_ name: String = "") -> ConstraintsID { ConstraintsID(rawValue: number(name)) }
    mutating func laneID(_ name: String = "") -> LaneID { LaneID(rawValue: number(name)) }
    mutating func optionalGroupID(_ name: String = "") -> GroupID? { optionalInteger(name).map { GroupID($0) } }

    // MARK: -

    private mutating func next(_ name: String) -> Int32 {
        list?.append(name)
        assert(isColumn(name, at: column), "column \(column) is not \(name)")
        defer { column += 1 }
        return column
    }

    /// Whether the statement's column has this name. SQLite's name of a column omits the table. The text of an
    /// expression is not compared: for an expression, this function returns whether the column exists.
    private func isColumn(_ name: String, at index: Int32) -> Bool {
        guard let statement, !name.isEmpty else { return true }
        guard name.utf8.allSatisfy({ $0 == 0x5F || $0 == 0x2E || $0 == 0x22 || (0x61...0x7A).contains($0) }) else {
            return index < sqlite3_column_count(statement)
        }
        guard let stored = sqlite3_column_name(statement, index) else { return false }
        return name.split(separator: ".").last?.filter { $0 != "\"" } == String(cString: stored)
    }

    private func isNull(_ index: Int32) -> Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }
}
