public import BackhaulModel

/// Files of request bodies that lie in the store: snapshots until their task ends, consumed files until it has
/// succeeded, or its event is acknowledged and they are given back.
extension Transaction {
    /// Which of the requests, by position, have a key that was used: they find their task, and need no file.
    public func positionsWithKnownKey(_ session: SessionID, _ requests: [Request]) throws(Failure) -> Set<Int> {
        var known: Set<Int> = []
        for (position, request) in requests.enumerated() {
            guard let key = request.idempotencyKey else { continue }
            let isKnown = try connection.first(Self.hasKey, .id(session), .text(key)) { row throws(Failure) in
                row.flag()
            }
            if isKnown == true { known.insert(position) }
        }
        return known
    }

    /// Their old names are to be removed, if they are still what was handed over.
    public func noteConsumed(_ files: [BodyFile]) throws(Failure) {
        for file in files {
            try connection.run(
                Self.insertConsumed, .text(file.path), .bits(file.inode), .bits(file.size),
                .integer(file.modifiedNanoseconds))
        }
    }

    public func consumed(after path: String = "", limit: Int) throws(Failure) -> [BodyFile] {
        try connection.all(Self.selectConsumed, .text(path), .number(limit)) { row throws(Failure) in
            BodyFile(
                path: row.text(), device: 0, inode: row.bits(), size: row.bits(), modifiedNanoseconds: row.integer())
        }
    }

    public func forgetConsumed(_ files: [BodyFile]) throws(Failure) {
        for file in files { try connection.run(Self.forgetConsumed, .text(file.path)) }
    }

    public func bodyLeftovers(limit: Int) throws(Failure) -> [String] {
        try connection.all(Self.selectLeftovers, .number(limit)) { row throws(Failure) in row.text() }
    }

    public func forgetBodyLeftovers(_ names: [String]) throws(Failure) {
        for name in names { try connection.run(Self.forgetLeftover, .text(name)) }
    }

    /// Those of the names that stand nowhere.
    public func unknownBodies(among names: [String]) throws(Failure) -> [String] {
        var unknown: [String] = []
        for name in names {
            let isUnknown = try connection.first(Self.isUnknown, .text(name)) { row throws(Failure) in row.flag() }
            if isUnknown == true { unknown.append(name) }
        }
        return unknown
    }

    /// Those of the names that no task needs, as leftovers: an engine has ended before their tasks were made.
    public func leaveBodies(among names: [String]) throws(Failure) {
        for name in names { try connection.run(Self.leaveUnknown, .text(name)) }
    }

    /// True when there is something to be removed.
    func leaveBodies(of task: TaskID, hasSucceeded: Bool) throws(Failure) -> Bool {
        let query = hasSucceeded ? Self.selectStored : Self.selectSnapshots
        let names = try connection.all(query, .id(task)) { row throws(Failure) in row.text() }
        guard !names.isEmpty else { return false }
        for name in names { try connection.run(Self.leave, .text(name)) }
        try connection.run(Self.forgetStored, .id(task))
        return true
    }

    func leaveSnapshotsOfSelectedTasks() throws(Failure) {
        guard try storesBodies() else { return }
        try connection.run(Self.leaveSelectedSnapshots)
        try connection.run(Self.forgetSelectedSnapshots)
    }

    func storesBodies() throws(Failure) -> Bool {
        try connection.first(Self.storesBodies) { row throws(Failure) in row.flag() } ?? false
    }

    /// Of a task that has not succeeded: name and size.
    public func consumedFile(of task: TaskID) throws(Failure) -> (name: String, size: UInt64)? {
        try connection.first(Self.selectStoredFile, .id(task)) { row throws(Failure) in (row.text(), row.bits()) }
    }

    func forgetConsumedFile(of task: TaskID) throws(Failure) {
        guard let file = try consumedFile(of: task) else { return }
        try connection.run(Self.forgetStoredFile, .id(task), .text(file.name))
    }

    private static let hasKey = Query(
        """
        SELECT EXISTS (SELECT 1 FROM tasks WHERE session_id = ?1 AND idempotency_key = ?2)
            OR EXISTS (SELECT 1 FROM delivered WHERE session_id = ?1 AND idempotency_key = ?2)
        """)
    private static let insertConsumed = Query("INSERT OR REPLACE INTO consumed VALUES (?, ?, ?, ?)")
    private static let selectConsumed = Query(
        "SELECT path, inode, size, modified_ns FROM consumed WHERE path > ? ORDER BY path LIMIT ?")
    private static let forgetConsumed = Query("DELETE FROM consumed WHERE path = ?")
    private static let selectLeftovers = Query("SELECT name FROM body_leftovers LIMIT ?")
    private static let forgetLeftover = Query("DELETE FROM body_leftovers WHERE name = ?")
    private static let leave = Query("INSERT OR IGNORE INTO body_leftovers VALUES (?)")
    private static let leaveUnknown = Query(
        """
        INSERT OR IGNORE INTO body_leftovers
        SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM body_parts WHERE stored = ?1)
            AND NOT EXISTS (SELECT 1 FROM bodies_to_return WHERE name = ?1)
        """)
    private static let isUnknown = Query(
        """
        SELECT NOT EXISTS (SELECT 1 FROM body_parts WHERE stored = ?1)
            AND NOT EXISTS (SELECT 1 FROM bodies_to_return WHERE name = ?1)
            AND NOT EXISTS (SELECT 1 FROM body_leftovers WHERE name = ?1)
        """)
    private static let storesBodies = Query("SELECT EXISTS (SELECT 1 FROM body_parts WHERE stored IS NOT NULL)")
    private static let selectStored = Query(
        "SELECT stored FROM body_parts WHERE task_id = ? AND stored IS NOT NULL")
    private static let selectSnapshots = Query(
        """
        SELECT stored FROM body_parts JOIN request_options USING (task_id)
        WHERE task_id = ? AND stored IS NOT NULL AND body_source = 1
        """)
    private static let selectStoredFile = Query(
        "SELECT stored, size FROM body_parts WHERE task_id = ? AND stored IS NOT NULL ORDER BY position LIMIT 1")
    private static let forgetStored = Query("UPDATE body_parts SET stored = NULL WHERE task_id = ?")
    private static let forgetStoredFile = Query(
        "UPDATE body_parts SET stored = NULL WHERE task_id = ? AND stored = ?")
    private static let leaveSelectedSnapshots = Query(
        """
        INSERT OR IGNORE INTO body_leftovers
        SELECT stored FROM selected CROSS JOIN body_parts ON body_parts.task_id = selected.id
            CROSS JOIN request_options ON request_options.task_id = selected.id
        WHERE stored IS NOT NULL AND body_source = 1
        """)
    private static let forgetSelectedSnapshots = Query(
        """
        UPDATE body_parts SET stored = NULL WHERE stored IS NOT NULL AND task_id IN
            (SELECT task_id FROM selected CROSS JOIN request_options ON task_id = selected.id WHERE body_source = 1)
        """)
}
