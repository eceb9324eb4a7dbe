public import BackhaulModel

/// Consumed files of tasks that have not succeeded go back to where they were. They are listed by the transaction that
/// forgets their task, and nothing but having given them back takes them off the list.
extension Transaction {
    /// By name, those with greater names. Not those whose old name is still to be taken away: that would take the file
    /// away that was given back.
    public func bodiesToReturn(after name: String, limit: Int) throws(Failure) -> [ReturnedBody] {
        try connection.all(Self.select, .text(name), .number(limit)) { row throws(Failure) in
            ReturnedBody(name: row.text(), path: row.text(), task: row.taskID())
        }
    }

    public func forgetReturned(_ names: [String]) throws(Failure) {
        for name in names { try connection.run(Self.forget, .text(name)) }
    }

    /// True when there are such. A task that has succeeded has left its files already, and so has a snapshot.
    func returnBodiesOfSelectedEvents() throws(Failure) -> Bool {
        guard try storesBodies() else { return false }
        try connection.run(Self.returnSelected)
        return connection.changes > 0
    }

    private static let select = Query(
        """
        SELECT name, path, task_id FROM bodies_to_return
        WHERE name > ? AND NOT EXISTS (SELECT 1 FROM consumed WHERE consumed.path = bodies_to_return.path)
        ORDER BY name LIMIT ?
        """)
    private static let forget = Query("DELETE FROM bodies_to_return WHERE name = ?")
    private static let returnSelected = Query(
        """
        INSERT OR IGNORE INTO bodies_to_return
        SELECT stored, file, body_parts.task_id FROM selected CROSS JOIN events ON events.id = selected.id
            CROSS JOIN body_parts ON body_parts.task_id = events.task_id
        WHERE stored IS NOT NULL
        """)
}
