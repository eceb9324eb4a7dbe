extension Schema {
    /// Version 3: requests with options, groups of tasks, attempts (runs of tasks), the history of ended tasks,
    /// cookies, stored credentials, limits. A released migration is never edited, so the comments in its SQL keep
    /// earlier words. An "answer" is a response of a server, or a credential in response to a challenge (a demand for a
    /// credential). A "version" is the bytes of a resource at one time.
    static let migration003 = """
        ALTER TABLE sessions ADD COLUMN retry_jitter_percent INTEGER NOT NULL DEFAULT 50;
        ALTER TABLE sessions ADD COLUMN retry_errors INTEGER NOT NULL DEFAULT 63;
        ALTER TABLE sessions ADD COLUMN retries_unsafe_methods INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN retry_statuses TEXT NOT NULL DEFAULT '408,429,500,502-504';
        ALTER TABLE sessions ADD COLUMN accepted_statuses TEXT NOT NULL DEFAULT '200-299';
        ALTER TABLE sessions ADD COLUMN http_version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN redirects INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE sessions ADD COLUMN maximum_redirects INTEGER NOT NULL DEFAULT 20;
        ALTER TABLE sessions ADD COLUMN maximum_size INTEGER;
        ALTER TABLE sessions ADD COLUMN headers BLOB;
        ALTER TABLE sessions ADD COLUMN bytes_per_second INTEGER;
        ALTER TABLE sessions ADD COLUMN proxy TEXT;
        ALTER TABLE sessions ADD COLUMN proxy_user TEXT;
        ALTER TABLE sessions ADD COLUMN proxy_password TEXT;
        ALTER TABLE sessions ADD COLUMN no_proxy TEXT;
        ALTER TABLE sessions ADD COLUMN cookies INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE sessions ADD COLUMN minimum_tls INTEGER NOT NULL DEFAULT 12;
        ALTER TABLE sessions ADD COLUMN client_certificate TEXT;
        ALTER TABLE sessions ADD COLUMN client_key TEXT;
        ALTER TABLE sessions ADD COLUMN pinned_public_keys TEXT;
        ALTER TABLE sessions ADD COLUMN history_limit INTEGER DEFAULT 1000;
        ALTER TABLE sessions ADD COLUMN history_count INTEGER NOT NULL DEFAULT 0;

        ALTER TABLE requests ADD COLUMN has_options INTEGER NOT NULL DEFAULT 0;
        -- What few requests have. A policy's column is NULL where the session decides.
        CREATE TABLE request_options (
            task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
            method TEXT,
            "group" TEXT,
            checksum TEXT,
            expected_size INTEGER,
            refresh INTEGER NOT NULL,
            expires_ms INTEGER,
            if_changed INTEGER NOT NULL,
            named_by_server INTEGER NOT NULL,
            ignores_digests INTEGER NOT NULL,
            maximum_attempts INTEGER,
            first_retry_delay_ms INTEGER,
            longest_retry_delay_ms INTEGER,
            retry_jitter_percent INTEGER,
            retry_errors INTEGER,
            retries_unsafe_methods INTEGER,
            retry_statuses TEXT,
            accepted_statuses TEXT,
            request_timeout_ms INTEGER,
            resource_timeout_ms INTEGER,
            http_version INTEGER,
            redirects INTEGER,
            maximum_redirects INTEGER,
            maximum_size INTEGER,
            bytes_per_second INTEGER,
            -- NULL: there is no body.
            body_source INTEGER,
            body_size INTEGER,
            body BLOB
        ) STRICT;

        -- Files and values of a body: one row for `body_file` (without a name), one for each part of a form.
        CREATE TABLE body_parts (
            task_id INTEGER NOT NULL REFERENCES tasks ON DELETE CASCADE,
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
            -- Name in the store's folder of bodies; then device and inode are those of that file, and 0 for a copy.
            stored TEXT,
            PRIMARY KEY (task_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX body_parts_stored ON body_parts (stored) WHERE stored IS NOT NULL;

        -- Old names of consumed files, until they are removed.
        CREATE TABLE consumed (
            path TEXT PRIMARY KEY,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified_ns INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- Files in the store's folder of bodies that no task needs any more.
        CREATE TABLE body_leftovers (
            name TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;
        -- Consumed files of tasks that have not succeeded, until they are where they were.
        CREATE TABLE bodies_to_return (
            name TEXT PRIMARY KEY,
            path TEXT NOT NULL,
            task_id INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE groups (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            name TEXT NOT NULL,
            live_tasks INTEGER NOT NULL DEFAULT 0 CHECK (live_tasks >= 0),
            -- Ends since it last finished.
            succeeded INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0,
            cancelled INTEGER NOT NULL DEFAULT 0,
            UNIQUE (session_id, name)
        ) STRICT;
        ALTER TABLE tasks ADD COLUMN group_id INTEGER;
        CREATE INDEX tasks_by_group ON tasks (group_id) WHERE group_id IS NOT NULL;
        -- Of a `group finished`.
        ALTER TABLE events ADD COLUMN group_name TEXT;
        ALTER TABLE events ADD COLUMN succeeded INTEGER;
        ALTER TABLE events ADD COLUMN failed INTEGER;
        ALTER TABLE events ADD COLUMN cancelled INTEGER;

        ALTER TABLE tasks ADD COLUMN task_kind INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE tasks ADD COLUMN bytes_sent INTEGER NOT NULL DEFAULT 0;
        -- A request that is not to be repeated was about to be sent, and what came of it is not known.
        ALTER TABLE tasks ADD COLUMN is_under_way INTEGER NOT NULL DEFAULT 0;
        -- How long it was suspended, and since when it is: the resource time-out stands still meanwhile.
        ALTER TABLE tasks ADD COLUMN suspended_ms INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE tasks ADD COLUMN suspended_since_ms INTEGER;
        ALTER TABLE answers ADD COLUMN response_body BLOB;
        ALTER TABLE answers ADD COLUMN checksum TEXT;

        -- Attempts of a task, also after its event was acknowledged, as long as the task is in the history: the first
        -- and the newest. Microseconds count from started_ms. No `url`: it is the request's.
        CREATE TABLE attempts (
            task_id INTEGER NOT NULL,
            number INTEGER NOT NULL,
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
            url TEXT,
            redirects INTEGER NOT NULL,
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
            response_body_bytes INTEGER NOT NULL,
            PRIMARY KEY (task_id, number)
        ) STRICT, WITHOUT ROWID;

        -- Tasks whose event was acknowledged.
        CREATE TABLE history (
            task_id INTEGER NOT NULL,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            round INTEGER NOT NULL,
            state INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            url TEXT NOT NULL,
            destination TEXT,
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
            PRIMARY KEY (session_id, task_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX history_by_end ON history (session_id, ended_ms);

        -- What an answer said of the whole file.
        ALTER TABLE checkpoints ADD COLUMN digest TEXT;
        ALTER TABLE checkpoints ADD COLUMN content_encoding TEXT;
        ALTER TABLE checkpoints ADD COLUMN file_name TEXT;
        -- That the server has given the file.
        ALTER TABLE intents ADD COLUMN file_name TEXT;
        -- Attempts that ended with another digest or size than the file should have.
        ALTER TABLE tasks ADD COLUMN mismatches INTEGER NOT NULL DEFAULT 0;
        -- Any number of tasks may put files into one directory: a destination that ends with a slash.
        DROP INDEX tasks_by_destination;
        CREATE UNIQUE INDEX tasks_by_destination ON tasks (destination)
            WHERE destination IS NOT NULL AND ended_ms IS NULL AND substr(destination, -1) <> '/';

        -- The version of a resource that a task has put at a destination, and the file by which it is known again.
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

        -- In the form of a line of Netscape's cookie file, as libcurl has them.
        CREATE TABLE cookies (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cookie TEXT NOT NULL,
            PRIMARY KEY (session_id, cookie)
        ) STRICT, WITHOUT ROWID;

        -- Answers to challenges that the host wants kept.
        CREATE TABLE kept_answers (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            kind INTEGER NOT NULL,
            origin TEXT NOT NULL,
            realm TEXT NOT NULL DEFAULT '',
            has_realm INTEGER NOT NULL,
            user TEXT,
            password TEXT,
            headers BLOB,
            expires_ms INTEGER,
            -- The challenge that it has answered, and what that had offered.
            challenge_id INTEGER NOT NULL,
            schemes INTEGER NOT NULL,
            PRIMARY KEY (session_id, kind, origin, has_realm, realm)
        ) STRICT, WITHOUT ROWID;

        -- What the host has given in the place of headers that had expired: for all tasks of a lane that refresh them,
        -- up to the newest of then. One row, however many tasks.
        CREATE TABLE refreshed_headers (
            lane_id INTEGER PRIMARY KEY REFERENCES lanes ON DELETE CASCADE,
            challenge_id INTEGER NOT NULL,
            through_task_id INTEGER NOT NULL,
            headers BLOB,
            expires_ms INTEGER,
            is_declined INTEGER NOT NULL
        ) STRICT;

        -- The same of a URL, for its task alone.
        CREATE TABLE refreshed_requests (
            task_id INTEGER PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
            challenge_id INTEGER NOT NULL,
            url TEXT,
            headers BLOB,
            expires_ms INTEGER,
            is_declined INTEGER NOT NULL
        ) STRICT;

        -- One row. NULL: as by default.
        CREATE TABLE limits (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes_per_second INTEGER,
            maximum_running_tasks INTEGER NOT NULL,
            maximum_connections INTEGER NOT NULL,
            connections_per_origin INTEGER
        ) STRICT;

        -- Of a refresh of one task's URL; then `realm` is that task's number, so that each has its own.
        ALTER TABLE challenges ADD COLUMN task_id INTEGER;
        """
}
