internal import BackhaulModel

/// The table `groups`. A group has a row while it has a task. The row counts the live tasks, which are the tasks that
/// have not ended. For each final state, the row also counts the tasks that have ended in this state since the last
/// `group finished` event.
struct GroupTable {
    let connection: Connection

    func find(_ name: String, in session: SessionID) throws(Failure) -> GroupID? {
        try connection.first(Self.find, .id(session), .text(name)) { row throws(Failure) in row.optionalGroupID() }
            ?? nil
    }

    func insert(_ name: String, in session: SessionID) throws(Failure) -> GroupID {
        try connection.run(Self.insert, .id(session), .text(name))
        return GroupID(connection.lastInsertedRow)
    }

    func findOrInsert(_ name: String, in session: SessionID) throws(Failure) -> GroupID {
        if let group = try find(name, in: session) { return group }
        return try insert(name, in: session)
    }

    func count(enqueued: Int64, in group: GroupID) throws(Failure) {
        try connection.run(Self.countEnqueued, .id(group), .integer(enqueued))
    }

    /// Counts ended tasks of a group. Returns how many live tasks the group still has.
    func count(_ ends: GroupEnds) throws(Failure) -> Int64? {
        try connection.first(
            Self.countEnds, .id(ends.group), .integer(ends.count), .integer(ends.state == .succeeded ? ends.count : 0),
            .integer(ends.state == .failed ? ends.count : 0), .integer(ends.state == .cancelled ? ends.count : 0)
        ) { row throws(Failure) in row.integer() }
    }

    /// Returns how many tasks of the group have ended in each state, and resets these counters.
    func finish(_ group: GroupID) throws(Failure) -> FinishedGroup? {
        let finished = try connection.first(Self.selectEnds, .id(group), read: FinishedGroup.init(row:))
        try connection.run(Self.clearEnds, .id(group))
        return finished
    }

    func removeEmpty(among groups: some Sequence<GroupID>) throws(Failure) {
        for group in groups { try removeIfEmpty(group) }
    }

    /// Removes the group if it has no task, live or ended.
    func removeIfEmpty(_ group: GroupID) throws(Failure) { try connection.run(Self.removeIfEmpty, .id(group)) }

    private static let find = Query("SELECT id FROM groups WHERE session_id = ? AND name = ?")
    private static let insert = Query("INSERT INTO groups (session_id, name) VALUES (?, ?)")
    private static let countEnqueued = Query("UPDATE groups SET live_tasks = live_tasks + ?2 WHERE id = ?1")
    private static let countEnds = Query(
        """
        UPDATE groups SET live_tasks = live_tasks - ?2, succeeded = succeeded + ?3, failed = failed + ?4,
            cancelled = cancelled + ?5
        WHERE id = ?1 RETURNING live_tasks
        """)
    private static let selectEnds = Query(FinishedGroup.init(row:), "FROM groups WHERE id = ?")
    private static let clearEnds = Query("UPDATE groups SET succeeded = 0, failed = 0, cancelled = 0 WHERE id = ?")
    private static let removeIfEmpty = Query("DELETE FROM groups WHERE id = ?1 AND NOT \(TaskTable.isInGroup)")
}

extension FinishedGroup {
    fileprivate init(row: inout Row) {
        self.init(
            name: row.text("name"), succeeded: row.bits("succeeded"), failed: row.bits("failed"),
            cancelled: row.bits("cancelled"))
    }
}
