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

    /// Registers the worker, or renews its leases. Returns whether the worker is to take no more tasks.
    public func renew(name: String, leaseMilliseconds: Int64) throws(FleetError) -> Bool {
        let rows = try database.run(
            """
            INSERT INTO backhaul.workers (id, name, lease_until)
            VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')
            ON CONFLICT (id) DO UPDATE SET name = $2, lease_until = excluded.lease_until RETURNING is_draining
            """, [.text(worker), .text(name), .integer(leaseMilliseconds)])
        return rows.first?.bool(0) ?? false
    }

    /// Ends the lease of the worker now, if it has no task any more.
    public func unregister() throws(FleetError) {
        try database.run(
            """
            DELETE FROM backhaul.workers
            WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM backhaul.tasks WHERE worker = $1)
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
            try putBack("worker = ANY ($2::text[]) AND state = 3", [ids])
            try database.run("DELETE FROM backhaul.permits WHERE worker = ANY ($1::text[])", [ids])
            try database.run(
                """
                DELETE FROM backhaul.workers w WHERE w.id = ANY ($1::text[])
                    AND w.lease_until < clock_timestamp() - interval '1 day'
                    AND NOT EXISTS (SELECT 1 FROM backhaul.tasks t WHERE t.worker = w.id)
                """, [ids])
        }
    }

    // MARK: Claims

    /// Leases a share of the connections of one origin that has queued tasks, and claims as many tasks as the worker
    /// may run there in addition. Returns no task if there is none, or if no connection is free.
    ///
    /// - running: how many tasks of each origin the worker runs.
    public func claim(running: [Int64: Int64], except origins: [Int64]) throws(FleetError) -> (
        origin: Int64, tasks: [ClaimedTask]
    )? {
        try database.transaction { () throws(FleetError) in
            // The lock of the origin's row is held until the commit. The free connections are counted by a later
            // statement, because this statement may not see permits that were committed before it got the lock.
            let locked = try database.run(
                """
                SELECT o.id, \(OriginLimits.connections), \(OriginLimits.starts)
                FROM backhaul.origins o, backhaul.settings s
                WHERE o.id <> ALL ($1::integer[]) AND \(OriginLimits.isOpen) AND EXISTS (
                    SELECT 1 FROM backhaul.tasks t
                    WHERE t.origin = o.id AND t.state = 1 AND coalesce(t.not_before, '-infinity') <= now())
                ORDER BY o.id FOR UPDATE OF o SKIP LOCKED LIMIT 1
                """, [.integers(origins)])
            guard let row = locked.first else { return nil }
            let origin = row.integer(0)
            let present = running[origin] ?? 0
            let permits = try lease(origin, limit: row.integer(1), running: present)
            guard permits > present else { return (origin, []) }
            let tasks = try claim(count: min(permits - present, row.integer(2)), of: origin)
            try OriginLimits(database: database, origin: origin).started(tasks.count)
            return (origin, tasks)
        }
    }

    /// Sets the worker's permits for an origin whose row is locked. Returns their number.
    private func lease(_ origin: Int64, limit: Int64, running: Int64) throws(FleetError) -> Int64 {
        let rows = try database.run(
            """
            SELECT (SELECT coalesce(sum(connections), 0) FROM backhaul.permits WHERE origin = $1 AND worker <> $2),
                   (SELECT count(*) FROM backhaul.workers WHERE lease_until > clock_timestamp() AND NOT is_draining)
            """, [.integer(origin), .text(worker)])
        guard let row = rows.first else { return running }
        let (others, workers) = (row.integer(0), max(1, row.integer(1)))
        let share = (limit + workers - 1) / workers
        let permits = max(running, min(share, limit - others))
        guard permits > 0 else { return 0 }
        try database.run(
            """
            INSERT INTO backhaul.permits (origin, worker, connections) VALUES ($1, $2, $3)
            ON CONFLICT (origin, worker) DO UPDATE SET connections = $3
            """, [.integer(origin), .text(worker), .integer(permits)])
        return permits
    }

    private func claim(count: Int64, of origin: Int64) throws(FleetError) -> [ClaimedTask] {
        let rows = try database.run(
            """
            WITH next AS (
                SELECT id FROM backhaul.tasks
                WHERE origin = $1 AND state = 1 AND coalesce(not_before, '-infinity') <= now()
                ORDER BY priority DESC, id LIMIT $2 FOR UPDATE SKIP LOCKED),
            claimed AS (
                UPDATE backhaul.tasks t SET state = 3, run = run + 1, worker = $3, wanted = 0
                FROM next WHERE t.id = next.id RETURNING t.id, t.run, t.session, t.request),
            recorded AS (
                INSERT INTO backhaul.runs (task, run, worker) SELECT id, run, $3 FROM claimed)
            SELECT id, run, session, request FROM claimed ORDER BY id
            """, [.integer(origin), .integer(count), .text(worker)])
        return try rows.map { row throws(FleetError) in try claimed(row, origin: origin) }
    }

    private func claimed(_ row: Rows.Row, origin: Int64) throws(FleetError) -> ClaimedTask {
        ClaimedTask(
            run: TaskRun(task: TaskID(rawValue: row.unsigned(0)), run: row.integer(1)),
            session: SessionID(rawValue: row.unsigned(2)), origin: origin, request: try decodedRequest(row.bytes(3)))
    }

    private func decodedRequest(_ bytes: [UInt8]) throws(FleetError) -> Request {
        do throws(Failure) { return try Wire.decodeRequest(bytes) } catch { throw FleetError(error) }
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
            SELECT id, run, session, request, origin FROM backhaul.tasks WHERE worker = $1 AND state = 3 ORDER BY id
            """, [.text(worker)])
        return try rows.map { row throws(FleetError) in try claimed(row, origin: row.integer(4)) }
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
            "SELECT id, run, wanted FROM backhaul.tasks WHERE worker = $1 AND state = 3 AND wanted <> 0",
            [.text(worker)]
        ).map { (TaskRun(task: TaskID(rawValue: $0.unsigned(0)), run: $0.integer(1)), $0.integer(2) == 2) }
    }

    // MARK: Ends

    /// Decides the ends of runs whose files are ready. Returns the runs for which it has an effect. The other ones are
    /// old: the worker must not give their files the final names.
    public func publish(_ decided: [DecidedEnd]) throws(FleetError) -> Set<TaskRun> {
        try changed(
            """
            UPDATE backhaul.tasks t SET state = 4, publishing_run = t.run, outcome = e.outcome, inode = e.inode
            FROM unnest($2::bigint[], $3::integer[], $4::bytea[], $5::bigint[]) AS e (id, run, outcome, inode)
            """, decided.map(\.end), [.integers(decided.map { Int64(truncatingIfNeeded: $0.inode) })])
    }

    /// Ends the tasks of these runs, and stores the events for the hosts. Returns the runs for which it has an effect.
    /// The other ones are old.
    public func end(_ ends: [RunEnd]) throws(FleetError) -> Set<TaskRun> {
        try database.transaction { () throws(FleetError) in
            let ended = try changed(
                """
                UPDATE backhaul.tasks t SET state = e.state, outcome = e.outcome, worker = NULL, wanted = 0
                FROM unnest($2::bigint[], $3::integer[], $4::bytea[], $5::smallint[]) AS e (id, run, outcome, state)
                """, ends, [.integers(ends.map { FleetTaskState(ended: $0.outcome.state).rawValue })])
            try EndedTasks(database: database).record(ended.map { Int64($0.task.rawValue) }, worker: worker)
            return ended
        }
    }

    /// Runs an update of tasks `t` with the rows `e` of these ends. Returns the runs that are changed.
    private func changed(
        _ update: String, _ ends: [RunEnd], _ more: [SQLValue]
    ) throws(FleetError) -> Set<TaskRun> {
        guard !ends.isEmpty else { return [] }
        let rows = try database.run(
            update + """
                 WHERE t.id = e.id AND t.run = e.run AND t.worker = $1 AND t.state IN (3, 4) RETURNING t.id, t.run
                """,
            [
                .text(worker), .integers(ends.map { Int64(truncatingIfNeeded: $0.run.task.rawValue) }),
                .integers(ends.map(\.run.run)), .byteLists(ends.map { Wire.encodeOutcome($0.outcome) }),
            ] + more)
        return Set(rows.map { TaskRun(task: TaskID(rawValue: $0.unsigned(0)), run: $0.integer(1)) })
    }

    /// Puts a task back into the queue. If its host wants it to be suspended or cancelled, it is so.
    public func putBack(_ run: TaskRun) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            try putBack(
                "id = $2 AND run = $3 AND worker = $4 AND state IN (3, 4)",
                [.unsigned(run.task.rawValue), .integer(run.run), .text(worker)])
        }
    }

    /// The parameter $1 is the outcome of the cancelled tasks. Belongs to a transaction.
    private func putBack(_ condition: String, _ values: [SQLValue]) throws(FleetError) {
        let changed = try database.run(
            """
            UPDATE backhaul.tasks SET state = CASE wanted WHEN 1 THEN 7 WHEN 2 THEN 2 ELSE 1 END, worker = NULL,
                wanted = 0, publishing_run = NULL, inode = NULL, outcome = CASE wanted WHEN 1 THEN $1::bytea END
            WHERE \(condition) RETURNING id, state
            """, [.bytes(Wire.encodeOutcome(.cancelled))] + values)
        let cancelled = changed.filter { $0.integer(1) == 7 }
        try EndedTasks(database: database).record(cancelled.map { $0.integer(0) }, worker: nil)
    }

    /// Claims the publishing tasks of workers whose leases have ended, and of this worker's earlier process. Their ends
    /// are decided, so the new run only completes the publication.
    public func takeOver() throws(FleetError) -> [PublishingTask] {
        let rows = try database.run(
            """
            WITH left_over AS (
                SELECT t.id FROM backhaul.tasks t JOIN backhaul.workers w ON w.id = t.worker
                WHERE t.state = 4 AND w.lease_until < clock_timestamp() AND w.id <> $1
                ORDER BY t.id LIMIT 100 FOR UPDATE OF t SKIP LOCKED),
            claimed AS (
                UPDATE backhaul.tasks t SET run = run + 1, worker = $1 FROM left_over l WHERE t.id = l.id
                RETURNING t.id, t.run, t.publishing_run, t.request, t.outcome, t.inode),
            recorded AS (INSERT INTO backhaul.runs (task, run, worker) SELECT id, run, $1 FROM claimed)
            SELECT * FROM claimed ORDER BY id
            """, [.text(worker)])
        return try rows.map { row throws(FleetError) in try publishing(row) }
    }

    /// The publishing tasks of this worker, for the start of its process.
    public func ownPublishing() throws(FleetError) -> [PublishingTask] {
        let rows = try database.run(
            """
            SELECT id, run, publishing_run, request, outcome, inode FROM backhaul.tasks
            WHERE worker = $1 AND state = 4 ORDER BY id
            """, [.text(worker)])
        return try rows.map { row throws(FleetError) in try publishing(row) }
    }

    private func publishing(_ row: Rows.Row) throws(FleetError) -> PublishingTask {
        do throws(Failure) {
            return PublishingTask(
                run: TaskRun(task: TaskID(rawValue: row.unsigned(0)), run: row.integer(1)), firstRun: row.integer(2),
                inode: row.unsigned(5), request: try Wire.decodeRequest(row.bytes(3)),
                outcome: try Wire.decodeOutcome(row.bytes(4)))
        } catch {
            throw FleetError(error)
        }
    }

    /// Removes what no host can ask for any more: replies of the last days, and tasks that ended a week ago, if no
    /// event reports their ends.
    public func removeOld() throws(FleetError) {
        try database.run("DELETE FROM backhaul.replies WHERE made_at < now() - interval '1 day'")
        try database.run(
            """
            DELETE FROM backhaul.tasks WHERE id IN (
                SELECT task FROM backhaul.ends e WHERE ended_at < now() - interval '7 days'
                    AND NOT EXISTS (SELECT 1 FROM backhaul.events v WHERE v.task = e.task) LIMIT 1000)
            """)
    }
}

extension Outcome {
    /// The end of a task that its host has cancelled.
    static var cancelled: Outcome { Outcome(state: .cancelled, failure: Failure(.cancelled, "the task was cancelled")) }
}
