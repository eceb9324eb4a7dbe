internal import BackhaulModel

/// Ends tasks, and makes their events.
struct EndedTasks {
    let database: DatabaseConnection

    /// Removes the rows of live tasks, and records their ends. Returns the ended runs.
    ///
    /// The rows of their sessions are not locked. So workers that end tasks of one session do not wait until the
    /// transactions of the others are synced. A row that a host has put there must not stop the ends of other
    /// applications, so a conflict is no error.
    ///
    /// - removed: a statement that deletes rows of live tasks, and returns the columns `columns`.
    func end(_ removed: String, _ values: [SQLValue]) throws(FleetError) -> [TaskRun] {
        try database.run(
            """
            WITH removed AS (\(removed)),
            recorded AS (
                INSERT INTO backhaul.ends (session, task, priority, run, worker, claimed_at, state, outcome)
                SELECT * FROM removed ON CONFLICT DO NOTHING),
            announced AS (
                INSERT INTO backhaul.new_ends (session, task) SELECT session, task FROM removed ON CONFLICT DO NOTHING)
            SELECT task, run FROM removed
            """, values
        ).map(\.taskRun)
    }

    /// The columns that a removal returns: those of the live task, the final state, and the outcome.
    static func columns(state: String, outcome: String) -> String {
        "session, task, priority, run, worker, claimed_at, \(state)::smallint, \(outcome)"
    }

    /// The first value of the session in a table whose index has the session and this column. EXISTS could read all
    /// removed rows of the table.
    static func first(_ column: String, of session: String) -> String {
        let table = column.split(separator: ".")[0]
        return "(SELECT \(column) FROM backhaul.\(table) WHERE session = \(session) ORDER BY \(column) LIMIT 1)"
    }

    /// Makes the events of ends that have none. The row of the session is locked until the commit, so the numbers of
    /// the events grow in the order of commits, and a reader misses no event.
    /// The caller has begun a transaction.
    func makeEvents(of session: SessionID) throws(FleetError) {
        try database.run(
            """
            WITH locked AS (
                SELECT id FROM backhaul.sessions WHERE id = $1
                    AND \(Self.first("new_ends.task", of: "$1")) IS NOT NULL FOR UPDATE),
            taken AS (
                DELETE FROM backhaul.new_ends n USING locked l WHERE n.session = l.id AND n.task = ANY (ARRAY(
                    SELECT task FROM backhaul.new_ends WHERE session = $1 ORDER BY session, task LIMIT 10000))
                RETURNING n.task),
            counted AS (SELECT count(*) AS tasks FROM taken),
            changed AS (
                UPDATE backhaul.sessions s SET live_tasks = s.live_tasks - c.tasks,
                    newest_event = s.newest_event + c.tasks + (s.live_tasks = c.tasks)::integer
                FROM counted c WHERE s.id = $1 AND c.tasks > 0
                RETURNING s.round, s.newest_event, s.live_tasks = 0 AS has_finished,
                    s.newest_event - c.tasks - (s.live_tasks = 0)::integer AS before)
            INSERT INTO backhaul.events (session, id, round, task)
            SELECT $1, c.before + row_number() OVER (ORDER BY t.task), c.round, t.task FROM changed c, taken t
            UNION ALL SELECT $1, newest_event, round, NULL FROM changed WHERE has_finished
            """, [.id(session)])
    }
}
