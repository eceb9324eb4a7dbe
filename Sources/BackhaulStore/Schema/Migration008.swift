extension Schema {
    /// Version 8: a download of a small file changes fewer pages.
    ///
    /// - A finish intent has the counters of its attempt. So if a download needs no checkpoint and no retry, its row in
    ///   `tasks` does not change between the start and the end of the task.
    /// - The indexes of the states and of the order in which tasks start have only live tasks. The ended tasks of a
    ///   session are found by their events.
    /// - `attempts` and `history` have row ids that grow with the tasks. So SQLite adds rows near the end of such a
    ///   table, and its pages are fuller than those of a table WITHOUT ROWID. The id of an attempt is the task's id,
    ///   shifted by 20 bits, and the number of the attempt. The id of a task in the history is the id of the event
    ///   about the task's end.
    /// - `tasks` and `events` have no foreign key to `sessions`, because a session is removed only when it has no tasks
    ///   and no events. `tasks` has no foreign key to `lanes`, because a lane may be removed while it has ended tasks.
    ///   Migration007.swift describes how a foreign key is removed from a table.
    /// - A session counts its tasks that were set aside: these tasks do not count for the session's round.
    static let migration008 = """
        ALTER TABLE intents ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE intents ADD COLUMN bytes_received INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE intents ADD COLUMN http_status INTEGER NOT NULL DEFAULT 0;

        ALTER TABLE sessions ADD COLUMN aside_tasks INTEGER NOT NULL DEFAULT 0 CHECK (aside_tasks >= 0);

        DROP INDEX tasks_by_state;
        CREATE INDEX tasks_by_state ON tasks (session_id, state) WHERE ended_ms IS NULL;

        DROP INDEX tasks_by_turn;
        CREATE INDEX tasks_by_turn ON tasks (lane_id, state, due_boot_ms, constraints_id, priority DESC, id)
            WHERE ended_ms IS NULL;

        ALTER TABLE events RENAME TO earlier_events;
        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL,
            -- The task that has ended, and its state.
            task_id INTEGER,
            task_state INTEGER,
            kind INTEGER NOT NULL,
            round INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            challenge_id INTEGER,
            group_name TEXT,
            succeeded INTEGER,
            failed INTEGER,
            cancelled INTEGER,
            activity TEXT
        ) STRICT;
        INSERT INTO events SELECT events.id, events.session_id, task_id, state, kind, events.round, time_ms,
            events.challenge_id, group_name, succeeded, failed, cancelled, activity
            FROM earlier_events AS events LEFT JOIN tasks ON tasks.id = task_id ORDER BY events.id;
        -- The number of the next event.
        DELETE FROM sqlite_sequence WHERE name = 'events';
        INSERT INTO sqlite_sequence SELECT 'events', seq FROM sqlite_sequence WHERE name = 'earlier_events';
        DROP TABLE earlier_events;
        CREATE INDEX events_by_session ON events (session_id);
        CREATE UNIQUE INDEX events_by_task ON events (session_id, task_state, task_id) WHERE task_id IS NOT NULL;
        CREATE INDEX events_of_finished_rounds ON events (session_id) WHERE kind = 2;
        CREATE INDEX events_by_challenge ON events (challenge_id) WHERE challenge_id IS NOT NULL;
        CREATE INDEX events_of_activities ON events (session_id, activity) WHERE kind = 5;

        ALTER TABLE attempts RENAME TO earlier_attempts;
        CREATE TABLE attempts (
            id INTEGER PRIMARY KEY,
            next INTEGER NOT NULL,
            next_attempt_ms INTEGER NOT NULL,
            status INTEGER NOT NULL,
            error_domain INTEGER NOT NULL,
            error_detail INTEGER NOT NULL,
            error_message TEXT,
            http_status INTEGER NOT NULL,
            "offset" INTEGER NOT NULL,
            end_offset INTEGER NOT NULL,
            started_ms INTEGER NOT NULL,
            -- NULL: the URL of the request.
            url TEXT,
            redirects INTEGER NOT NULL,
            -- Microseconds count from started_ms.
            domain_lookup_us INTEGER,
            connect_us INTEGER,
            secure_connection_us INTEGER,
            request_start_us INTEGER,
            request_end_us INTEGER,
            response_start_us INTEGER,
            response_end_us INTEGER,
            protocol TEXT,
            reused_connection INTEGER NOT NULL,
            proxy_connection INTEGER NOT NULL,
            local_address TEXT,
            local_port INTEGER NOT NULL,
            remote_address TEXT,
            remote_port INTEGER NOT NULL,
            tls_version TEXT,
            tls_cipher TEXT,
            request_header_bytes INTEGER NOT NULL,
            request_body_bytes INTEGER NOT NULL,
            response_header_bytes INTEGER NOT NULL,
            response_body_bytes INTEGER NOT NULL
        ) STRICT;
        INSERT OR REPLACE INTO attempts SELECT task_id << 20 | min(number, 1048575), next, next_attempt_ms, status,
            error_domain, error_detail, error_message, http_status, "offset", end_offset, started_ms, url, redirects,
            domain_lookup_us, connect_us, secure_connection_us, request_start_us, request_end_us, response_start_us,
            response_end_us, protocol, reused_connection, proxy_connection, local_address, local_port, remote_address,
            remote_port, tls_version, tls_cipher, request_header_bytes, request_body_bytes, response_header_bytes,
            response_body_bytes FROM earlier_attempts ORDER BY task_id, number;
        DROP TABLE earlier_attempts;

        ALTER TABLE history RENAME TO earlier_history;
        CREATE TABLE history (
            -- Negative if the event was acknowledged before version 8.
            event_id INTEGER PRIMARY KEY,
            task_id INTEGER NOT NULL,
            session_id INTEGER NOT NULL,
            round INTEGER NOT NULL,
            state INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            url TEXT NOT NULL,
            destination TEXT,
            -- NULL: the file is at the destination, or there is no file.
            path TEXT,
            idempotency_key TEXT,
            user_data BLOB,
            group_name TEXT,
            priority INTEGER NOT NULL,
            status INTEGER NOT NULL,
            error_domain INTEGER NOT NULL,
            error_detail INTEGER NOT NULL,
            error_message TEXT,
            http_status INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            size INTEGER NOT NULL,
            enqueued_ms INTEGER NOT NULL,
            ended_ms INTEGER NOT NULL,
            constraints_id INTEGER NOT NULL,
            lane_id INTEGER NOT NULL,
            earliest_start_ms INTEGER,
            latest_start_ms INTEGER,
            expected_bytes_received INTEGER,
            expected_bytes_sent INTEGER,
            start_delayed_ms INTEGER
        ) STRICT;
        INSERT INTO history SELECT -row_number() OVER (ORDER BY ended_ms DESC, task_id DESC), task_id, session_id,
            round, state, kind, url, destination, nullif(path, destination), idempotency_key, user_data, group_name,
            priority, status, error_domain, error_detail, error_message, http_status, attempts, size, enqueued_ms,
            ended_ms, constraints_id, lane_id, earliest_start_ms, latest_start_ms, expected_bytes_received,
            expected_bytes_sent, start_delayed_ms FROM earlier_history;
        DROP TABLE earlier_history;
        CREATE INDEX history_by_session ON history (session_id);
        CREATE UNIQUE INDEX history_by_task ON history (session_id, task_id);

        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql, ' REFERENCES sessions,', ','), ' REFERENCES lanes,', ',')
            WHERE name = 'tasks';
        PRAGMA writable_schema = RESET;
        """
}
