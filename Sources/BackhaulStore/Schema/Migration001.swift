extension Schema {
    // Enumerations have the numbers of include/backhaul.h. Times are Unix milliseconds. If a column's name contains
    // `boot`, its times are milliseconds of the boot clock. A *host* is a program that embeds the library. A *round* is
    // the period in which a session has unfinished tasks. A *lane* is the tasks of one session for one server. A *kept
    // file* is a downloaded file that stays in the store. A released migration is never edited, so its SQL keeps
    // earlier words: an "answer" is a response of a server, and the "turn" of a task is its place in the order in which
    // tasks start.
    static let migration001 = """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            application TEXT NOT NULL,
            identifier TEXT NOT NULL,
            connections_per_origin INTEGER NOT NULL,
            maximum_running_tasks INTEGER NOT NULL,
            maximum_attempts INTEGER,
            first_retry_delay_ms INTEGER NOT NULL,
            longest_retry_delay_ms INTEGER NOT NULL,
            request_timeout_ms INTEGER NOT NULL,
            resource_timeout_ms INTEGER NOT NULL,
            ca_file TEXT,
            created_ms INTEGER NOT NULL,
            round INTEGER NOT NULL DEFAULT 0,
            round_open INTEGER NOT NULL DEFAULT 0,
            live_tasks INTEGER NOT NULL DEFAULT 0 CHECK (live_tasks >= 0),
            events_waiting INTEGER NOT NULL DEFAULT 0 CHECK (events_waiting >= 0),
            newest_event INTEGER NOT NULL DEFAULT 0,
            invalidating INTEGER NOT NULL DEFAULT 0,
            UNIQUE (application, identifier)
        ) STRICT;

        CREATE TABLE lanes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            scheme TEXT NOT NULL,
            server TEXT NOT NULL,
            port INTEGER NOT NULL,
            UNIQUE (session_id, server, port, scheme)
        ) STRICT;

        -- What changes while a task lives, in small rows. A task that runs is `waiting` here.
        CREATE TABLE tasks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions,
            lane_id INTEGER NOT NULL REFERENCES lanes,
            round INTEGER NOT NULL,
            state INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            due_boot_ms INTEGER,
            due_reason INTEGER NOT NULL DEFAULT 0,
            enqueued_ms INTEGER NOT NULL,
            ended_ms INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            attempts_without_progress INTEGER NOT NULL DEFAULT 0,
            bytes_received INTEGER NOT NULL DEFAULT 0,
            size INTEGER NOT NULL DEFAULT 0,
            http_status INTEGER NOT NULL DEFAULT 0,
            status INTEGER NOT NULL DEFAULT 0,
            error_domain INTEGER NOT NULL DEFAULT 0,
            error_detail INTEGER NOT NULL DEFAULT 0,
            error_message TEXT,
            idempotency_key TEXT,
            destination TEXT,
            -- Where the file of a succeeded task lies when that is neither its destination nor its place in the store.
            path TEXT,
            CHECK ((state >= 4) = (ended_ms IS NOT NULL))
        ) STRICT;
        CREATE INDEX tasks_by_state ON tasks (session_id, state);
        CREATE INDEX tasks_by_turn ON tasks (lane_id, state, due_boot_ms, priority DESC, id);
        CREATE INDEX tasks_by_due ON tasks (due_boot_ms) WHERE due_boot_ms IS NOT NULL;
        CREATE UNIQUE INDEX tasks_by_key ON tasks (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
        -- Two tasks that will make the same file would destroy each other's. Only while they live.
        CREATE UNIQUE INDEX tasks_by_destination ON tasks (destination)
            WHERE destination IS NOT NULL AND ended_ms IS NULL;

        -- What the host asked for; never changed.
        CREATE TABLE requests (
            task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
            url TEXT NOT NULL,
            directory_device INTEGER,
            directory_inode INTEGER,
            if_exists INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            starts_suspended INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            headers BLOB,
            user_data BLOB
        ) STRICT;

        CREATE TABLE checkpoints (
            task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
            entity_tag TEXT,
            last_modified TEXT,
            final_url TEXT NOT NULL,
            size INTEGER,
            synced_offset INTEGER NOT NULL,
            boot_id TEXT NOT NULL
        ) STRICT;

        -- Which file is about to be renamed to the destination.
        CREATE TABLE intents (
            task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL
        ) STRICT;

        -- What is kept of the answer that ended a task.
        CREATE TABLE answers (
            task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
            final_url TEXT,
            media_type TEXT,
            headers BLOB,
            error_body BLOB
        ) STRICT;

        -- An event's content is its task's rows, which live until it is acknowledged. One event for each end.
        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions,
            task_id INTEGER UNIQUE REFERENCES tasks ON DELETE CASCADE,
            kind INTEGER NOT NULL,
            round INTEGER NOT NULL,
            time_ms INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX events_by_session ON events (session_id);
        CREATE INDEX events_of_finished_rounds ON events (session_id) WHERE kind = 2;

        -- Keys of succeeded tasks whose event was acknowledged, until their round's end is, too: a host that was killed
        -- between the two and hands its whole list over again gets nothing twice.
        CREATE TABLE delivered (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            idempotency_key TEXT NOT NULL,
            task_id INTEGER NOT NULL,
            round INTEGER NOT NULL,
            PRIMARY KEY (session_id, idempotency_key)
        ) STRICT, WITHOUT ROWID;

        -- Files that no task needs any more, until they are removed: 1 a part file beside `destination` (NULL: in the
        -- store), 2 a kept file.
        CREATE TABLE leftovers (
            task_id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            destination TEXT
        ) STRICT;

        CREATE TABLE clients (
            id INTEGER PRIMARY KEY,
            high INTEGER NOT NULL,
            low INTEGER NOT NULL,
            process_id INTEGER NOT NULL,
            start_time INTEGER NOT NULL,
            boot_id TEXT NOT NULL,
            UNIQUE (high, low)
        ) STRICT;

        CREATE TABLE consumers (
            session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            client_id INTEGER NOT NULL REFERENCES clients ON DELETE CASCADE,
            handle INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX consumers_by_client ON consumers (client_id);

        -- Commands that are applied and whose reply may not have arrived.
        CREATE TABLE applied (
            client_high INTEGER NOT NULL,
            client_low INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            reply BLOB NOT NULL,
            PRIMARY KEY (client_high, client_low, sequence)
        ) STRICT, WITHOUT ROWID;
        """
}
