extension Schema {
    /// The tables of tasks, and of the requests, files, events and waits of tasks.
    static let taskTables = """
        CREATE TABLE lanes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            scheme TEXT NOT NULL,
            server TEXT NOT NULL,
            port INTEGER NOT NULL,
            UNIQUE (session_id, server, port, scheme)
        ) STRICT;

        -- The values of a task that change until the task ends, in small rows. No row states that a task runs.
        CREATE TABLE tasks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            -- No foreign keys: a session is removed only when it has no tasks, and a lane may be removed before its
            -- ended tasks.
            session_id INTEGER NOT NULL,
            lane_id INTEGER NOT NULL,
            group_id INTEGER,
            -- 0: the task has no constraints of its own.
            constraints_id INTEGER NOT NULL,
            -- The challenge that the task waits for, or the last one that it waited for.
            challenge_id INTEGER,
            task_kind INTEGER NOT NULL,
            round INTEGER NOT NULL,
            state INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            idempotency_key TEXT,
            destination TEXT,
            -- The file of a succeeded task, if it is neither at the destination nor at its place in the store.
            path TEXT,
            -- The path that a live task has reserved, because the server names its file.
            reserved_path TEXT,
            -- A random number in the name of the part file.
            part INTEGER NOT NULL,
            enqueued_ms INTEGER NOT NULL,
            ended_ms INTEGER,
            due_boot_ms INTEGER,
            due_reason INTEGER NOT NULL DEFAULT 0,
            -- How long the task was suspended, and since when it is. The resource time-out does not include this time.
            suspended_ms INTEGER NOT NULL DEFAULT 0,
            suspended_since_ms INTEGER,
            -- NULL: there is no latest start, or it is over.
            latest_start_ms INTEGER,
            -- The end of the task's own resource time-out. NULL: the time-out is the session's.
            own_end_ms INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            attempts_without_progress INTEGER NOT NULL DEFAULT 0,
            bytes_received INTEGER NOT NULL DEFAULT 0,
            bytes_sent INTEGER NOT NULL DEFAULT 0,
            -- The greatest offset that was ever durable. Bytes below it are no progress.
            furthest_offset INTEGER NOT NULL DEFAULT 0,
            -- Attempts that ended with another digest or size than the request states.
            mismatches INTEGER NOT NULL DEFAULT 0,
            -- The engine ended during a request that must not be repeated, and the result is not known.
            is_under_way INTEGER NOT NULL DEFAULT 0,
            size INTEGER NOT NULL DEFAULT 0,
            http_status INTEGER NOT NULL DEFAULT 0,
            status INTEGER NOT NULL DEFAULT 0,
            error_domain INTEGER NOT NULL DEFAULT 0,
            error_detail INTEGER NOT NULL DEFAULT 0,
            error_message TEXT,
            CHECK ((state >= 4) = (ended_ms IS NOT NULL))
        ) STRICT;
        CREATE INDEX tasks_by_due ON tasks (due_boot_ms) WHERE due_boot_ms IS NOT NULL;
        CREATE UNIQUE INDEX tasks_by_key ON tasks (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX tasks_by_challenge ON tasks (challenge_id) WHERE challenge_id IS NOT NULL;
        CREATE INDEX tasks_by_group ON tasks (group_id) WHERE group_id IS NOT NULL;
        -- Any number of tasks may place files in one directory, which is a destination with a slash at its end.
        CREATE UNIQUE INDEX tasks_by_destination ON tasks (destination)
            WHERE destination IS NOT NULL AND ended_ms IS NULL AND substr(destination, -1) <> '/';
        CREATE INDEX tasks_by_reserved_path ON tasks (reserved_path)
            WHERE reserved_path IS NOT NULL AND ended_ms IS NULL;
        CREATE INDEX tasks_by_constraints ON tasks (constraints_id) WHERE constraints_id <> 0;
        CREATE INDEX tasks_by_latest_start ON tasks (latest_start_ms) WHERE latest_start_ms IS NOT NULL;
        CREATE INDEX tasks_by_own_end ON tasks (session_id, state, own_end_ms) WHERE own_end_ms IS NOT NULL;
        -- Waiting tasks with the resource time-out of their session, the oldest first.
        CREATE INDEX tasks_by_age ON tasks (session_id, enqueued_ms + suspended_ms)
            WHERE state = 1 AND own_end_ms IS NULL;
        CREATE INDEX tasks_by_state ON tasks (session_id, state) WHERE ended_ms IS NULL;
        CREATE INDEX tasks_by_turn ON tasks (lane_id, state, due_boot_ms, constraints_id, priority DESC, id)
            WHERE ended_ms IS NULL;

        CREATE TABLE requests (
            task_id INTEGER PRIMARY KEY,
            url TEXT NOT NULL,
            directory_device INTEGER,
            directory_inode INTEGER,
            file_system TEXT,
            if_exists INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            starts_suspended INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            headers BLOB,
            user_data BLOB,
            has_options INTEGER NOT NULL
        ) STRICT;

        -- The rarely used fields of a request. If a column of the policy is NULL, the value of the session applies.
        CREATE TABLE request_options (
            task_id INTEGER PRIMARY KEY,
            \(optionColumns),
            -- If the starts were changed: since when the task waits for the earliest start.
            start_delayed_ms INTEGER
        ) STRICT;
        CREATE INDEX request_options_rescheduled ON request_options (task_id) WHERE start_delayed_ms IS NOT NULL;

        -- The files and values of a request body: one row without a name, or one row for each part of a form.
        CREATE TABLE body_parts (
            task_id INTEGER NOT NULL,
            position INTEGER NOT NULL,
            name TEXT,
            file TEXT,
            device INTEGER,
            inode INTEGER,
            size INTEGER,
            modified_ns INTEGER,
            value BLOB,
            file_name TEXT,
            media_type TEXT,
            -- The name in the store's folder of bodies. If it is set, device and inode are those of this file, or 0
            -- for a copy.
            stored TEXT,
            -- Of a consumed file: the file system of its old path. NULL: not known.
            file_system TEXT,
            PRIMARY KEY (task_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX body_parts_stored ON body_parts (stored) WHERE stored IS NOT NULL;

        -- The old names of consumed files, until they are removed.
        CREATE TABLE consumed (
            path TEXT PRIMARY KEY,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified_ns INTEGER NOT NULL,
            file_system TEXT
        ) STRICT, WITHOUT ROWID;

        -- Files in the store's folder of bodies that no task needs.
        CREATE TABLE body_leftovers (
            name TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;

        -- Consumed files of tasks that did not succeed, until the files are at their old places.
        CREATE TABLE bodies_to_return (
            name TEXT PRIMARY KEY,
            path TEXT NOT NULL,
            task_id INTEGER NOT NULL,
            file_system TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE checkpoints (
            task_id INTEGER PRIMARY KEY,
            entity_tag TEXT,
            last_modified TEXT,
            final_url TEXT NOT NULL,
            size INTEGER,
            synced_offset INTEGER NOT NULL,
            boot_id TEXT NOT NULL,
            -- What the response stated of the whole file.
            digest TEXT,
            content_encoding TEXT,
            file_name TEXT,
            -- The identity of the part file. part_checksum is of its first part_length bytes, and synced_checksum of
            -- its first synced_offset bytes.
            part_device INTEGER,
            part_inode INTEGER,
            part_length INTEGER,
            part_checksum INTEGER,
            synced_checksum INTEGER
        ) STRICT;

        -- The resources that servers have made for uploads: the rest of the body is sent there.
        CREATE TABLE upload_resources (
            task_id INTEGER PRIMARY KEY,
            upload_protocol INTEGER NOT NULL,
            url TEXT NOT NULL,
            -- How many bytes of the body the server is known to have.
            upload_offset INTEGER NOT NULL,
            -- The most bytes of one request. NULL: no limit.
            longest_append INTEGER
        ) STRICT;

        -- The resources of uploads that ended without success, until their servers have removed them.
        CREATE TABLE abandoned_uploads (
            url TEXT PRIMARY KEY,
            -- No foreign key: the upload is forgotten when its turn comes and its session does not exist any more.
            session_id INTEGER NOT NULL,
            upload_protocol INTEGER NOT NULL,
            request_url TEXT NOT NULL,
            headers BLOB,
            -- What the task has taken from responses.
            taken_url TEXT,
            taken_headers BLOB,
            -- What the host gave in place of an expired URL or expired headers.
            refreshed_url TEXT,
            refreshed_headers BLOB,
            -- The settings of the request for S3.
            s3_endpoint TEXT,
            s3_region TEXT,
            s3_profile TEXT,
            s3_credential_command TEXT,
            s3_path_style INTEGER,
            -- NULL: as the session.
            refuses_private_addresses INTEGER,
            abandoned_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- The tasks that a task waits for, and what it takes from their responses.
        CREATE TABLE dependencies (
            task_id INTEGER NOT NULL,
            position INTEGER NOT NULL,
            -- As the host has named the other task: by its key, or NULL: by its id.
            idempotency_key TEXT,
            predecessor_id INTEGER NOT NULL,
            if_fails INTEGER NOT NULL,
            -- Where in the response the URL, the values of the header fields, and the body are.
            url TEXT,
            headers BLOB,
            body TEXT,
            -- Whether the task waits no more for the other task.
            is_over INTEGER NOT NULL,
            PRIMARY KEY (task_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX dependencies_that_last ON dependencies (predecessor_id) WHERE is_over = 0;

        -- What tasks have taken from the responses of other tasks. It applies when the task is read.
        CREATE TABLE taken_values (
            task_id INTEGER PRIMARY KEY,
            url TEXT,
            headers BLOB,
            body BLOB
        ) STRICT;

        -- Finish intents, with the counters of their attempts.
        CREATE TABLE intents (
            task_id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            -- The name that the server has given the file.
            file_name TEXT,
            attempts INTEGER NOT NULL,
            bytes_received INTEGER NOT NULL,
            http_status INTEGER NOT NULL,
            -- The CRC-32C of the file.
            crc32c INTEGER
        ) STRICT;

        CREATE TABLE responses (
            task_id INTEGER PRIMARY KEY,
            final_url TEXT,
            media_type TEXT,
            headers BLOB,
            error_body BLOB,
            response_body BLOB,
            is_body_incomplete INTEGER NOT NULL,
            checksum TEXT
        ) STRICT;

        -- The attempts of a task: the first and the newest ones. They stay as long as the task is in the history. The
        -- id is the id of the task, shifted by 20 bits, and the number of the attempt.
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
            -- The microseconds count from started_ms.
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

        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL,
            -- The ended task and its state.
            task_id INTEGER,
            task_state INTEGER,
            kind INTEGER NOT NULL,
            round INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            challenge_id INTEGER,
            -- The event "group finished": the group and its ends.
            group_name TEXT,
            succeeded INTEGER,
            failed INTEGER,
            cancelled INTEGER,
            activity TEXT
        ) STRICT;
        CREATE INDEX events_by_session ON events (session_id);
        CREATE UNIQUE INDEX events_by_task ON events (session_id, task_state, task_id) WHERE task_id IS NOT NULL;
        CREATE INDEX events_of_finished_rounds ON events (session_id) WHERE kind = 2;
        CREATE INDEX events_by_challenge ON events (challenge_id) WHERE challenge_id IS NOT NULL;
        CREATE INDEX events_of_activities ON events (session_id, activity) WHERE kind = 5;

        -- The tasks whose events were acknowledged.
        CREATE TABLE history (
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
            -- Of an upload: the size of its body.
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
        CREATE INDEX history_by_session ON history (session_id);
        CREATE UNIQUE INDEX history_by_task ON history (session_id, task_id);

        CREATE TABLE delivered (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            idempotency_key TEXT NOT NULL,
            task_id INTEGER NOT NULL,
            round INTEGER NOT NULL,
            PRIMARY KEY (session_id, idempotency_key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX delivered_by_round ON delivered (session_id, round);

        CREATE TABLE groups (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            name TEXT NOT NULL,
            live_tasks INTEGER NOT NULL DEFAULT 0 CHECK (live_tasks >= 0),
            -- The ends since the group last finished.
            succeeded INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0,
            cancelled INTEGER NOT NULL DEFAULT 0,
            UNIQUE (session_id, name)
        ) STRICT;

        -- The constraints of tasks, one row for all tasks with the same constraints.
        CREATE TABLE constraints (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            \(constraintColumns),
            is_launched INTEGER NOT NULL,
            is_past_latest_start INTEGER NOT NULL,
            UNIQUE (session_id, \(constraintNames), is_launched, is_past_latest_start)
        ) STRICT;

        -- Times in which tasks waited: the tasks with these constraints in this lane (NULL: in all lanes), or one task.
        CREATE TABLE waits (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            constraints_id INTEGER,
            lane_id INTEGER,
            task_id INTEGER,
            reason INTEGER NOT NULL,
            sentence TEXT NOT NULL,
            began_ms INTEGER NOT NULL,
            -- NULL: the wait has not ended.
            ended_ms INTEGER
        ) STRICT;
        CREATE INDEX waits_of_sessions ON waits (session_id, task_id IS NULL);
        CREATE INDEX waits_by_task ON waits (task_id) WHERE task_id IS NOT NULL;
        CREATE INDEX waits_that_last ON waits (id) WHERE ended_ms IS NULL;

        -- The version of a representation at a destination, and the file by which it is recognized.
        CREATE TABLE validators (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            destination TEXT NOT NULL,
            url TEXT NOT NULL,
            final_url TEXT NOT NULL,
            entity_tag TEXT,
            last_modified TEXT,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified_ns INTEGER NOT NULL,
            PRIMARY KEY (session_id, destination)
        ) STRICT, WITHOUT ROWID;

        -- Files and parts of files that no task needs. They are deleted, retained parts after their time.
        CREATE TABLE leftovers (
            task_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            destination TEXT,
            part INTEGER NOT NULL,
            file_system TEXT,
            -- A retained part: until this time, a later task of the session with the same destination and key continues
            -- it. Its checkpoint has the negative task_id. NULL: no task continues the part.
            session_id INTEGER,
            idempotency_key TEXT,
            retained_until_ms INTEGER,
            PRIMARY KEY (task_id, part)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX leftovers_by_key ON leftovers (session_id, idempotency_key) WHERE session_id IS NOT NULL;
        CREATE INDEX leftovers_by_end ON leftovers (retained_until_ms) WHERE retained_until_ms IS NOT NULL;

        -- A host claims the file of an ended task: the file is moved to a path of the host. The row has the file's
        -- identity. It is written before the move, and removed when the claim is recorded. device: 0 if not known. The
        -- path is the host's. A copy to another file system has its temporary name in the directory of this path.
        CREATE TABLE claims (
            task_id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            path TEXT NOT NULL,
            file_system TEXT
        ) STRICT;
        """
}
