public import BackhaulModel

/// What tasks have stated for themselves is kept once for all of a session that have stated the same.
extension Transaction {
    /// The number of these constraints in the session, which are kept if they are not yet. Throws tooMany when the
    /// session's tasks state `Limits.constraintsCount` different ones; what no task states any more is removed first.
    public func constraintsID(
        for constraints: TaskConstraints, in session: SessionID
    ) throws(Failure) -> ConstraintsID {
        guard constraints != TaskConstraints() else { return .session }
        let values = [.id(session)] + Self.values(constraints)
        if let found = try findConstraints(constraints, in: session) { return found }
        // One that is past its latest start has been stated before, and must not fail now.
        if !constraints.isPastLatestStart { try makeRoomForConstraints(of: session) }
        try connection.run(Self.insert, values)
        return ConstraintsID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    /// Nil when no task has stated them.
    func findConstraints(
        _ constraints: TaskConstraints, in session: SessionID
    ) throws(Failure) -> ConstraintsID? {
        guard constraints != TaskConstraints() else { return .session }
        return try connection.first(Self.find, [.id(session)] + Self.values(constraints)) { row throws(Failure) in
            row.constraintsID()
        }
    }

    /// Nothing when there are none with that number.
    func constraints(_ id: ConstraintsID) throws(Failure) -> TaskConstraints {
        let found = try connection.first(Self.selectOne, .id(id)) { row throws(Failure) in row.taskConstraints() }
        return found ?? TaskConstraints()
    }

    /// What is stated under these numbers; of one that there is none of, nothing.
    public func statedConstraints(_ ids: Set<ConstraintsID>) throws(Failure) -> [StoredConstraints] {
        var found: [StoredConstraints] = []
        for id in ids where id != .session {
            let stored = try connection.first(Self.selectStored, .id(id)) { row throws(Failure) in
                StoredConstraints(id: id, session: row.sessionID(), constraints: row.taskConstraints())
            }
            if let stored { found.append(stored) }
        }
        return found
    }

    private func makeRoomForConstraints(of session: SessionID) throws(Failure) {
        guard try countConstraints(of: session) >= Limits.constraintsCount else { return }
        try connection.run(Self.removeUnused, .id(session))
        guard try countConstraints(of: session) >= Limits.constraintsCount else { return }
        throw Failure(
            .tooMany,
            "the session's tasks state \(Limits.constraintsCount) different constraints already; "
                + "give tasks the same ones, or state them for sessions")
    }

    private func countConstraints(of session: SessionID) throws(Failure) -> Int {
        try connection.first(Self.count, .id(session)) { row throws(Failure) in row.number() } ?? 0
    }

    private static func values(_ constraints: TaskConstraints) -> [Value] {
        ConfigurationColumns.values(constraints.stated) + [
            .flag(constraints.isLaunched), .flag(constraints.isPastLatestStart),
        ]
    }

    /// The columns, and which value of each says nothing.
    private static let columns = [
        ("preset", "-1"), ("requires_external_power", "-1"), ("requires_unmetered", "-1"), ("networks", "-1"),
        ("minimum_battery_percent", "-1"), ("maximum_thermal_state", "-1"), ("maximum_cpu_pressure_percent", "-1"),
        ("maximum_io_pressure_percent", "-1"), ("maximum_memory_pressure_percent", "-1"),
        ("minimum_bytes_per_second", "0"), ("quiet_hours", "''"), ("is_launched", "0"), ("is_past_latest_start", "0"),
    ]
    private static let names = columns.map(\.0).joined(separator: ", ")
    private static let given = columns.enumerated().map { "ifnull(?\($0 + 2), \($1.1))" }.joined(separator: ", ")
    private static let read = columns.map { "nullif(\($0.0), \($0.1))" }.joined(separator: ", ")
    private static let insert = Query("INSERT INTO constraints (session_id, \(names)) VALUES (?1, \(given))")
    private static let find = Query(
        """
        SELECT id FROM constraints WHERE session_id = ?1 AND
        """ + " " + columns.enumerated().map { "\($1.0) = ifnull(?\($0 + 2), \($1.1))" }.joined(separator: " AND "))
    private static let selectOne = Query("SELECT \(read) FROM constraints WHERE id = ?")
    private static let selectStored = Query("SELECT session_id, \(read) FROM constraints WHERE id = ?")
    private static let count = Query(
        "SELECT count(*) FROM constraints WHERE session_id = ? AND is_past_latest_start = 0")
    private static let removeUnused = Query(
        """
        DELETE FROM constraints WHERE session_id = ? AND NOT EXISTS
            (SELECT 1 FROM tasks WHERE constraints_id = constraints.id AND constraints_id <> 0)
            AND NOT EXISTS (SELECT 1 FROM activities WHERE activities.session_id = constraints.session_id
                AND activities.constraints_id = constraints.id)
        """)
}

extension Row {
    fileprivate mutating func taskConstraints() -> TaskConstraints {
        let stated = constraints()
        return TaskConstraints(stated, isLaunched: flag(), isPastLatestStart: flag())
    }
}
