extension Schema {
    /// Version 4: constraints (demands on the system), wait records (why tasks waited), network settings, network usage
    /// and activities (work that repeats). A released migration is never edited, so the comments in its SQL keep
    /// earlier words. What a task or session has "said" is the values that were set for it. A task that was "held back"
    /// has waited because of a condition, such as a missing network.
    static let migration004 = """
        -- NULL: nothing is said.
        ALTER TABLE sessions ADD COLUMN preset INTEGER;
        ALTER TABLE sessions ADD COLUMN requires_external_power INTEGER;
        ALTER TABLE sessions ADD COLUMN requires_unmetered INTEGER;
        ALTER TABLE sessions ADD COLUMN networks INTEGER;
        ALTER TABLE sessions ADD COLUMN minimum_battery_percent INTEGER;
        ALTER TABLE sessions ADD COLUMN maximum_thermal_state INTEGER;
        ALTER TABLE sessions ADD COLUMN maximum_cpu_pressure_percent INTEGER;
        ALTER TABLE sessions ADD COLUMN maximum_io_pressure_percent INTEGER;
        ALTER TABLE sessions ADD COLUMN maximum_memory_pressure_percent INTEGER;
        ALTER TABLE sessions ADD COLUMN minimum_bytes_per_second INTEGER;
        ALTER TABLE sessions ADD COLUMN quiet_hours TEXT;
        ALTER TABLE sessions ADD COLUMN slow_after_ms INTEGER NOT NULL DEFAULT 60000;
        ALTER TABLE sessions ADD COLUMN slow_pause_ms INTEGER NOT NULL DEFAULT 300000;
        ALTER TABLE sessions ADD COLUMN discretionary_if_launched INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN daily_budget INTEGER;
        ALTER TABLE sessions ADD COLUMN monthly_budget INTEGER;
        ALTER TABLE sessions ADD COLUMN tolerances INTEGER NOT NULL DEFAULT 0;
        -- The default has 425 now. A list that is not the default counts as given, and may contradict a request.
        UPDATE sessions SET retry_statuses = '408,425,429,500,502-504' WHERE retry_statuses = '408,429,500,502-504';

        -- What tasks have said for themselves, once for all that have said the same. -1, '' or no least rate of 0 where
        -- nothing is said, so that no two rows are alike.
        CREATE TABLE constraints (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            preset INTEGER NOT NULL,
            requires_external_power INTEGER NOT NULL,
            requires_unmetered INTEGER NOT NULL,
            networks INTEGER NOT NULL,
            minimum_battery_percent INTEGER NOT NULL,
            maximum_thermal_state INTEGER NOT NULL,
            maximum_cpu_pressure_percent INTEGER NOT NULL,
            maximum_io_pressure_percent INTEGER NOT NULL,
            maximum_memory_pressure_percent INTEGER NOT NULL,
            minimum_bytes_per_second INTEGER NOT NULL,
            quiet_hours TEXT NOT NULL,
            is_launched INTEGER NOT NULL,
            is_past_latest_start INTEGER NOT NULL,
            UNIQUE (session_id, preset, requires_external_power, requires_unmetered, networks, minimum_battery_percent,
                maximum_thermal_state, maximum_cpu_pressure_percent, maximum_io_pressure_percent,
                maximum_memory_pressure_percent, minimum_bytes_per_second, quiet_hours, is_launched,
                is_past_latest_start)
        ) STRICT;
        -- 0: what its session says alone.
        ALTER TABLE tasks ADD COLUMN constraints_id INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX tasks_by_constraints ON tasks (constraints_id) WHERE constraints_id <> 0;
        -- NULL when it has come, or there is none.
        ALTER TABLE tasks ADD COLUMN latest_start_ms INTEGER;
        CREATE INDEX tasks_by_latest_start ON tasks (latest_start_ms) WHERE latest_start_ms IS NOT NULL;
        -- The end of a resource time-out of its own, by the calendar of its age. NULL: its session's.
        ALTER TABLE tasks ADD COLUMN own_end_ms INTEGER;
        CREATE INDEX tasks_by_own_end ON tasks (session_id, state, own_end_ms) WHERE own_end_ms IS NOT NULL;
        -- Those with their session's that wait, from the oldest on.
        CREATE INDEX tasks_by_age ON tasks (session_id, enqueued_ms + suspended_ms)
            WHERE state = 1 AND own_end_ms IS NULL;
        UPDATE tasks SET own_end_ms = enqueued_ms + suspended_ms
            + (SELECT resource_timeout_ms FROM request_options WHERE task_id = tasks.id)
            WHERE id IN (SELECT task_id FROM request_options WHERE resource_timeout_ms IS NOT NULL);
        DROP INDEX tasks_by_turn;
        CREATE INDEX tasks_by_turn ON tasks (lane_id, state, due_boot_ms, constraints_id, priority DESC, id);
        ALTER TABLE request_options ADD COLUMN earliest_start_ms INTEGER;
        ALTER TABLE request_options ADD COLUMN latest_start_ms INTEGER;
        ALTER TABLE request_options ADD COLUMN expected_bytes_received INTEGER;
        ALTER TABLE request_options ADD COLUMN expected_bytes_sent INTEGER;
        -- Where its starts were said anew: since when it has waited for the earliest, by the calendar of its age.
        ALTER TABLE request_options ADD COLUMN start_delayed_ms INTEGER;
        CREATE INDEX request_options_rescheduled ON request_options (task_id) WHERE start_delayed_ms IS NOT NULL;

        -- Times in which tasks were held back together: those with these constraints, in this lane (NULL: in any), or
        -- one alone.
        CREATE TABLE waits (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            constraints_id INTEGER,
            lane_id INTEGER,
            task_id INTEGER,
            reason INTEGER NOT NULL,
            sentence TEXT NOT NULL,
            began_ms INTEGER NOT NULL,
            -- NULL: it lasts.
            ended_ms INTEGER
        ) STRICT;
        CREATE INDEX waits_of_sessions ON waits (session_id) WHERE task_id IS NULL;
        CREATE INDEX waits_of_sessions_tasks ON waits (session_id) WHERE task_id IS NOT NULL;
        CREATE INDEX waits_by_task ON waits (task_id) WHERE task_id IS NOT NULL;
        CREATE INDEX waits_that_last ON waits (id) WHERE ended_ms IS NULL;
        ALTER TABLE history ADD COLUMN constraints_id INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE history ADD COLUMN lane_id INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE history ADD COLUMN earliest_start_ms INTEGER;
        ALTER TABLE history ADD COLUMN latest_start_ms INTEGER;
        ALTER TABLE history ADD COLUMN expected_bytes_received INTEGER;
        ALTER TABLE history ADD COLUMN expected_bytes_sent INTEGER;
        ALTER TABLE history ADD COLUMN start_delayed_ms INTEGER;

        -- What an administrator says of networks.
        CREATE TABLE networks (
            name TEXT PRIMARY KEY,
            metered INTEGER,
            month_starts_on INTEGER NOT NULL,
            daily_budget INTEGER,
            monthly_budget INTEGER
        ) STRICT, WITHOUT ROWID;
        -- Bytes that were moved, both ways. `day`: days of local time since 1970. Outlives its session.
        CREATE TABLE usage (
            network TEXT NOT NULL,
            session_id INTEGER NOT NULL,
            day INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (network, session_id, day)
        ) STRICT, WITHOUT ROWID;

        -- Work that repeats. `next_ms`: when its next window opens, or the open one has. Without a `url` its host is
        -- told.
        CREATE TABLE activities (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            identifier TEXT NOT NULL,
            interval_ms INTEGER NOT NULL,
            tolerance_ms INTEGER NOT NULL,
            repeats INTEGER NOT NULL,
            quality_of_service INTEGER NOT NULL,
            -- NULL: not stated.
            first_ms INTEGER,
            next_ms INTEGER NOT NULL,
            last_started_ms INTEGER,
            last_task_id INTEGER,
            url TEXT,
            scheme TEXT,
            server TEXT,
            port INTEGER,
            destination TEXT,
            directory_device INTEGER,
            directory_inode INTEGER,
            if_exists INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            headers BLOB,
            user_data BLOB,
            constraints_id INTEGER NOT NULL,
            UNIQUE (session_id, identifier)
        ) STRICT;
        CREATE INDEX activities_by_time ON activities (next_ms);
        -- As request_options.
        CREATE TABLE activity_options (
            activity_id INTEGER PRIMARY KEY REFERENCES activities ON DELETE CASCADE,
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
            body BLOB,
            earliest_start_ms INTEGER,
            latest_start_ms INTEGER,
            expected_bytes_received INTEGER,
            expected_bytes_sent INTEGER
        ) STRICT;
        ALTER TABLE events ADD COLUMN activity TEXT;
        CREATE INDEX events_of_activities ON events (session_id, activity) WHERE kind = 5;
        """
}
