internal import BackhaulModel

/// Records the ends of tasks, and their events. All of it belongs to the transaction that has given the tasks their
/// final states.
struct EndedTasks {
    let database: DatabaseConnection

    /// - tasks: tasks that this transaction has ended.
    /// - worker: the worker that reports the ends; nil if a host has cancelled the tasks.
    func record(_ tasks: [Int64], worker: String?) throws(FleetError) {
        guard !tasks.isEmpty else { return }
        try database.run(
            """
            INSERT INTO backhaul.ends (task, run, worker)
            SELECT id, run, $2 FROM backhaul.tasks WHERE id = ANY ($1::bigint[])
            """, [.integers(tasks), .optional(worker)])
        // All transactions lock sessions in the order of their numbers.
        let sessions = try database.run(
            """
            SELECT session, count(*) FROM backhaul.tasks WHERE id = ANY ($1::bigint[])
            GROUP BY session ORDER BY session
            """, [.integers(tasks)])
        for session in sessions {
            try record(tasks, of: session.integer(0), count: session.integer(1))
        }
    }

    private func record(_ tasks: [Int64], of session: Int64, count: Int64) throws(FleetError) {
        let changed = try database.run(
            """
            UPDATE backhaul.sessions SET live_tasks = live_tasks - $2,
                newest_event = newest_event + $2 + (live_tasks = $2)::integer
            WHERE id = $1 RETURNING live_tasks, newest_event, round
            """, [.integer(session), .integer(count)])
        guard let row = changed.first else { return }
        let hasFinished = row.integer(0) == 0
        let first = row.integer(1) - count - (hasFinished ? 1 : 0) + 1
        try database.run(
            """
            INSERT INTO backhaul.events (session, id, round, task)
            SELECT $1, $3 + row_number() OVER (ORDER BY id) - 1, round, id FROM backhaul.tasks
            WHERE id = ANY ($2::bigint[]) AND session = $1
            """, [.integer(session), .integers(tasks), .integer(first)])
        guard hasFinished else { return }
        try database.run(
            "INSERT INTO backhaul.events (session, id, round) VALUES ($1, $2, $3)",
            [.integer(session), .integer(row.integer(1)), .integer(row.integer(2))])
    }
}
