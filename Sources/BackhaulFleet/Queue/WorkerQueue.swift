public import BackhaulModel
internal import BackhaulWire

/// The statements of a worker. Each write names the task and its run, and has no effect if the run is old. The clock of
/// the database decides whether a lease has ended.
public struct WorkerQueue {
    let database: DatabaseConnection
    public let worker: String

    public init(_ database: DatabaseConnection, worker: String) {
        self.database = database
        self.worker = worker
    }

    // MARK: The worker

    public struct Renewal {
        /// Whether the worker is to take no more tasks.
        public var isDraining: Bool
        /// How many workers the fleet has.
        public var workers: Int64
    }

    /// Registers the worker, or renews its leases.
    public func renew(name: String, leaseMilliseconds: Int64) throws(FleetError) -> Renewal {
        let rows = try database.run(
            """
            INSERT INTO backhaul.workers (id, name, lease_until)
            VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')
            ON CONFLICT (id) DO UPDATE SET name = $2, lease_until = excluded.lease_until
            RETURNING is_draining, (SELECT count(*) FROM backhaul.workers WHERE lease_until > clock_timestamp())
            """, [.text(worker), .text(name), .integer(leaseMilliseconds)])
        return Renewal(isDraining: rows.first?.bool(0) ?? false, workers: rows.first?.integer(1) ?? 1)
    }

    /// Ends the lease of the worker now, if it has no task any more.
    public func unregister() throws(FleetError) {
        try database.run(
            """
            DELETE FROM backhaul.workers
            WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM backhaul.live WHERE worker = $1)
            """, [.text(worker)])
    }

    /// Puts the running tasks of workers whose leases have ended back into the queue, and removes the permits of these
    /// workers. Their publishing tasks are not changed: `takeOver` finds them.
    public func releaseExpired() throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            let expired = try database.run(
                """
                SELECT id FROM backhaul.workers WHERE lease_until < clock_timestamp()
                ORDER BY id FOR UPDATE SKIP LOCKED
                """)
            let ids = SQLValue.texts(expired.map { $0.text(0) })
            guard !expired.isEmpty else { return }
            try putBack("worker = ANY ($1::text[]) AND state = 3", [ids])
            try database.run("DELETE FROM backhaul.permits WHERE worker = ANY ($1::text[])", [ids])
            try database.run(
                """
                DELETE FROM backhaul.workers w WHERE w.id = ANY ($1::text[])
                    AND w.lease_until < clock_timestamp() - interval '1 day'
                    AND NOT EXISTS (SELECT 1 FROM backhaul.live l WHERE l.worker = w.id)
                """, [ids])
        }
    }

    // MARK: Claims

    /// Puts the tasks into the queue whose times have come. Returns whether there are queued tasks: this is all that an
    /// idle worker asks for.
    public func queueDue() throws(FleetError) -> Bool {
        let rows = try database.run(
            """
            SELECT (SELECT origin FROM backhaul.live WHERE is_claimable ORDER BY origin LIMIT 1),
                (SELECT waits_until FROM backhaul.live WHERE waits_until <= now() ORDER BY waits_until LIMIT 1)
            """)
        guard let row = rows.first, !row.isNull(1) else { return rows.first?.isNull(0) == false }
        try database.run(
            """
            UPDATE backhaul.live SET waits_until = NULL WHERE task IN (
                SELECT task FROM backhaul.live WHERE waits_until <= now()
                ORDER BY waits_until LIMIT 1000 FOR UPDATE SKIP LOCKED)
            """)
        return true
    }

    /// The most origins that `origins` returns.
    public static let originBatch = 1_000

    /// The next origins with queued tasks, in the order of their numbers. Reads one index entry for each of them.
    ///
    /// - running: how many tasks of each origin the worker runs.
    /// - Returns: whether tasks may start at the origin now, and it may have a free connection for this worker.
    public func origins(
        after: Int64, running: [Int64: Int64]
    ) throws(FleetError) -> [(origin: Int64, isOpen: Bool)] {
        let used = running.sorted { $0.key < $1.key }
        let rows = try database.transaction { () throws(FleetError) in
            try database.run(
                """
                WITH RECURSIVE queued AS (
                    SELECT (SELECT origin FROM backhaul.live WHERE is_claimable AND origin > $1
                        ORDER BY origin LIMIT 1) AS origin, 1 AS place
                    UNION ALL SELECT (SELECT origin FROM backhaul.live WHERE is_claimable AND origin > q.origin
                        ORDER BY origin LIMIT 1), place + 1
                    FROM queued q WHERE q.origin IS NOT NULL AND place < \(Self.originBatch))
                SELECT q.origin, o.id IS NOT NULL AND \(OriginLimits.isOpen)
                    AND \(OriginLimits.connections) > coalesce(r.tasks, 0) + (
                        SELECT coalesce(sum(connections), 0) FROM backhaul.permits
                        WHERE origin = o.id AND worker <> $2)
                FROM queued q LEFT JOIN backhaul.origins o ON o.id = q.origin
                    LEFT JOIN unnest($3::integer[], $4::bigint[]) AS r (origin, tasks) ON r.origin = o.id,
                    backhaul.settings s
                WHERE q.origin IS NOT NULL ORDER BY q.origin
                """,
                [.integer(after), .text(worker), .integers(used.map(\.key)), .integers(used.map(\.value))])
        }
        return rows.map { ($0.integer(0), $0.bool(1)) }
    }

    /// Leases a share of the connections of an origin, and claims as many tasks as the worker may run there in
    /// addition. Returns no task if there is none, if no connection is free, or if another worker claims tasks there
    /// now.
    ///
    /// - running: how many tasks of the origin the worker runs.
    public func claim(from origin: Int64, running: Int64) throws(FleetError) -> [ClaimedTask] {
        try database.transaction { () throws(FleetError) in
            // The lock of the origin's row is held until the commit. The free connections are counted by a later
            // statement, because this statement may not see permits that were committed before it got the lock.
            let locked = try database.run(
                """
                SELECT \(OriginLimits.connections), \(OriginLimits.starts), o.last_application
                FROM backhaul.origins o, backhaul.settings s
                WHERE o.id = $1 AND \(OriginLimits.isOpen) FOR UPDATE OF o SKIP LOCKED
                """, [.integer(origin)])
            guard let row = locked.first else { return [] }
            let permits = try lease(origin, limit: row.integer(0), running: running)
            guard permits > running else { return [] }
            let count = row.isNull(1) ? permits - running : min(permits - running, row.integer(1))
            return try claim(count: count, of: origin, after: row.integer(2), isLimited: !row.isNull(1))
        }
    }

    /// Sets the worker's permits for an origin whose row is locked. Returns their number.
    private func lease(_ origin: Int64, limit: Int64, running: Int64) throws(FleetError) -> Int64 {
        let rows = try database.run(
            """
            SELECT coalesce(sum(connections) FILTER (WHERE worker <> $2), 0),
                sum(connections) FILTER (WHERE worker = $2),
                (SELECT count(*) FROM backhaul.workers WHERE lease_until > clock_timestamp() AND NOT is_draining)
            FROM backhaul.permits WHERE origin = $1
            """, [.integer(origin), .text(worker)])
        guard let row = rows.first else { return running }
        let (others, workers) = (row.integer(0), max(1, row.integer(2)))
        let share = (limit + workers - 1) / workers
        let permits = max(running, min(share, limit - others))
        guard permits > 0 else { return 0 }
        if row.integer(1) != permits {
            try database.run(
                """
                INSERT INTO backhaul.permits (origin, worker, connections) VALUES ($1, $2, $3)
                ON CONFLICT (origin, worker) DO UPDATE SET connections = $3
                """, [.integer(origin), .text(worker), .integer(permits)])
        }
        return permits
    }

    /// Claims tasks of the applications in turns: first of the application that has the fewest running tasks at the
    /// origin, and of several such ones, of the one that follows the application `last`. Reads as many index entries
    /// for each application as tasks are claimed at most, however many are queued.
    private func claim(
        count: Int64, of origin: Int64, after last: Int64, isLimited: Bool
    ) throws(FleetError) -> [ClaimedTask] {
        let rows = try database.run(
            """
            WITH RECURSIVE queued AS (
                SELECT (SELECT application FROM backhaul.live WHERE origin = $1 AND is_claimable
                    ORDER BY application LIMIT 1) AS application
                UNION ALL SELECT (SELECT application FROM backhaul.live
                    WHERE origin = $1 AND is_claimable AND application > q.application ORDER BY application LIMIT 1)
                FROM queued q WHERE q.application IS NOT NULL),
            busy AS (
                SELECT l.application, count(*) AS tasks
                FROM backhaul.permits p JOIN backhaul.live l ON l.worker = p.worker AND l.origin = p.origin
                WHERE p.origin = $1 AND (SELECT count(application) FROM queued) > 1 GROUP BY l.application),
            next AS (
                SELECT task FROM queued q LEFT JOIN busy b USING (application) CROSS JOIN LATERAL (
                    SELECT task, row_number() OVER (ORDER BY priority DESC, task) AS place FROM (
                        SELECT priority, task FROM backhaul.live
                        WHERE origin = $1 AND application = q.application AND is_claimable
                        ORDER BY priority DESC, task LIMIT $2) AS first) AS placed
                ORDER BY coalesce(b.tasks, 0) + place, q.application <= $4, q.application LIMIT $2),
            locked AS (
                SELECT task FROM backhaul.live WHERE task IN (SELECT task FROM next) AND is_claimable
                FOR UPDATE SKIP LOCKED),
            claimed AS (
                UPDATE backhaul.live l SET state = 3, run = run + 1, worker = $3, claimed_at = now(), wanted = 0
                FROM locked n WHERE l.task = n.task RETURNING l.task, l.run, l.session, l.application)
            SELECT c.task, c.run, c.session,
                (SELECT request FROM backhaul.tasks t WHERE t.session = c.session AND t.id = c.task), c.application,
                (SELECT count(application) FROM queued)
            FROM claimed c ORDER BY c.task
            """, [.integer(origin), .integer(count), .text(worker), .integer(last)])
        if let row = rows.first, isLimited || row.integer(5) > 1 {
            // The turn is that of the application after the last one in the order of turns.
            let served = Set(rows.map { $0.integer(4) }).sorted()
            let newest = served.last { $0 <= last } ?? served.last ?? last
            try OriginLimits(database: database, origin: origin).started(rows.count, last: newest)
        }
        return try readable(rows) { row throws(FleetError) in try claimed(row, origin: origin) }
    }

    private func claimed(_ row: Rows.Row, origin: Int64) throws(FleetError) -> ClaimedTask {
        ClaimedTask(
            run: row.taskRun,
            session: SessionID(rawValue: row.unsigned(2)), origin: origin,
            request: try FleetError.wrapping(try Wire.decodeRequest(row.bytes(3))))
    }

    /// Decodes the rows of tasks. A task that its host has stored in an unreadable form ends here, so that it does not
    /// stop the tasks of others.
    private func readable<Task>(
        _ rows: Rows, _ decode: (Rows.Row) throws(FleetError) -> Task
    ) throws(FleetError) -> [Task] {
        var (tasks, unreadable): ([Task], [RunEnd]) = ([], [])
        for row in rows {
            do throws(FleetError) {
                tasks.append(try decode(row))
            } catch {
                unreadable.append(RunEnd(row.taskRun, Outcome(state: .failed, failure: error.failure)))
            }
        }
        _ = try end(unreadable)
        return tasks
    }

    /// Returns connections of origins that the worker does not use any more.
    ///
    /// - running: how many tasks of each origin the worker runs.
    public func releasePermits(running: [Int64: Int64]) throws(FleetError) {
        let used = running.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        try database.run(
            "DELETE FROM backhaul.permits WHERE worker = $1 AND origin <> ALL ($2::integer[])",
            [.text(worker), .integers(used.map(\.key))])
        try database.run(
            """
            UPDATE backhaul.permits p SET connections = u.connections
            FROM unnest($2::integer[], $3::integer[]) AS u (origin, connections)
            WHERE p.worker = $1 AND p.origin = u.origin AND p.connections > u.connections
            """, [.text(worker), .integers(used.map(\.key)), .integers(used.map(\.value))])
    }

    /// The tasks that this worker has claimed and that still run: after a restart, the worker continues them.
    public func ownTasks() throws(FleetError) -> [ClaimedTask] {
        let rows = try database.run(
            """
            SELECT l.task, l.run, l.session, t.request, l.origin
            FROM backhaul.live l LEFT JOIN backhaul.tasks t ON t.session = l.session AND t.id = l.task
            WHERE l.worker = $1 AND l.state = 3 ORDER BY l.task
            """, [.text(worker)])
        return try readable(rows) { row throws(FleetError) in try claimed(row, origin: row.integer(4)) }
    }

    public func configurations(of sessions: [SessionID]) throws(FleetError) -> [SessionID: [UInt8]] {
        let rows = try database.run(
            "SELECT id, configuration FROM backhaul.sessions WHERE id = ANY ($1::bigint[])",
            [.integers(sessions.map { Int64($0.rawValue) })])
        return Dictionary(uniqueKeysWithValues: rows.map { (SessionID(rawValue: $0.unsigned(0)), $0.bytes(1)) })
    }

    /// The running tasks of this worker that hosts have cancelled (1) or suspended (2).
    public func wantedControls() throws(FleetError) -> [(run: TaskRun, suspends: Bool)] {
        try database.run(
            "SELECT task, run, wanted FROM backhaul.live WHERE worker = $1 AND state = 3 AND wanted <> 0",
            [.text(worker)]
        ).map { ($0.taskRun, $0.integer(2) == 2) }
    }

    // MARK: Ends

    /// Decides the ends of runs whose files are ready. Returns the runs for which it has an effect. The other ones are
    /// old: the worker must not give their files the final names.
    public func publish(_ decided: [DecidedEnd]) throws(FleetError) -> Set<TaskRun> {
        guard !decided.isEmpty else { return [] }
        let rows = try database.run(
            """
            UPDATE backhaul.live l SET state = 4, publishing_run = l.run, outcome = e.outcome, inode = e.inode
            FROM \(Self.reported("inode", "bigint")) WHERE \(Self.isCurrent) RETURNING l.task, l.run
            """,
            values(decided.map(\.end)) + [.integers(decided.map { Int64(truncatingIfNeeded: $0.inode) })])
        return Set(rows.map(\.taskRun))
    }

    /// Ends the tasks of these runs, and stores the events for the hosts. Returns the runs for which it has an effect.
    /// The other ones are old.
    public func end(_ ends: [RunEnd]) throws(FleetError) -> Set<TaskRun> {
        guard !ends.isEmpty else { return [] }
        return Set(
            try EndedTasks(database: database).end(
                """
                DELETE FROM backhaul.live l USING \(Self.reported("state", "smallint")) WHERE \(Self.isCurrent)
                RETURNING \(EndedTasks.columns(state: "e.state", outcome: "e.outcome"))
                """, values(ends) + [.integers(ends.map { FleetTaskState(ended: $0.outcome.state).rawValue })]))
    }

    /// The rows `e` of ends that the worker reports.
    private static func reported(_ more: String, _ type: String) -> String {
        "unnest($2::bigint[], $3::integer[], $4::bytea[], $5::\(type)[]) AS e (task, run, outcome, \(more))"
    }

    /// Whether the live task `l` has the run `e`. Because of the CASE, the planner cannot read all rows of the worker
    /// for each end.
    private static let isCurrent = """
        l.task = e.task AND CASE WHEN l.run = e.run AND l.worker = $1 AND l.state IN (3, 4) THEN true ELSE false END
        """

    private func values(_ ends: [RunEnd]) -> [SQLValue] {
        [
            .text(worker), .integers(ends.map { Int64(truncatingIfNeeded: $0.run.task.rawValue) }),
            .integers(ends.map(\.run.run)), .byteLists(ends.map { Wire.encodeOutcome($0.outcome) }),
        ]
    }

    /// Puts a task back into the queue. If its host wants it to be suspended or cancelled, it is so.
    public func putBack(_ run: TaskRun) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            try putBack(
                "task = $1 AND run = $2 AND worker = $3 AND state IN (3, 4)",
                [.unsigned(run.task.rawValue), .integer(run.run), .text(worker)])
        }
    }

    /// Belongs to a transaction.
    private func putBack(_ condition: String, _ values: [SQLValue]) throws(FleetError) {
        // The locks keep what hosts want, until the transaction ends.
        let locked = try database.run(
            "SELECT task, wanted FROM backhaul.live WHERE \(condition) ORDER BY task FOR UPDATE", values)
        let (cancelled, others) = (locked.filter { $0.integer(1) == 1 }, locked.filter { $0.integer(1) != 1 })
        if !cancelled.isEmpty {
            _ = try EndedTasks(database: database).end(
                """
                DELETE FROM backhaul.live l WHERE task = ANY ($1::bigint[])
                RETURNING \(EndedTasks.columns(state: "7", outcome: "$2::bytea"))
                """, [.integers(cancelled.map { $0.integer(0) }), .bytes(Wire.encodeOutcome(.cancelled))])
        }
        guard !others.isEmpty else { return }
        try database.run(
            """
            WITH recorded AS (
                INSERT INTO backhaul.runs (session, task, run, worker, claimed_at)
                SELECT session, task, run, worker, claimed_at FROM backhaul.live WHERE task = ANY ($1::bigint[]))
            UPDATE backhaul.live SET state = CASE wanted WHEN 2 THEN 2 ELSE 1 END, worker = NULL, claimed_at = NULL,
                wanted = 0, publishing_run = NULL, inode = NULL, outcome = NULL
            WHERE task = ANY ($1::bigint[])
            """, [.integers(others.map { $0.integer(0) })])
    }

    /// Claims the publishing tasks of workers whose leases have ended. Their ends are decided, so the new run only
    /// completes the publication. The workers are looked up first, so that no task is read if none was lost.
    public func takeOver() throws(FleetError) -> [PublishingTask] {
        let rows = try database.run(
            """
            WITH left_over AS (
                SELECT * FROM backhaul.live WHERE state = 4 AND worker = ANY (ARRAY(
                    SELECT id FROM backhaul.workers WHERE lease_until < clock_timestamp() AND id <> $1))
                LIMIT 100 FOR UPDATE SKIP LOCKED),
            recorded AS (
                INSERT INTO backhaul.runs (session, task, run, worker, claimed_at)
                SELECT session, task, run, worker, claimed_at FROM left_over),
            l AS (
                UPDATE backhaul.live l SET run = l.run + 1, worker = $1, claimed_at = now()
                FROM left_over o WHERE l.task = o.task RETURNING l.*)
            SELECT \(Self.publishingColumns)
            FROM l LEFT JOIN backhaul.tasks t ON t.session = l.session AND t.id = l.task ORDER BY l.task
            """, [.text(worker)])
        return try readable(rows, publishing)
    }

    /// The publishing tasks of this worker, for the start of its process.
    public func ownPublishing() throws(FleetError) -> [PublishingTask] {
        let rows = try database.run(
            """
            SELECT \(Self.publishingColumns)
            FROM backhaul.live l LEFT JOIN backhaul.tasks t ON t.session = l.session AND t.id = l.task
            WHERE l.worker = $1 AND l.state = 4 ORDER BY l.task
            """, [.text(worker)])
        return try readable(rows, publishing)
    }

    private static let publishingColumns = "l.task, l.run, l.publishing_run, l.inode, l.outcome, t.request"

    private func publishing(_ row: Rows.Row) throws(FleetError) -> PublishingTask {
        PublishingTask(
            run: row.taskRun, firstRun: row.integer(2),
            inode: row.unsigned(3), request: try FleetError.wrapping(try Wire.decodeRequest(row.bytes(5))),
            outcome: try FleetError.wrapping(try Wire.decodeOutcome(row.bytes(4))))
    }

    /// Removes what no host can ask for any more: replies of the last days, and tasks that ended a week ago, if no
    /// event reports their ends.
    public func removeOld() throws(FleetError) {
        try database.run("DELETE FROM backhaul.replies WHERE made_at < now() - interval '1 day'")
        try database.run(
            """
            WITH old AS MATERIALIZED (
                SELECT session, task FROM backhaul.ends e WHERE ended_at < now() - interval '7 days' AND NOT EXISTS (
                    SELECT 1 FROM backhaul.events v WHERE v.session = e.session AND v.task = e.task)
                    AND NOT EXISTS (
                        SELECT 1 FROM backhaul.new_ends n WHERE n.session = e.session AND n.task = e.task)
                ORDER BY ended_at LIMIT 1000),
            without_runs AS (
                DELETE FROM backhaul.runs r USING old o WHERE r.session = o.session AND r.task = o.task),
            without_ends AS (
                DELETE FROM backhaul.ends e USING old o WHERE e.session = o.session AND e.task = o.task)
            DELETE FROM backhaul.tasks t USING old o WHERE t.session = o.session AND t.id = o.task
            """)
    }
}

extension Outcome {
    /// The end of a task that its host has cancelled.
    static var cancelled: Outcome { Outcome(state: .cancelled, failure: Failure(.cancelled, "the task was cancelled")) }
}
