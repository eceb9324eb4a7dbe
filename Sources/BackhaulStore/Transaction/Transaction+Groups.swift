internal import BackhaulModel

/// Groups have a row while a task of theirs has one. It counts those that live, and how the others have ended since the
/// group last finished.
extension Transaction {
    func group(_ name: String, of session: SessionID) throws(Failure) -> GroupID? {
        try connection.first(Self.find, .id(session), .text(name)) { row throws(Failure) in row.optionalGroupID() }
            ?? nil
    }

    func findOrMakeGroup(_ name: String, of session: SessionID) throws(Failure) -> GroupID {
        if let group = try group(name, of: session) { return group }
        try connection.run(Self.insert, .id(session), .text(name))
        return GroupID(connection.lastInsertedRow)
    }

    func count(_ added: Int64, into group: GroupID) throws(Failure) {
        try connection.run(Self.countTasks, .id(group), .integer(added))
    }

    /// The selected tasks, which end now, by their groups.
    func groupsOfSelectedTasks(endingAs state: TaskState) throws(Failure) -> [GroupEnds] {
        try connection.all(Self.selectGroups) { row throws(Failure) in
            GroupEnds(GroupID(row.integer()), state, count: row.integer())
        }.sorted { $0.group < $1.group }
    }

    /// Counts ends; the number of the `group finished` that they bring about when none is left.
    func settle(_ ends: GroupEnds, of session: SessionID, now: Int64) throws(Failure) -> Int64? {
        let live = try connection.first(
            Self.countEnds, .id(ends.group), .integer(ends.count), .integer(ends.state == .succeeded ? ends.count : 0),
            .integer(ends.state == .failed ? ends.count : 0), .integer(ends.state == .cancelled ? ends.count : 0)
        ) { row throws(Failure) in row.integer() }
        guard live == 0 else { return nil }
        try connection.run(Self.insertFinished, .id(ends.group), .integer(now))
        let event = connection.lastInsertedRow
        try connection.run(Self.beginAnew, .id(ends.group))
        return event
    }

    /// Groups that have no task of any state left.
    func removeEmptyGroups(among groups: some Sequence<GroupID>) throws(Failure) {
        for group in groups { try connection.run(Self.removeEmpty, .id(group)) }
    }

    private static let find = Query("SELECT id FROM groups WHERE session_id = ? AND name = ?")
    private static let insert = Query("INSERT INTO groups (session_id, name) VALUES (?, ?)")
    private static let countTasks = Query("UPDATE groups SET live_tasks = live_tasks + ?2 WHERE id = ?1")
    // CROSS JOIN keeps the order of the tables: few rows are selected, and many are there.
    private static let selectGroups = Query(
        """
        SELECT group_id, count(*) FROM selected CROSS JOIN tasks ON tasks.id = selected.id
        WHERE group_id IS NOT NULL GROUP BY group_id
        """)
    private static let countEnds = Query(
        """
        UPDATE groups SET live_tasks = live_tasks - ?2, succeeded = succeeded + ?3, failed = failed + ?4,
            cancelled = cancelled + ?5
        WHERE id = ?1 RETURNING live_tasks
        """)
    private static let insertFinished = Query(
        """
        INSERT INTO events (session_id, task_id, kind, round, time_ms, group_name, succeeded, failed, cancelled)
        SELECT session_id, NULL, 4, round, ?2, name, succeeded, failed, cancelled
        FROM groups JOIN sessions ON sessions.id = session_id WHERE groups.id = ?1
        """)
    private static let beginAnew = Query("UPDATE groups SET succeeded = 0, failed = 0, cancelled = 0 WHERE id = ?")
    private static let removeEmpty = Query(
        "DELETE FROM groups WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM tasks WHERE group_id = ?1)")
}
