internal import BackhaulModel
internal import BackhaulWire

/// The statements of a worker. Each write names the task and its run, and has no effect if the run is old. The clock of
/// the database decides whether a lease has ended.
struct WorkerQueue {
    let database: DatabaseConnection
    let worker: String

    init(_ database: DatabaseConnection, worker: String) {
        self.database = database
        self.worker = worker
    }

    // MARK: The worker

    struct Renewal {
        /// Whether the worker is to take no more tasks.
        var isDraining = false
        /// How many workers the fleet has.
        var workers: Int64 = 1
    }

    /// Registers the worker, or renews its leases.
    func renew(name: String, leaseMilliseconds: Int64) throws(FleetError) -> Renewal {
        let rows = try database.run(
            """
            INSERT INTO backhaul.workers (id, name, lease_until)
            VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')
            ON CONFLICT (id) DO UPDATE SET name = $2, lease_until = excluded.lease_until
            RETURNING is_draining, (SELECT count(*) FROM backhaul.workers WHERE lease_until > clock_timestamp())
            """, [.text(worker), .text(name), .integer(leaseMilliseconds)])
        return rows.first.map { Renewal(isDraining: $0.bool(0), workers: $0.integer(1)) } ?? Renewal()
    }

    /// Ends the lease of the worker now, if it has no task any more.
    func unregister() throws(FleetError) {
        try database.run(
            """
            DELETE FROM backhaul.workers
            WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM backhaul.live WHERE worker = $1)
            """, [.text(worker)])
    }

    /// Puts the running tasks of workers whose leases have ended back into the queue, and removes the permits of these
    /// workers. Their publishing tasks are not changed: `takeOver` finds them.
    func releaseExpired() throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            let expired = try database.run(
                """
                SELECT id FROM backhaul.workers w WHERE lease_until < clock_timestamp() AND (
                    EXISTS (SELECT 1 FROM backhaul.live l WHERE l.worker = w.id AND l.state = 3)
                    OR EXISTS (SELECT 1 FROM backhaul.permits p WHERE p.worker = w.id)
                    OR lease_until < clock_timestamp() - interval '1 day')
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
    func queueDue() throws(FleetError) -> Bool {
        let rows = try database.run(
            """
            SELECT (SELECT origin FROM backhaul.live WHERE is_claimable ORDER BY origin LIMIT 1),
                (SELECT waits_until FROM backhaul.live WHERE waits_until <= now() ORDER BY waits_until LIMIT 1)
            """)
        guard let row = rows.first, !row.isNull(1) else { return rows.first?.isNull(0) == false }
        _ = try database.transaction { () throws(FleetError) in
            try database.run(
                """
                UPDATE backhaul.live SET waits_until = NULL WHERE task = ANY (ARRAY(
                    SELECT task FROM backhaul.live WHERE waits_until <= now()
                    ORDER BY waits_until LIMIT 1000 FOR UPDATE SKIP LOCKED))
                """)
        }
        return true
    }

    /// The most origins that `origins` returns.
    static let originBatch = 1_000

    /// The next origins with queued tasks, in the order of their numbers. Reads one index entry for each of them.
    ///
    /// - running: how many tasks of each origin the worker runs.
    /// - Returns: whether tasks may start at the origin now, and it may have a free connection for this worker.
    func origins(
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
                    LEFT JOIN unnest($3::integer[], $4::bigint[]) AS r (origin, tasks) ON r.origin = o.id
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
    /// - room: how many more tasks the worker can run.
    func claim(from origin: Int64, running: Int64, room: Int64) throws(FleetError) -> [ClaimedTask] {
        try database.transaction { () throws(FleetError) in
            // The lock of the origin's row is held until the commit. The free connections are counted by a later
            // statement, because this statement may not see permits that were committed before it got the lock.
            let locked = try database.run(
                """
                SELECT \(OriginLimits.connections), \(OriginLimits.starts), o.last_application
                FROM backhaul.origins o WHERE o.id = $1 AND \(OriginLimits.isOpen) FOR UPDATE OF o SKIP LOCKED
                """, [.integer(origin)])
            guard let row = locked.first else { return [] }
            let permits = try lease(origin, limit: row.integer(0), running: running, room: room)
            guard permits > running, room > 0 else { return [] }
            let free = min(permits - running, room)
            let count = row.isNull(1) ? free : min(free, row.integer(1))
            return try claim(count: count, of: origin, after: row.integer(2), isLimited: !row.isNull(1))
        }
    }

    /// Sets the worker's permits for an origin whose row is locked. Returns their number.
    private func lease(
        _ origin: Int64, limit: Int64, running: Int64, room: Int64
    ) throws(FleetError) -> Int64 {
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
        // The worker keeps permits for which it has no room now, because it may have idle connections.
        let permits = max(running, min(share, limit - others, max(running + room, row.integer(1))))
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
                SELECT task FROM backhaul.live WHERE task = ANY (ARRAY(SELECT task FROM next))
                    AND CASE WHEN is_claimable THEN true ELSE false END
                FOR UPDATE SKIP LOCKED),
            claimed AS (
                UPDATE backhaul.live SET state = 3, run = run + 1, worker = $3, claimed_at = now(), wanted = 0
                WHERE task = ANY (ARRAY(SELECT task FROM locked)) RETURNING task, run, session, application)
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
        let request = try FleetError.wrapping(try Wire.decodeRequest(row.bytes(3)))
        _ = try FleetError.wrapping(try FleetRequest.destination(of: request))
        return ClaimedTask(
            run: row.taskRun, session: SessionID(rawValue: row.unsigned(2)), origin: origin, request: request)
    }

    /// Decodes the rows of tasks. A task that its host has stored in an unreadable form, or that a fleet does not
    /// perform, ends here, so that it does not stop the tasks of others.
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
        if !unreadable.isEmpty { _ = try store(unreadable) }
        return tasks
    }

    /// Returns connections of origins that the worker does not use any more.
    ///
    /// - running: how many tasks of each origin the worker runs.
    func releasePermits(running: [Int64: Int64]) throws(FleetError) {
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
    func ownTasks() throws(FleetError) -> [ClaimedTask] {
        let rows = try database.run(
            """
            SELECT task, run, session, \(Self.request), origin
            FROM backhaul.live l WHERE worker = $1 AND state = 3 ORDER BY task
            """, [.text(worker)])
        return try readable(rows) { row throws(FleetError) in try claimed(row, origin: row.integer(4)) }
    }

    /// The request of the live task `l`.
    private static let request = "(SELECT request FROM backhaul.tasks t WHERE t.session = l.session AND t.id = l.task)"

    func configurations(of sessions: [SessionID]) throws(FleetError) -> [SessionID: [UInt8]] {
        let rows = try database.run(
            "SELECT id, configuration FROM backhaul.sessions WHERE id = ANY ($1::bigint[])", [.ids(sessions)])
        let stored = try FleetError.wrapping(
            try rows.map { row throws(Failure) in (SessionID(rawValue: row.unsigned(0)), try row.bytes(1)) })
        return Dictionary(uniqueKeysWithValues: stored)
    }

    /// The runs of this worker whose tasks hosts have cancelled or suspended.
    func wantedControls() throws(FleetError) -> [TaskRun] {
        try database.run(
            "SELECT task, run FROM backhaul.live WHERE worker = $1 AND state = 3 AND wanted <> 0", [.text(worker)]
        ).map(\.taskRun)
    }

    // MARK: Ends

    /// Decides the ends of runs whose files are ready. Returns the runs for which it has an effect. The other ones are
    /// old: the worker must not give their files the final names.
    func publish(_ decided: [DecidedEnd]) throws(FleetError) -> Set<TaskRun> {
        guard !decided.isEmpty else { return [] }
        let rows = try database.transaction { () throws(FleetError) in
            try database.run(
                """
                UPDATE backhaul.live SET state = 4, publishing_run = run, outcome = \(Self.outcome),
                    inode = \(Self.reported("$5::bigint[]"))
                WHERE \(Self.isCurrent) RETURNING task, run
                """,
                values(decided.map(\.end)) + [.integers(decided.map { Int64(truncatingIfNeeded: $0.inode) })])
        }
        return Set(rows.map(\.taskRun))
    }

    /// Ends the tasks of these runs, and stores the events for the hosts. Returns the runs for which it has an effect.
    /// The other ones are old.
    func end(_ ends: [RunEnd]) throws(FleetError) -> Set<TaskRun> {
        guard !ends.isEmpty else { return [] }
        return try database.transaction { () throws(FleetError) in try store(ends) }
    }

    private func store(_ ends: [RunEnd]) throws(FleetError) -> Set<TaskRun> {
        Set(
            try EndedTasks(database: database).end(
                """
                DELETE FROM backhaul.live WHERE \(Self.isCurrent)
                RETURNING \(EndedTasks.columns(state: Self.reported("$5::smallint[]"), outcome: Self.outcome))
                """, values(ends) + [.integers(ends.map { FleetTaskState(ended: $0.outcome.state).rawValue })]))
    }

    /// The value of the array that the worker reports for the task of the row.
    private static func reported(_ values: String) -> String { "(\(values))[array_position($2::bigint[], task)]" }

    private static let outcome = reported("$4::bytea[]")

    /// Whether the worker reports the newest run of the task of the row. No table is joined, because the planner cannot
    /// know how many rows a queue has now, and could compare each live task with each reported one. Because of the
    /// CASE, it does not read all rows of the worker.
    private static let isCurrent = """
        task = ANY ($2::bigint[]) AND CASE WHEN run = \(reported("$3::integer[]")) AND worker = $1 AND state IN (3, 4)
            THEN true ELSE false END
        """

    private func values(_ ends: [RunEnd]) -> [SQLValue] {
        [
            .text(worker), .integers(ends.map { Int64(truncatingIfNeeded: $0.run.task.rawValue) }),
            .integers(ends.map(\.run.run)), .byteLists(ends.map { Wire.encodeOutcome($0.outcome) }),
        ]
    }

    /// Puts a task back into the queue. If its host wants it to be suspended or cancelled, it is so.
    func putBack(_ run: TaskRun) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            try putBack(
                "task = $1 AND run = $2 AND worker = $3 AND state IN (3, 4)",
                [.unsigned(run.task.rawValue), .integer(run.run), .text(worker)])
        }
    }

    /// The caller has begun a transaction.
    private func putBack(_ condition: String, _ values: [SQLValue]) throws(FleetError) {
        // The locks keep what hosts want, until the transaction ends.
        let locked = try database.run(
            "SELECT task, wanted FROM backhaul.live WHERE \(condition) ORDER BY task FOR UPDATE", values)
        let (cancelled, others) = (locked.filter { $0.integer(1) == 1 }, locked.filter { $0.integer(1) != 1 })
        if !cancelled.isEmpty {
            _ = try EndedTasks(database: database).end(
                """
                DELETE FROM backhaul.live WHERE task = ANY ($1::bigint[])
                RETURNING \(EndedTasks.columns(state: "7", outcome: "$2::bytea"))
                """, [.integers(cancelled.map { $0.integer(0) }), .bytes(Wire.encodeOutcome(.cancelled))])
        }
        guard !others.isEmpty else { return }
        try database.run(
            """
            WITH recorded AS (\(Self.recordRuns("backhaul.live WHERE task = ANY ($1::bigint[])")))
            UPDATE backhaul.live SET state = CASE wanted WHEN 2 THEN 2 ELSE 1 END, worker = NULL, claimed_at = NULL,
                wanted = 0, publishing_run = NULL, inode = NULL, outcome = NULL
            WHERE task = ANY ($1::bigint[])
            """, [.integers(others.map { $0.integer(0) })])
    }

    /// Stores the runs that do not end their tasks.
    private static func recordRuns(_ rows: String) -> String {
        """
        INSERT INTO backhaul.runs (session, task, run, worker, claimed_at)
        SELECT session, task, run, worker, claimed_at FROM \(rows)
        """
    }

    /// Claims the publishing tasks of workers whose leases have ended. Their ends are decided, so the new run only
    /// completes the publication. The workers are looked up first, so that no task is read if none was lost.
    func takeOver() throws(FleetError) -> [PublishingTask] {
        let rows = try database.transaction { () throws(FleetError) in
            try database.run(
                """
                WITH left_over AS (
                    SELECT * FROM backhaul.live WHERE state = 4 AND worker = ANY (ARRAY(
                        SELECT id FROM backhaul.workers WHERE lease_until < clock_timestamp() AND id <> $1))
                    LIMIT 100 FOR UPDATE SKIP LOCKED),
                recorded AS (\(Self.recordRuns("left_over"))),
                l AS (
                    UPDATE backhaul.live SET run = run + 1, worker = $1, claimed_at = now()
                    WHERE task = ANY (ARRAY(SELECT task FROM left_over)) RETURNING *)
                SELECT \(Self.publishingColumns) FROM l ORDER BY task
                """, [.text(worker)])
        }
        return try readable(rows, publishing)
    }

    /// The publishing tasks of this worker: those of its earlier process, and those whose reply was lost.
    func ownPublishing() throws(FleetError) -> [PublishingTask] {
        let rows = try database.run(
            """
            SELECT \(Self.publishingColumns) FROM backhaul.live l WHERE worker = $1 AND state = 4 ORDER BY task
            """, [.text(worker)])
        return try readable(rows, publishing)
    }

    private static let publishingColumns = "task, run, publishing_run, inode, outcome, \(request)"

    private func publishing(_ row: Rows.Row) throws(FleetError) -> PublishingTask {
        PublishingTask(
            run: row.taskRun, firstRun: row.integer(2),
            inode: row.unsigned(3), request: try FleetError.wrapping(try Wire.decodeRequest(row.bytes(5))),
            outcome: try FleetError.wrapping(try Wire.decodeOutcome(row.bytes(4))))
    }

    /// The place of an ended task in the order of the ends.
    struct EndPosition {
        var unixMicroseconds: Int64 = 0
        var task: Int64 = 0
    }

    /// The most ended tasks that `removeOld` reads.
    static let removalBatch: Int64 = 2_000

    /// Removes what no host can ask for any more: replies that are older than a day, and tasks that ended a week ago,
    /// if no event reports their ends. Reads a batch of ends after the position, because a host that is away can have
    /// any number of events. Returns the position of the next batch.
    func removeOld(
        after position: EndPosition, batch: Int64 = removalBatch
    ) throws(FleetError) -> EndPosition {
        try database.transaction { () throws(FleetError) in
            // One worker removes at a time: two that remove the same rows in different orders would deadlock.
            let lock = "SELECT pg_try_advisory_xact_lock(hashtextextended('backhaul removal', 0))"
            guard try database.run(lock).first?.bool(0) == true else { return position }
            try database.run("DELETE FROM backhaul.replies WHERE made_at < now() - interval '1 day'")
            return try removeEnded(after: position, batch: batch)
        }
    }

    private func removeEnded(after position: EndPosition, batch: Int64) throws(FleetError) -> EndPosition {
        let rows = try database.run(
            """
            WITH seen AS MATERIALIZED (
                SELECT session, task, ended_at FROM backhaul.ends
                WHERE (ended_at, task) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2)
                    AND ended_at < now() - interval '7 days'
                ORDER BY ended_at, task LIMIT $3),
            old AS MATERIALIZED (
                SELECT session, task FROM seen s
                WHERE NOT EXISTS (SELECT 1 FROM backhaul.events v WHERE v.session = s.session AND v.task = s.task)
                    AND NOT EXISTS (
                        SELECT 1 FROM backhaul.new_ends n WHERE n.session = s.session AND n.task = s.task)),
            without_runs AS (
                DELETE FROM backhaul.runs r USING old o WHERE r.session = o.session AND r.task = o.task),
            without_ends AS (
                DELETE FROM backhaul.ends e USING old o WHERE e.session = o.session AND e.task = o.task),
            without_tasks AS (
                DELETE FROM backhaul.tasks t USING old o WHERE t.session = o.session AND t.id = o.task)
            SELECT (extract(epoch FROM ended_at) * 1000000)::bigint, task, (SELECT count(*) FROM seen)
            FROM seen ORDER BY ended_at DESC, task DESC LIMIT 1
            """, [.integer(position.unixMicroseconds), .integer(position.task), .integer(batch)])
        guard let row = rows.first, row.integer(2) == batch else { return EndPosition() }
        return EndPosition(unixMicroseconds: row.integer(0), task: row.integer(1))
    }
}

extension Outcome {
    /// The end of a task that its host has cancelled.
    static var cancelled: Outcome { Outcome(state: .cancelled, failure: Failure(.cancelled, "the task was cancelled")) }
}
