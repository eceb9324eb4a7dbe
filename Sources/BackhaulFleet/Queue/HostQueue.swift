internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulWire

/// The statements of hosts about sessions, tasks and events.
struct HostQueue {
    let database: DatabaseConnection

    // MARK: Sessions

    /// The number of the application. Only the owner of the tables may add an application.
    func application(_ name: String) throws(FleetError) -> Int64 {
        let find = "SELECT id FROM backhaul.applications WHERE name = $1"
        if let row = try database.run(find, [.text(name)]).first { return row.integer(0) }
        try database.run("INSERT INTO backhaul.applications (name) VALUES ($1) ON CONFLICT DO NOTHING", [.text(name)])
        guard let row = try database.run(find, [.text(name)]).first else {
            throw FleetError(.internal, "the application \(name) was removed")
        }
        return row.integer(0)
    }

    struct OpenedSession {
        var id: SessionID
        var isNew: Bool
        var newest: EventID
        var unacknowledged: UInt64
    }

    /// Creates the session if it does not exist.
    func create(_ configuration: SessionConfiguration, application: Int64) throws(FleetError) -> OpenedSession {
        let values: [SQLValue] = [
            .integer(application), .text(configuration.identifier), .bytes(Wire.encodeConfiguration(configuration)),
        ]
        let isNew = try database.transaction { () throws(FleetError) -> Bool in
            let inserted = try database.run(
                """
                INSERT INTO backhaul.sessions (application, name, configuration) VALUES ($1, $2, $3)
                ON CONFLICT DO NOTHING RETURNING id
                """, values)
            guard let row = inserted.first else { return false }
            // If the insert has waited for the removal of a session with this name, only a later statement sees the
            // last number of this session.
            try database.run(
                """
                UPDATE backhaul.sessions s SET newest_event = a.newest_event
                FROM backhaul.applications a WHERE s.id = $1 AND a.id = s.application
                """, [.integer(row.integer(0))])
            return true
        }
        let name = configuration.identifier
        var opened = try find(name, application: application)
        if !isNew, try isInvalidating(opened.id) {
            throw FleetError(.invalidated, "the session \(name) is invalidated and is being removed")
        }
        opened.isNew = isNew
        return opened
    }

    /// Finds a session, also if it is invalidated: its events can still be read.
    func find(_ name: String, application: Int64) throws(FleetError) -> OpenedSession {
        let rows = try database.run(
            """
            SELECT id, newest_event, (SELECT count(*) FROM backhaul.events WHERE session = s.id)
            FROM backhaul.sessions s WHERE application = $1 AND name = $2
            """, [.integer(application), .text(name)])
        guard let row = rows.first else {
            throw FleetError(.notFound, "the application has no session \(name); create it")
        }
        return OpenedSession(
            id: SessionID(rawValue: row.unsigned(0)), isNew: false, newest: EventID(rawValue: row.unsigned(1)),
            unacknowledged: row.unsigned(2))
    }

    /// Gives the right to read the session's events to a handle, or renews it. Returns false if another handle has it.
    /// The right ends 30 seconds after its last renewal, or if its process has ended on this machine.
    func claimEvents(of session: SessionID, for consumer: Consumer) throws(FleetError) -> Bool {
        if try giveEvents(of: session, to: consumer) { return true }
        let rows = try database.run(
            """
            SELECT consumer, consumer_process, consumer_started FROM backhaul.sessions
            WHERE id = $1 AND consumer_machine = $2 AND consumer_machine <> ''
            """, [.id(session), .text(Consumer.machine)])
        guard let row = rows.first else { return false }
        let process = ProcessIdentity(
            processID: Int32(truncatingIfNeeded: row.integer(1)), startTime: row.unsigned(2),
            bootID: ProcessIdentity.currentBootID)
        guard !process.isAlive else { return false }
        return try giveEvents(of: session, to: consumer, endedHandle: row.text(0))
    }

    private func giveEvents(
        of session: SessionID, to consumer: Consumer, endedHandle: String? = nil
    ) throws(FleetError) -> Bool {
        try runInTransaction(
            """
            UPDATE backhaul.sessions SET consumer = $2, consumer_process = $3, consumer_started = $4,
                consumer_machine = $5, consumer_until = clock_timestamp() + interval '30 seconds'
            WHERE id = $1 AND (consumer IS NULL OR consumer IN ($2, $6) OR consumer_until < clock_timestamp())
            """,
            [
                .id(session), .text(consumer.handle), .integer(Int64(consumer.process.processID)),
                .unsigned(consumer.process.startTime), .text(Consumer.machine), .text(endedHandle ?? consumer.handle),
            ]) == 1
    }

    /// Gives up the right of the handle to read events, if it has one.
    func releaseEvents(from handle: String, application: Int64) throws(FleetError) {
        _ = try runInTransaction(
            """
            UPDATE backhaul.sessions SET consumer = NULL, consumer_process = 0
            WHERE application = $1 AND consumer = $2
            """, [.integer(application), .text(handle)])
    }

    /// Whether the handle has lost the right to read the session's events to another one.
    func isConsumed(_ session: SessionID, byOtherThan handle: String) throws(FleetError) -> Bool {
        try !database.run(
            "SELECT 1 FROM backhaul.sessions WHERE id = $1 AND consumer IS DISTINCT FROM $2",
            [.id(session), .text(handle)]
        ).isEmpty
    }

    /// Returns the number of changed rows. With the isolation that a database may have outside of transactions, the
    /// statement would fail if another one has changed the same rows.
    private func runInTransaction(_ statement: String, _ values: [SQLValue]) throws(FleetError) -> Int {
        try database.transaction { () throws(FleetError) in try database.run(statement, values).affected }
    }

    func configuration(of session: SessionID) throws(FleetError) -> SessionConfiguration {
        let rows = try database.run("SELECT configuration FROM backhaul.sessions WHERE id = $1", [.id(session)])
        guard let row = rows.first else { throw FleetError(.sessionRemoved) }
        return try FleetError.wrapping(try Wire.decodeConfiguration(row.bytes(0)))
    }

    func update(_ configuration: SessionConfiguration, of session: SessionID) throws(FleetError) {
        _ = try runInTransaction(
            "UPDATE backhaul.sessions SET configuration = $2 WHERE id = $1",
            [.id(session), .bytes(Wire.encodeConfiguration(configuration))])
    }

    /// The session is removed after its tasks have ended and its events are acknowledged.
    func invalidate(_ session: SessionID, cancelTasks: Bool) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            try database.run("UPDATE backhaul.sessions SET is_invalidating = true WHERE id = $1", [.id(session)])
            if cancelTasks { _ = try control(.cancel, TaskSelection(), of: session) }
        }
        try removeIfFinished(session)
    }

    private func isInvalidating(_ session: SessionID) throws(FleetError) -> Bool {
        try !database.run("SELECT 1 FROM backhaul.sessions WHERE id = $1 AND is_invalidating", [.id(session)]).isEmpty
    }

    /// A later session with the same name continues the numbers of the events.
    func removeIfFinished(_ session: SessionID) throws(FleetError) {
        guard try isInvalidating(session) else { return }
        // A transaction is repeated after a deadlock, for example with the removal of old tasks.
        _ = try database.transaction { () throws(FleetError) in
            try database.run(
                """
                WITH removed AS (
                    DELETE FROM backhaul.sessions s WHERE id = $1 AND is_invalidating AND live_tasks = 0
                        AND NOT EXISTS (SELECT 1 FROM backhaul.events WHERE session = s.id)
                    RETURNING id, application, newest_event),
                without_tasks AS (DELETE FROM backhaul.tasks WHERE session IN (SELECT id FROM removed)),
                without_runs AS (DELETE FROM backhaul.runs WHERE session IN (SELECT id FROM removed)),
                without_ends AS (DELETE FROM backhaul.ends WHERE session IN (SELECT id FROM removed)),
                without_replies AS (DELETE FROM backhaul.replies WHERE session IN (SELECT id FROM removed))
                UPDATE backhaul.applications a SET newest_event = greatest(a.newest_event, r.newest_event)
                FROM removed r WHERE a.id = r.application
                """, [.id(session)])
        }
    }

    func sessions(of application: Int64) throws(FleetError) -> [SessionInfo] {
        try database.run(
            """
            SELECT name, round, live_tasks - (SELECT count(*) FROM backhaul.new_ends WHERE session = s.id),
                (SELECT count(*) FROM backhaul.events WHERE session = s.id),
                EXISTS (SELECT 1 FROM backhaul.events WHERE session = s.id AND task IS NULL), is_invalidating,
                CASE WHEN consumer IS NOT NULL AND consumer_until > now() THEN consumer_process ELSE 0 END,
                (extract(epoch FROM created_at) * 1000)::bigint, newest_event
            FROM backhaul.sessions s WHERE application = $1 ORDER BY name
            """, [.integer(application)]
        ).map { row in
            SessionInfo(
                identifier: row.text(0), round: row.unsigned(1), liveTasks: row.unsigned(2), events: row.unsigned(3),
                hasFinishedRound: row.bool(4), isInvalidating: row.bool(5), consumer: row.integer(6),
                createdMilliseconds: row.integer(7), newestEvent: EventID(rawValue: row.unsigned(8)))
        }
    }

    func applications() throws(FleetError) -> [ApplicationInfo] {
        try database.run(
            """
            SELECT a.name, (SELECT count(*) FROM backhaul.sessions WHERE application = a.id),
                coalesce(l.tasks, 0), coalesce(l.running, 0),
                (SELECT count(*) FROM backhaul.events e JOIN backhaul.sessions s ON s.id = e.session
                 WHERE s.application = a.id)
            FROM backhaul.applications a LEFT JOIN (
                SELECT application, count(*) AS tasks, count(worker) AS running
                FROM backhaul.live GROUP BY application) AS l ON l.application = a.id
            ORDER BY a.name
            """
        ).map { row in
            var info = ApplicationInfo(identifier: row.text(0))
            info.sessions = row.unsigned(1)
            info.liveTasks = row.unsigned(2)
            info.runningTasks = row.unsigned(3)
            info.events = row.unsigned(4)
            return info
        }
    }

    // MARK: Events

    func poll(
        _ session: SessionID, after: EventID, maximum: Int
    ) throws(FleetError) -> (events: [Event], more: Bool) {
        let rows = try database.transaction { () throws(FleetError) in
            try EndedTasks(database: database).makeEvents(of: session)
            // The inner queries are not joined, because the planner could join all tasks of the session.
            return try database.run(
                Self.bounded(
                    """
                    SELECT id, round, (extract(epoch FROM made_at) * 1000)::bigint, task,
                        (SELECT request FROM backhaul.tasks t WHERE t.session = v.session AND t.id = v.task) AS request,
                        (SELECT outcome FROM backhaul.ends e WHERE e.session = v.session AND e.task = v.task) AS outcome
                    FROM backhaul.events v WHERE session = $1 AND id > $2 ORDER BY id LIMIT $3
                    """), [.id(session), .id(after), .integer(Int64(maximum) + 1)])
        }
        let events = try rows.prefix(maximum).map { row throws(FleetError) in try event(row) }
        let fitting = Wire.countThatFits(events)
        return (Array(events.prefix(fitting)), (rows.first?.integer(6) ?? 0) > fitting)
    }

    /// Ends the result of a query when it has as many bytes as a reply may have: a host would need much memory for
    /// thousands of long requests. The query has the columns `id`, `request` and `outcome`. The column after its last
    /// one is the number of all its rows.
    private static func bounded(_ query: String) -> String {
        """
        SELECT * FROM (
            SELECT *, count(*) OVER (), sum(octet_length(request) + coalesce(octet_length(outcome), 0))
                OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
            FROM (\(query)) AS found) AS measured
        WHERE coalesce(bytes_before, 0) < \(Wire.maximumFrame) ORDER BY id
        """
    }

    private func event(_ row: Rows.Row) throws(FleetError) -> Event {
        var kind = Event.Kind.sessionFinished
        if !row.isNull(3) {
            let request = try FleetError.wrapping(try Wire.decodeRequest(row.bytes(4)))
            kind = .taskEnded(
                EndedTask(
                    id: TaskID(rawValue: row.unsigned(3)), url: request.url, idempotencyKey: request.idempotencyKey,
                    userData: request.userData, outcome: try FleetError.wrapping(try Wire.decodeOutcome(row.bytes(5)))))
        }
        return Event(
            id: EventID(rawValue: row.unsigned(0)), round: row.unsigned(1), timeMilliseconds: row.integer(2),
            kind: kind)
    }

    func acknowledge(_ acknowledgement: Acknowledgement, of session: SessionID) throws(FleetError) -> UInt64 {
        let (condition, value): (String, SQLValue) =
            switch acknowledgement {
            case .through(let id): ("id <= $2", .id(id))
            case .ids(let ids): ("id = ANY ($2::bigint[])", .ids(ids))
            }
        let statement = "DELETE FROM backhaul.events WHERE session = $1 AND \(condition)"
        return UInt64(try runInTransaction(statement, [.id(session), value]))
    }

    func countEvents(of session: SessionID, through: EventID) throws(FleetError) -> UInt64 {
        try database.run(
            "SELECT count(*) FROM backhaul.events WHERE session = $1 AND id <= $2", [.id(session), .id(through)]
        ).first?.unsigned(0) ?? 0
    }

    struct SessionNews {
        var session: SessionID
        var name: String
        /// Nil if all events are acknowledged.
        var newest: EventID?
    }

    /// Makes the events of new ends, and returns what is new in each session.
    func news(of application: Int64) throws(FleetError) -> [SessionNews] {
        let rows = try sessionNews(of: application)
        let ended = rows.filter { $0.bool(4) }
        for row in ended {
            try database.transaction { () throws(FleetError) in
                try EndedTasks(database: database).makeEvents(of: SessionID(rawValue: row.unsigned(3)))
            }
        }
        return (ended.isEmpty ? rows : try sessionNews(of: application)).map {
            SessionNews(
                session: SessionID(rawValue: $0.unsigned(3)), name: $0.text(0),
                newest: $0.bool(2) ? EventID(rawValue: $0.unsigned(1)) : nil)
        }
    }

    private func sessionNews(of application: Int64) throws(FleetError) -> [Rows.Row] {
        Array(
            try database.run(
                """
                SELECT name, newest_event, \(EndedTasks.first("events.id", of: "s.id")) IS NOT NULL, id,
                    \(EndedTasks.first("new_ends.task", of: "s.id")) IS NOT NULL
                FROM backhaul.sessions s WHERE application = $1
                """, [.integer(application)]))
    }

    // MARK: Tasks

    func tasks(
        _ selection: TaskSelection, after: TaskID, maximum: Int, of session: SessionID
    ) throws(FleetError) -> (tasks: [TaskInfo], more: Bool) {
        let rows = try database.run(
            Self.bounded(
                """
                SELECT \(Self.columns) FROM \(Self.allTasks) LEFT JOIN backhaul.live l ON l.task = t.id
                WHERE t.session = $1 AND t.id > $4 AND ($2::bigint[] = '{}' OR t.id = ANY ($2::bigint[]))
                    AND coalesce(l.state, e.state) = ANY ($3::smallint[]) ORDER BY t.id LIMIT $5
                """),
            Self.values(selection, of: session) + [.id(after), .integer(Int64(maximum) + 1)])
        return try listed(rows, maximum)
    }

    /// The ended tasks whose events the host has acknowledged.
    func history(
        after: TaskID, maximum: Int, of session: SessionID
    ) throws(FleetError) -> (tasks: [TaskInfo], more: Bool) {
        let rows = try database.run(
            Self.bounded(
                """
                SELECT \(Self.columns) FROM \(Self.allTasks) LEFT JOIN backhaul.live l ON false
                WHERE t.session = $1 AND t.id > $2 AND e.task IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM backhaul.events v WHERE v.session = t.session AND v.task = t.id)
                ORDER BY t.id LIMIT $3
                """), [.id(session), .id(after), .integer(Int64(maximum) + 1)])
        return try listed(rows, maximum)
    }

    /// The runs of a task, each as an attempt.
    func attempts(of task: TaskID, in session: SessionID) throws(FleetError) -> [Attempt] {
        let rows = try database.run(
            "SELECT 1 FROM backhaul.tasks WHERE session = $1 AND id = $2", [.id(session), .id(task)])
        guard !rows.isEmpty else { throw FleetError(.notFound, "the session has no task \(task.rawValue)") }
        return try attempts(of: [task], in: session).attempts
    }

    /// The runs of tasks, sorted by task: of each task the first one, and the 99 newest ones. Missing tasks are left
    /// out. Returns whether the last tasks are left out because the list is long.
    func attempts(of tasks: [TaskID], in session: SessionID) throws(FleetError) -> (attempts: [Attempt], more: Bool) {
        let limit = 4_000
        let rows = try database.run(
            """
            SELECT task, run, next, (extract(epoch FROM claimed_at) * 1000)::bigint FROM (
                SELECT *, row_number() OVER (PARTITION BY task ORDER BY run DESC) AS age FROM (
                    SELECT task, run, claimed_at, \(AttemptNext.stopped.rawValue) AS next
                    FROM backhaul.runs WHERE session = $1 AND task = ANY ($2::bigint[])
                    UNION ALL SELECT task, run, claimed_at, \(AttemptNext.running.rawValue)
                    FROM backhaul.live WHERE \(Self.ofTasks) AND claimed_at IS NOT NULL
                    UNION ALL SELECT task, run, claimed_at, \(AttemptNext.end.rawValue)
                    FROM backhaul.ends WHERE session = $1 AND task = ANY ($2::bigint[]) AND claimed_at IS NOT NULL
                ) AS runs) AS aged
            WHERE run = 1 OR age <= 99 ORDER BY task, run LIMIT $3
            """, [.id(session), .ids(tasks), .integer(Int64(limit) + 1)])
        let attempts = rows.map { row in
            var attempt = Attempt(
                task: TaskID(rawValue: row.unsigned(0)), number: UInt32(clamping: row.integer(1)),
                next: AttemptNext(rawValue: Int32(clamping: row.integer(2))) ?? .stopped)
            attempt.metrics.startedMilliseconds = row.integer(3)
            return attempt
        }
        guard attempts.count > limit, let cut = attempts.last?.task else { return (attempts, false) }
        return (attempts.filter { $0.task != cut }, true)
    }

    /// Tasks `t` with their ends `e`.
    private static let allTasks =
        "backhaul.tasks t LEFT JOIN backhaul.ends e ON e.session = t.session AND e.task = t.id"

    /// The columns of a task `t` with its end `e` or its live row `l`.
    private static let columns = """
        t.id, t.round, coalesce(l.state, e.state), coalesce(l.priority, e.priority), coalesce(l.run, e.run),
        t.request, e.outcome, (extract(epoch FROM t.enqueued_at) * 1000)::bigint,
        (extract(epoch FROM e.ended_at) * 1000)::bigint
        """

    private func listed(_ rows: Rows, _ maximum: Int) throws(FleetError) -> (tasks: [TaskInfo], more: Bool) {
        let tasks = try rows.prefix(maximum).map { row throws(FleetError) in try TaskInfo(row) }
        let fitting = Wire.countThatFits(tasks)
        return (Array(tasks.prefix(fitting)), (rows.first?.integer(9) ?? 0) > fitting)
    }

    /// The condition of the live tasks with the ids `$2` in the session `$1`. The CASE hides the session
    /// from the planner, so it uses the ids. With old statistics, it could otherwise read the whole session.
    private static let ofTasks = "task = ANY ($2::bigint[]) AND CASE WHEN session = $1 THEN true ELSE false END"

    /// The condition of the selected live tasks, with the parameters of `values`. The planner knows the parameters, so
    /// only one of the two alternatives remains.
    private static let selected = """
        ($2::bigint[] <> '{}' OR session = $1) AND ($2::bigint[] = '{}' OR \(ofTasks)) AND state = ANY ($3::smallint[])
        """

    private static func values(
        _ selection: TaskSelection, of session: SessionID, states: [FleetTaskState] = FleetTaskState.allCases
    ) -> [SQLValue] {
        // A fleet has no groups, so a group selects no task.
        let wanted = selection.group == nil ? states.filter { selection.states.contains(TaskStates($0.shown)) } : []
        return [.id(session), .ids(selection.ids), .integers(wanted.map(\.rawValue))]
    }

    /// Applies the control to the selected tasks. For a running task, its worker applies it a little later. Returns the
    /// number of changed tasks.
    func control(
        _ control: TaskControl, _ selection: TaskSelection, of session: SessionID
    ) throws(FleetError) -> UInt64 {
        /// One statement, because a worker may claim a task between two ones.
        func change(_ set: String, _ states: [FleetTaskState], _ more: [SQLValue] = []) throws(FleetError) -> UInt64 {
            UInt64(
                try database.run(
                    "UPDATE backhaul.live SET \(set)", Self.values(selection, of: session, states: states) + more
                ).affected)
        }
        switch control {
        case .cancel:
            // After the first statement, no worker claims the tasks or puts them back.
            let count = try change("wanted = 1 WHERE \(Self.selected)", [.queued, .suspended, .running])
            _ = try EndedTasks(database: database).end(
                """
                DELETE FROM backhaul.live WHERE \(Self.selected)
                RETURNING \(EndedTasks.columns(state: "7", outcome: "$4::bytea"))
                """,
                Self.values(selection, of: session, states: [.queued, .suspended])
                    + [.bytes(Wire.encodeOutcome(.cancelled))])
            return count
        case .suspend:
            return try change(
                """
                state = CASE state WHEN 1 THEN 2 ELSE state END,
                wanted = CASE WHEN state = 3 AND wanted = 0 THEN 2 ELSE wanted END
                WHERE \(Self.selected)
                """, [.queued, .running])
        case .resume:
            return try change(
                """
                state = CASE state WHEN 2 THEN 1 ELSE state END, wanted = 0
                WHERE \(Self.selected) AND (state = 2 OR wanted = 2)
                """, [.suspended, .running])
        case .setPriority(let priority):
            return try change(
                "priority = $4 WHERE \(Self.selected)", [.queued, .suspended, .running], [.integer(Int64(priority))])
        case .setAside, .setRate, .setConstraints, .reschedule:
            throw FleetError(
                .invalidArgument,
                "tasks of a fleet can be cancelled, suspended, resumed, and given a priority, and nothing else")
        }
    }

    // MARK: Limits

    func connectionsPerOrigin() throws(FleetError) -> UInt32 {
        let rows = try database.run("SELECT connections_per_origin FROM backhaul.settings")
        return UInt32(clamping: rows.first?.integer(0) ?? 6)
    }

    func setConnectionsPerOrigin(_ connections: UInt32) throws(FleetError) {
        try database.run("UPDATE backhaul.settings SET connections_per_origin = $1", [.integer(Int64(connections))])
    }
}

extension TaskInfo {
    fileprivate init(_ row: Rows.Row) throws(FleetError) {
        guard let state = FleetTaskState(rawValue: row.integer(2)) else {
            throw FleetError(.storeNewer, "a task has the state \(row.integer(2)), which this library does not know")
        }
        let request = try FleetError.wrapping(try Wire.decodeRequest(row.bytes(5)))
        let outcome = try FleetError.wrapping(
            try row.optionalBytes(6).map { bytes throws(Failure) in try Wire.decodeOutcome(bytes) })
        let (reason, sentence): (WaitReason, String?) =
            switch state {
            case .queued: (.slot, "it waits until a worker of the fleet has a free connection for its server")
            case .suspended: (.suspended, "it is suspended until it is resumed")
            default: (.none, nil)
            }
        self.init(
            id: TaskID(rawValue: row.unsigned(0)), round: row.unsigned(1), state: state.shown, reason: reason,
            reasonText: sentence, nextAttemptMilliseconds: 0, url: request.url,
            destinationPath: request.destination?.path, idempotencyKey: request.idempotencyKey,
            userData: request.userData, priority: Int32(clamping: row.integer(3)), failure: outcome?.failure,
            httpStatus: outcome?.response.httpStatus ?? 0, attempts: UInt32(clamping: row.integer(4)),
            offset: outcome?.size ?? 0, size: outcome?.size, bytesPerSecond: 0, enqueuedMilliseconds: row.integer(7))
        endedMilliseconds = row.integer(8)
        path = outcome?.path
    }
}
