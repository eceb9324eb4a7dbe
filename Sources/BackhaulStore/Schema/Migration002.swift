extension Schema {
    /// Version 2: launches (starts of programs by the engine, which runs the tasks) and challenges (demands for
    /// credentials). A released migration is never edited, so the comments in its SQL keep earlier words. An "answer"
    /// is the credential that a program gives in response to a challenge. A challenge is `told` if a program has seen
    /// it.
    static let migration002 = """
        ALTER TABLE sessions ADD COLUMN sends_launch_events INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE sessions ADD COLUMN asks_for_credentials INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN launch_if_stopped_ms INTEGER NOT NULL DEFAULT 0;
        -- The handle that created it: sent again, its command is still told so.
        ALTER TABLE sessions ADD COLUMN creator_high INTEGER;
        ALTER TABLE sessions ADD COLUMN creator_low INTEGER;
        ALTER TABLE sessions ADD COLUMN creator_handle INTEGER;

        CREATE TABLE launches (
            application TEXT PRIMARY KEY,
            program TEXT NOT NULL,
            arguments BLOB,
            environment BLOB,
            working_directory TEXT,
            attach_timeout_ms INTEGER NOT NULL,
            first_delay_ms INTEGER NOT NULL,
            longest_delay_ms INTEGER NOT NULL,
            maximum_launches INTEGER NOT NULL,
            -- In a row without completing.
            launches INTEGER NOT NULL DEFAULT 0,
            due_boot_ms INTEGER,
            error_message TEXT,
            -- The launch that is not over: its number, secret and process.
            launch_id INTEGER,
            secret INTEGER,
            process_id INTEGER,
            start_time INTEGER,
            boot_id TEXT,
            unit TEXT,
            started_ms INTEGER,
            has_attached INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;

        -- Sessions for which the launch that is not over was made, and which it has not completed.
        CREATE TABLE launched_sessions (
            session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            application TEXT NOT NULL REFERENCES launches ON DELETE CASCADE,
            -- Only because answers to its challenges did not serve.
            is_repeated INTEGER NOT NULL
        ) STRICT;

        -- Open ones. `told`: a host has seen it, left it open and completed, so that it launches nobody any more.
        CREATE TABLE challenges (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            kind INTEGER NOT NULL,
            origin TEXT NOT NULL,
            realm TEXT NOT NULL DEFAULT '',
            has_realm INTEGER NOT NULL,
            schemes INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            opened_ms INTEGER NOT NULL,
            told INTEGER NOT NULL DEFAULT 0,
            UNIQUE (session_id, kind, origin, has_realm, realm)
        ) STRICT;

        -- The challenge that the task waits for (then due_reason is 8, and due_boot_ms the end of its time), or the
        -- last one that it did wait for: should the answer not serve, it waits again without asking.
        ALTER TABLE tasks ADD COLUMN challenge_id INTEGER;
        CREATE INDEX tasks_by_challenge ON tasks (challenge_id) WHERE challenge_id IS NOT NULL;
        -- The greatest offset that was ever durable: what is fetched again counts as no progress.
        ALTER TABLE tasks ADD COLUMN furthest_offset INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE events ADD COLUMN challenge_id INTEGER;
        CREATE INDEX events_by_challenge ON events (challenge_id) WHERE challenge_id IS NOT NULL;
        """
}
