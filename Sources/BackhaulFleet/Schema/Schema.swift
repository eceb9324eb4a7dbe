internal import BackhaulModel

/// The tables of a fleet, in the schema `backhaul` of its database.
enum Schema {
    /// The newest version; each migration leads from one version to the next one.
    static let version = migrations.count

    /// Never change a migration that was released: add another one.
    private static let migrations = [initial]

    /// Makes the tables, or brings the tables of an earlier version to the newest one. Does nothing if they are the
    /// newest. Throws if they are of a newer version.
    static func migrate(_ database: DatabaseConnection) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            // Only one process migrates at a time. The lock ends with the transaction.
            try database.run("SELECT pg_advisory_xact_lock(hashtextextended('backhaul', 0))")
            try database.runScript(
                """
                CREATE SCHEMA IF NOT EXISTS backhaul;
                CREATE TABLE IF NOT EXISTS backhaul.schema_versions (version integer PRIMARY KEY, made_at timestamptz
                    NOT NULL DEFAULT now());
                """)
            let present = try version(database)
            try refuseNewer(present)
            for version in present..<Self.version {
                try database.runScript(migrations[version])
                try database.run(
                    "INSERT INTO backhaul.schema_versions (version) VALUES ($1)", [.integer(Int64(version + 1))])
            }
        }
    }

    /// Throws if the tables are missing, or are of another version.
    static func check(_ database: DatabaseConnection) throws(FleetError) {
        let present = try version(database)
        try refuseNewer(present)
        guard present == version else {
            throw FleetError(
                .storeUnavailable,
                "the fleet's tables have version \(present), and this library needs version \(version); "
                    + "run `backhaul fleet init`")
        }
    }

    /// Connects, and checks the tables.
    static func open(
        _ address: DatabaseAddress, replyMilliseconds: Int64 = DatabaseConnection.longestReplyMilliseconds
    ) throws(FleetError) -> DatabaseConnection {
        let database = try DatabaseConnection(address, replyMilliseconds: replyMilliseconds)
        try check(database)
        return database
    }

    /// The id of the fleet. No other database has it.
    static func fleet(_ database: DatabaseConnection) throws(FleetError) -> String {
        try database.run("SELECT fleet FROM backhaul.settings").first?.text(0) ?? ""
    }

    private static func version(_ database: DatabaseConnection) throws(FleetError) -> Int {
        let rows = try database.run("SELECT coalesce(max(version), 0) FROM backhaul.schema_versions")
        return Int(rows.first?.integer(0) ?? 0)
    }

    private static func refuseNewer(_ present: Int) throws(FleetError) {
        guard present > version else { return }
        throw FleetError(
            .storeNewer,
            "the fleet's tables have version \(present), and this library knows version \(version); "
                + "update the library")
    }

    /// Settings of tables whose rows are short-lived. The number of dead rows at which they are removed does not grow
    /// with the table, and the removal does not pause.
    private static let vacuum = """
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000
        """

    /// The states of tasks are those of `FleetTaskState`.
    private static let initial = """
        CREATE TABLE backhaul.applications (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            -- No event of a removed session has a greater number.
            newest_event bigint NOT NULL DEFAULT 0);

        -- The statement that makes events locks the row of the session, takes the next numbers, and counts the live
        -- tasks. A task counts as live until its end has an event.
        CREATE TABLE backhaul.sessions (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            application integer NOT NULL REFERENCES backhaul.applications,
            name text NOT NULL,
            configuration bytea NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            round bigint NOT NULL DEFAULT 0,
            live_tasks bigint NOT NULL DEFAULT 0,
            newest_event bigint NOT NULL DEFAULT 0,
            is_invalidating boolean NOT NULL DEFAULT false,
            consumer text,
            consumer_process bigint NOT NULL DEFAULT 0,
            consumer_started bigint,
            consumer_machine text,
            consumer_until timestamptz,
            UNIQUE (application, name));

        -- One row. The id of the fleet is in the names of temporary files, and in the directories of workers. A copy of
        -- the database has the same id.
        CREATE TABLE backhaul.settings (
            fleet uuid NOT NULL DEFAULT gen_random_uuid(),
            connections_per_origin integer NOT NULL CHECK (connections_per_origin > 0));
        INSERT INTO backhaul.settings (connections_per_origin) VALUES (6);

        -- Without its own number of connections, an origin has that of the settings. With starts_per_minute, no task
        -- starts before next_start. If the server has asked for a pause, no task starts before paused_until. The
        -- application of the last claim is that whose turn comes last.
        CREATE TABLE backhaul.origins (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            connections integer CHECK (connections > 0),
            starts_per_minute integer CHECK (starts_per_minute > 0),
            next_start timestamptz,
            paused_until timestamptz,
            last_application integer NOT NULL DEFAULT 0) WITH (fillfactor = 70, \(vacuum));

        -- One row for each worker, with its heartbeat. The worker's leases hold until lease_until.
        CREATE TABLE backhaul.workers (
            id text PRIMARY KEY,
            name text NOT NULL,
            started_at timestamptz NOT NULL DEFAULT now(),
            lease_until timestamptz NOT NULL,
            is_draining boolean NOT NULL DEFAULT false);

        -- How many of an origin's connections a worker may use.
        CREATE TABLE backhaul.permits (
            origin integer NOT NULL REFERENCES backhaul.origins,
            worker text NOT NULL REFERENCES backhaul.workers ON DELETE CASCADE,
            connections integer NOT NULL CHECK (connections > 0),
            PRIMARY KEY (origin, worker));

        -- What hosts have requested. The rows do not change. No table names another one as a foreign key: each check
        -- would lock a row, and write it. Instead, the removal of a session removes the rows of all its tables.
        CREATE TABLE backhaul.tasks (
            session bigint NOT NULL,
            id bigint NOT NULL,
            round bigint NOT NULL,
            key text,
            request bytea NOT NULL,
            -- With an infinite time, the state of the queue could not be computed.
            not_before timestamptz CHECK (isfinite(not_before)),
            enqueued_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (session, id));
        CREATE UNIQUE INDEX tasks_key ON backhaul.tasks (session, key) WHERE key IS NOT NULL;

        -- One row for each task that has not ended. Hosts cannot choose the number of a task. So no task gets the
        -- number of an earlier one, whose transfer a worker may still have.
        CREATE TABLE backhaul.live (
            task bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            session bigint NOT NULL,
            application integer NOT NULL,
            origin integer NOT NULL,
            state smallint NOT NULL,
            priority integer NOT NULL,
            -- How often the task was claimed. Only the writes of the newest run have an effect.
            run integer NOT NULL DEFAULT 0,
            worker text,
            claimed_at timestamptz,
            -- The control that the worker of a running task must apply: 0 none, 1 cancel, 2 suspend.
            wanted smallint NOT NULL DEFAULT 0,
            -- The task waits for its time. Workers set this to NULL when the time has come.
            waits_until timestamptz,
            destination text NOT NULL,
            -- In the state publishing: the run that reached it, the inode of its file, and the end that will be
            -- reported.
            publishing_run integer,
            inode bigint,
            outcome bytea,
            -- No index has the state, so the change to publishing writes no index.
            is_claimable boolean NOT NULL GENERATED ALWAYS AS (state = 1 AND waits_until IS NULL) STORED,
            CHECK (state <> 4 OR (publishing_run IS NOT NULL AND inode IS NOT NULL AND outcome IS NOT NULL)))
            WITH (fillfactor = 70, \(vacuum));
        CREATE UNIQUE INDEX live_destination ON backhaul.live (destination);
        CREATE INDEX live_claimable ON backhaul.live (origin, application, priority DESC, task) WHERE is_claimable;
        CREATE INDEX live_waiting ON backhaul.live (waits_until) WHERE waits_until IS NOT NULL;
        CREATE INDEX live_worker ON backhaul.live (worker, origin) WHERE worker IS NOT NULL;
        CREATE INDEX live_session ON backhaul.live (session);

        -- One row for each run after which the task was put back or taken over. Rows are only added.
        CREATE TABLE backhaul.runs (
            session bigint NOT NULL,
            task bigint NOT NULL,
            run integer NOT NULL,
            worker text NOT NULL,
            claimed_at timestamptz NOT NULL,
            PRIMARY KEY (session, task, run));

        -- One row for each task that has ended, with its last run. The key is the task, so that no task can end twice.
        -- Without a worker, a host has cancelled the task. Rows are only added.
        CREATE TABLE backhaul.ends (
            session bigint NOT NULL,
            task bigint NOT NULL,
            state smallint NOT NULL,
            priority integer NOT NULL,
            run integer NOT NULL,
            worker text,
            claimed_at timestamptz,
            ended_at timestamptz NOT NULL DEFAULT now(),
            outcome bytea NOT NULL,
            PRIMARY KEY (session, task));
        CREATE INDEX ends_age ON backhaul.ends (ended_at, task);

        -- The ends that have no event yet. Hosts make the events: if workers did, all of them would lock the row of
        -- the session.
        CREATE TABLE backhaul.new_ends (
            session bigint NOT NULL,
            task bigint NOT NULL,
            PRIMARY KEY (session, task)) WITH (\(vacuum));

        -- The host removes an event when it has processed it. Without a task, the event is the end of a round.
        CREATE TABLE backhaul.events (
            session bigint NOT NULL,
            id bigint NOT NULL,
            round bigint NOT NULL,
            task bigint,
            made_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (session, id)) WITH (\(vacuum));
        CREATE UNIQUE INDEX events_task ON backhaul.events (session, task) WHERE task IS NOT NULL;
        CREATE INDEX events_round ON backhaul.events (session, round) WHERE task IS NULL;

        -- The replies to enqueues. If a host repeats an enqueue because its connection ended, it gets the first reply.
        CREATE TABLE backhaul.replies (
            session bigint NOT NULL,
            client text NOT NULL,
            sequence bigint NOT NULL,
            reply bytea NOT NULL,
            made_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (client, sequence));
        CREATE INDEX replies_age ON backhaul.replies (made_at);

        -- The rights of roles are in `Rights`.
        \(Rights.tables.keys.sorted().map { "ALTER TABLE backhaul.\($0) ENABLE ROW LEVEL SECURITY;" }
            .joined(separator: "\n"))
        """
}
