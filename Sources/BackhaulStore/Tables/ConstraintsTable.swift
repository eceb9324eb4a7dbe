internal import BackhaulModel

/// The table `constraints` has the constraints of single tasks and activities: their demands on the system, such as
/// external power. All tasks of a session with equal constraints share one row.
struct ConstraintsTable {
    let connection: Connection

    func insert(_ constraints: TaskConstraints, in session: SessionID) throws(Failure) -> ConstraintsID {
        try connection.run(Self.insert, NewRow.values(.id(session)) { constraints.write(to: &$0) })
        return ConstraintsID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    func find(_ constraints: TaskConstraints, in session: SessionID) throws(Failure) -> ConstraintsID? {
        let values = NewRow.values(.id(session)) { constraints.write(to: &$0) }
        return try connection.first(Self.find, values) { row throws(Failure) in row.constraintsID() }
    }

    func stored(_ id: ConstraintsID) throws(Failure) -> StoredConstraints? {
        try connection.first(Self.select, .id(id)) { row throws(Failure) in
            StoredConstraints(
                id: id, session: row.sessionID("session_id"), constraints: try TaskConstraints(row: &row))
        }
    }

    /// Counts the session's rows, except rows with `is_past_latest_start`. After the latest start of a task, presets
    /// (names for several constraints) do not delay the task any more. The engine then gives the task such a row.
    func count(of session: SessionID) throws(Failure) -> Int {
        try connection.first(Self.count, .id(session)) { row throws(Failure) in row.number() } ?? 0
    }

    /// Removes the session's rows to which no task and no activity refers.
    func removeUnused(of session: SessionID) throws(Failure) { try connection.run(Self.removeUnused, .id(session)) }

    private static let columns = NewRow.names { TaskConstraints().write(to: &$0) }
    private static let names = columns.joined(separator: ", ")

    /// Returns the value that a column has if its constraint is not set. The value is not NULL: UNIQUE treats NULLs as
    /// different values, so equal rows could be stored twice.
    private static func unsetValue(_ column: String) -> String {
        switch column {
        case "constraints_minimum_bytes_per_second", "is_launched", "is_past_latest_start": "0"
        case "constraints_quiet_hours": "''"
        default: "-1"
        }
    }

    /// Returns the SQL expression for the value of a column. This value is the column's parameter or, if the parameter
    /// is NULL, the value of an unset constraint. The parameter ?1 is the session, so the first column has ?2.
    private static func parameter(_ index: Int, _ column: String) -> String {
        "ifnull(?\(index + 2), \(unsetValue(column)))"
    }

    private static let values = columns.enumerated().map(parameter).joined(separator: ", ")
    private static let isGiven = columns.enumerated().map { "\($1) = \(parameter($0, $1))" }.joined(separator: " AND ")
    private static let read =
        "session_id, "
        + Row.columns(TaskConstraints.init(row:))
        .map { "nullif(\($0), \(unsetValue($0))) AS \($0)" }.joined(separator: ", ")
    private static let insert = Query("INSERT INTO constraints (session_id, \(names)) VALUES (?1, \(values))")
    private static let find = Query("SELECT id FROM constraints WHERE session_id = ?1 AND \(isGiven)")
    private static let select = Query("SELECT \(read) FROM constraints WHERE id = ?")
    private static let count = Query(
        "SELECT count(*) FROM constraints WHERE session_id = ? AND is_past_latest_start = 0")
    private static let removeUnused = Query(
        """
        DELETE FROM constraints WHERE session_id = ? AND NOT \(TaskTable.statesConstraints)
            AND NOT \(ActivityTable.statesConstraints)
        """)
}

extension TaskConstraints {
    fileprivate init(row: inout Row) throws(Failure) {
        self.init()
        try stated.visitFields(with: &row)
        isLaunched = row.flag("is_launched")
        isPastLatestStart = row.flag("is_past_latest_start")
    }

    fileprivate func write(to row: inout NewRow) {
        var stated = stated
        stated.visitFields(with: &row)
        row.set("is_launched", .flag(isLaunched))
        row.set("is_past_latest_start", .flag(isPastLatestStart))
    }
}
