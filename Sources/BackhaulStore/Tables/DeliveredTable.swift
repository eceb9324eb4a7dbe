internal import BackhaulModel

/// The table `delivered` has idempotency keys of succeeded tasks. A key is inserted when the host acknowledges the
/// event about the end of the task. The key stays until the host has acknowledged the event about the end of the task's
/// round. If the host enqueues a request with such a key again, no new task is made.
struct DeliveredTable {
    let connection: Connection

    /// Inserts the idempotency keys of the succeeded tasks whose events are in the temporary table `selected`.
    func insertSelected() throws(Failure) { try connection.run(Self.insertSelected) }

    /// Removes the keys of all rounds up to the last round that has ended according to the selected events. Removes all
    /// keys if no round is open, and the event about the end of the last round is selected or was removed.
    func removeFinishedRounds(of session: SessionID) throws(Failure) {
        try connection.run(Self.removeFinishedRounds, .id(session))
    }

    func hasAny(_ session: SessionID) throws(Failure) -> Bool {
        try connection.first(Self.hasAny, .id(session)) { row throws(Failure) in row.flag() } ?? false
    }

    func find(_ key: String, in session: SessionID) throws(Failure) -> TaskID? {
        try connection.first(Self.find, .id(session), .text(key)) { row throws(Failure) in row.taskID() }
    }

    private static let insertSelected = Query(
        """
        INSERT OR REPLACE INTO delivered (session_id, idempotency_key, task_id, round)
        SELECT tasks.session_id, idempotency_key, tasks.id, tasks.round
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = task_id
        WHERE state = \(TaskState.succeeded.sql) AND idempotency_key IS NOT NULL
        """)
    // No key is of a later round than the last round of its session.
    private static let removeFinishedRounds = Query(
        """
        DELETE FROM delivered WHERE session_id = ?1 AND round <= coalesce(
            (SELECT round FROM sessions WHERE id = ?1 AND round_open = 0
                AND NOT EXISTS (SELECT 1 FROM events WHERE session_id = ?1
                    AND kind = \(EventTable.Kind.sessionFinished.sql) AND id NOT IN (SELECT id FROM selected))),
            \(EventTable.lastSelectedRound))
        """)
    private static let hasAny = Query("SELECT EXISTS (SELECT 1 FROM delivered WHERE session_id = ?)")
    private static let find = Query("SELECT task_id FROM delivered WHERE session_id = ? AND idempotency_key = ?")
}
