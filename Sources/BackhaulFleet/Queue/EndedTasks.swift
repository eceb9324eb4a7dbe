internal import BackhaulModel

/// Records the ends of tasks, and their events, in the transaction that gives the tasks their final states.
struct EndedTasks {
    let database: DatabaseConnection

    /// One statement, because the rows of the sessions are locked from here to the end of the transaction. All
    /// transactions lock them in the order of their numbers.
    ///
    /// - tasks: tasks that this transaction has ended.
    /// - worker: the worker that reports the ends; nil if a host has cancelled the tasks.
    func record(_ tasks: [Int64], worker: String?) throws(FleetError) {
        guard !tasks.isEmpty else { return }
        try database.run(
            """
            WITH ended AS (
                SELECT id, run, session, round, row_number() OVER (PARTITION BY session ORDER BY id) AS place
                FROM backhaul.tasks WHERE id = ANY ($1::bigint[])),
            recorded AS (INSERT INTO backhaul.ends (task, run, worker) SELECT id, run, $2 FROM ended),
            counted AS (SELECT session, count(*) AS tasks FROM ended GROUP BY session),
            locked AS (
                SELECT s.id FROM backhaul.sessions s WHERE s.id IN (SELECT session FROM counted)
                ORDER BY s.id FOR UPDATE),
            changed AS (
                UPDATE backhaul.sessions s SET live_tasks = s.live_tasks - c.tasks,
                    newest_event = s.newest_event + c.tasks + (s.live_tasks = c.tasks)::integer
                FROM locked l JOIN counted c ON c.session = l.id WHERE s.id = l.id
                RETURNING s.id, s.round, s.newest_event, s.live_tasks = 0 AS has_finished,
                    s.newest_event - c.tasks - (s.live_tasks = 0)::integer AS before)
            INSERT INTO backhaul.events (session, id, round, task)
            SELECT c.id, c.before + e.place, e.round, e.id FROM changed c JOIN ended e ON e.session = c.id
            UNION ALL SELECT id, newest_event, round, NULL FROM changed WHERE has_finished
            """, [.integers(tasks), .optional(worker)])
    }
}
