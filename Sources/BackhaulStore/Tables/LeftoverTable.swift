internal import BackhaulModel

/// The table `leftovers` has unfinished downloads (part files), finished downloads (kept files), and copies of
/// interrupted claims that no task needs any more. Such a copy has the name of a part file. A row stays until its file
/// is deleted. A retained part is deleted only after its time, because a later task may continue it.
struct LeftoverTable {
    let connection: Connection

    func all(after last: Leftover?, now: Int64, limit: Int) throws(Failure) -> [Leftover] {
        try connection.all(
            Self.select, .id(last?.task ?? TaskID(rawValue: 0)), .bits(last?.part ?? 1 << 63), .integer(now),
            .number(limit), read: Leftover.init(row:))
    }

    /// Inserts the kept file of the task.
    func insertKept(_ task: TaskID) throws(Failure) { try connection.run(Self.insertKept, .id(task)) }

    /// Inserts the part file of the task. Does nothing and returns false in two cases: the task has ended, or the task
    /// has a finish intent, which means that the engine is giving the task's file its final name.
    func insertPart(of task: TaskID) throws(Failure) -> Bool {
        try connection.run(Self.insertPart, .id(task))
        return connection.changes == 1
    }

    /// Inserts the part file of a task that ends now. The engine could not remove the file.
    func insertUnremovedPart(of task: TaskID) throws(Failure) {
        try connection.run(Self.insertUnremovedPart, .id(task))
    }

    /// Inserts the copy of a file that an interrupted claim of the task may have left. It replaces an earlier copy.
    func insertCopy(ofClaimOf task: TaskID) throws(Failure) { try connection.run(Self.insertCopy, .id(task)) }

    /// Inserts the copies that interrupted claims of the tasks in the temporary table `acknowledged` may have left.
    /// Returns whether there are any.
    func insertCopiesOfAcknowledged() throws(Failure) -> Bool {
        try connection.run(Self.insertCopiesOfAcknowledged)
        return connection.changes > 0
    }

    /// Inserts the part file of a task that ends now, for a later task with the same destination and key.
    func insertRetainedPart(of task: TaskID, until time: Int64) throws(Failure) {
        try connection.run(Self.insertRetainedPart, .id(task), .integer(time))
    }

    func hasRetained(in session: SessionID) throws(Failure) -> Bool {
        try connection.first(Self.hasRetained, .id(session)) { row throws(Failure) in row.flag() } ?? false
    }

    /// Returns the part file that a new task with this key and destination can continue.
    func retained(
        _ key: String, _ destination: String, in session: SessionID, now: Int64
    ) throws(Failure) -> Leftover? {
        try connection.first(
            Self.selectRetained, .id(session), .text(key), .text(destination), .integer(now), read: Leftover.init(row:))
    }

    /// Returns the earliest time after `now` at which a part is no longer retained, in Unix milliseconds.
    func nextRemoval(now: Int64) throws(Failure) -> Int64? {
        try connection.first(Self.nextRemoval, .integer(now)) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Inserts the part files of the selected tasks. A task with a finish intent and no destination may have a kept
    /// file already, which is inserted, too.
    func insertFilesOfSelected() throws(Failure) {
        try connection.run(Self.insertParts)
        try connection.run(Self.insertKeptOfSelected)
    }

    func remove(_ leftover: Leftover) throws(Failure) {
        try connection.run(Self.remove, .id(leftover.task), .bits(leftover.part))
    }

    enum Kind: Int32 {
        case part = 1
        case kept = 2
    }

    private static let select = Query(
        Leftover.init(row:),
        """
        FROM leftovers WHERE (task_id, part) > (?, ?)
            AND (retained_until_ms IS NULL OR retained_until_ms <= ?
                OR NOT EXISTS (SELECT 1 FROM sessions WHERE id = session_id))
        ORDER BY task_id, part LIMIT ?
        """)
    private static let insertRetainedPart = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, destination, part, file_system, session_id, idempotency_key,
            retained_until_ms)
        SELECT id, \(Kind.part.sql), destination, part, (SELECT file_system FROM requests WHERE task_id = id),
            session_id, idempotency_key, ?2
        FROM tasks WHERE id = ?1
        """)
    private static let hasRetained = Query("SELECT EXISTS (SELECT 1 FROM leftovers WHERE session_id = ?)")
    private static let selectRetained = Query(
        Leftover.init(row:),
        """
        FROM leftovers
        WHERE session_id = ? AND idempotency_key = ? AND destination = ? AND retained_until_ms > ?
        ORDER BY task_id DESC LIMIT 1
        """)
    private static let nextRemoval = Query("SELECT min(retained_until_ms) FROM leftovers WHERE retained_until_ms > ?")
    private static let remove = Query("DELETE FROM leftovers WHERE task_id = ? AND part = ?")
    private static let insertParts = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, destination, part, file_system)
        \(selectPart) WHERE id IN selected
        """)
    private static let insertKeptOfSelected = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, part)
        SELECT id, \(Kind.kept.sql), 0 FROM tasks
        WHERE id IN selected AND destination IS NULL AND \(PartTable.hasIntent)
        """)
    private static let insertKept = Query(
        "INSERT OR REPLACE INTO leftovers (task_id, kind, part) VALUES (?, \(Kind.kept.sql), 0)")
    private static let insertPart = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, destination, part, file_system)
        \(selectPart) WHERE id = ? AND ended_ms IS NULL AND NOT \(PartTable.hasIntent)
        """)
    private static let insertUnremovedPart = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, destination, part, file_system) \(selectPart) WHERE id = ?
        """)
    private static let insertCopy = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, destination, part, file_system)
        \(selectCopy) WHERE claims.task_id = ?
        """)
    private static let insertCopiesOfAcknowledged = Query(
        """
        INSERT OR REPLACE INTO leftovers (task_id, kind, destination, part, file_system)
        \(selectCopy) WHERE claims.task_id IN acknowledged
        """)
    private static let selectCopy = """
        SELECT claims.task_id, \(Kind.part.sql), claims.path, tasks.part, claims.file_system
        FROM claims CROSS JOIN tasks ON tasks.id = claims.task_id
        """
    private static let selectPart = """
        SELECT id, \(Kind.part.sql), destination, part, (SELECT file_system FROM requests WHERE task_id = id)
        FROM tasks
        """
}

extension Leftover {
    fileprivate init(row: inout Row) {
        let task = row.taskID("task_id")
        let kind = LeftoverTable.Kind(rawValue: row.number("kind"))
        let destination = row.optionalText("destination")
        self.init(
            task: task, kind: kind == .kept ? .kept : .part(destinationPath: destination), part: row.bits("part"),
            fileSystem: row.optionalText("file_system"), isRetained: row.optionalInteger("retained_until_ms") != nil)
    }
}
