internal import BackhaulModel
internal import CSQLite

/// The row that a statement stands on, read column by column in the order of its SELECT.
struct Row {
    // Unsafe: valid until the statement is stepped or reset; rows are lent to a closure and never kept.
    private let statement: OpaquePointer
    private var column: Int32 = 0

    init(_ statement: OpaquePointer) { self.statement = statement }

    mutating func integer() -> Int64 { sqlite3_column_int64(statement, next()) }

    mutating func optionalInteger() -> Int64? {
        let index = next()
        return isNull(index) ? nil : sqlite3_column_int64(statement, index)
    }

    mutating func flag() -> Bool { integer() != 0 }

    /// What `Value.bits` stored.
    mutating func bits() -> UInt64 { UInt64(bitPattern: integer()) }
    mutating func optionalBits() -> UInt64? { optionalInteger().map(UInt64.init(bitPattern:)) }

    mutating func number<Number: FixedWidthInteger>() -> Number { Number(clamping: integer()) }
    mutating func optionalNumber<Number: FixedWidthInteger>() -> Number? {
        optionalInteger().map { Number(clamping: $0) }
    }

    mutating func text() -> String { optionalText() ?? "" }

    mutating func optionalText() -> String? {
        let index = next()
        guard let start = sqlite3_column_text(statement, index) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    mutating func optionalBlob() -> [UInt8]? {
        let index = next()
        guard !isNull(index) else { return nil }
        guard let start = sqlite3_column_blob(statement, index) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }

    mutating func sessionID() -> SessionID { SessionID(rawValue: number()) }
    mutating func taskID() -> TaskID { TaskID(rawValue: number()) }
    mutating func eventID() -> EventID { EventID(rawValue: number()) }
    mutating func challengeID() -> ChallengeID { ChallengeID(rawValue: number()) }
    mutating func launchID() -> LaunchID { LaunchID(rawValue: number()) }
    mutating func constraintsID() -> ConstraintsID { ConstraintsID(rawValue: number()) }
    mutating func laneID() -> LaneID { LaneID(rawValue: number()) }
    mutating func optionalGroupID() -> GroupID? { optionalInteger().map { GroupID($0) } }

    /// Leaves columns out.
    mutating func skip(_ columns: Int32) { column += columns }

    private mutating func next() -> Int32 {
        defer { column += 1 }
        return column
    }

    private func isNull(_ index: Int32) -> Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }
}
