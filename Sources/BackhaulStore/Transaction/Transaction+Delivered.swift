internal import BackhaulModel

/// Idempotency keys outlive the acknowledgement of their task's success until the end of the round is acknowledged.
extension Transaction {
    /// Of the selected events: keys of successes are kept, those of finished rounds are forgotten.
    func rememberDelivered(_ session: SessionID) throws(Failure) {
        try connection.run(Self.rememberDelivered)
        try connection.run(Self.forgetDelivered, .id(session))
    }

    func hasDelivered(_ session: SessionID) throws(Failure) -> Bool {
        try connection.first(Self.hasDelivered, .id(session)) { row throws(Failure) in row.flag() } ?? false
    }

    func delivered(_ session: SessionID, _ key: String) throws(Failure) -> TaskID? {
        try connection.first(Self.selectDelivered, .id(session), .text(key)) { row throws(Failure) in row.taskID() }
    }

    private static let rememberDelivered = Query(
        """
        INSERT OR REPLACE INTO delivered (session_id, idempotency_key, task_id, round)
        SELECT tasks.session_id, idempotency_key, tasks.id, tasks.round
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = task_id
        WHERE state = 4 AND idempotency_key IS NOT NULL
        """)
    private static let forgetDelivered = Query(
        """
        DELETE FROM delivered WHERE session_id = ? AND round <=
            (SELECT max(round) FROM selected CROSS JOIN events ON events.id = selected.id WHERE kind = 2)
        """)
    private static let hasDelivered = Query("SELECT EXISTS (SELECT 1 FROM delivered WHERE session_id = ?)")
    private static let selectDelivered = Query(
        "SELECT task_id FROM delivered WHERE session_id = ? AND idempotency_key = ?")
}
