// Generated from the migrations by scripts/generate-database-schema. Do not edit; add a migration.

extension Schema {
    /// The result of `migrations` in an empty database. A new database gets this schema at once, because the migrations
    /// take longer. The texts of the statements are the texts that SQLite stores after all migrations.
    static let current = """
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
            invalidating INTEGER NOT NULL DEFAULT 0, sends_launch_events INTEGER NOT NULL DEFAULT 1, \
        asks_for_credentials INTEGER NOT NULL DEFAULT 0, launch_if_stopped_ms INTEGER NOT NULL DEFAULT 0, \
        creator_high INTEGER, creator_low INTEGER, creator_handle INTEGER, \
        retry_jitter_percent INTEGER NOT NULL DEFAULT 50, retry_errors INTEGER NOT NULL DEFAULT 63, \
        retries_unsafe_methods INTEGER NOT NULL DEFAULT 0, retry_statuses TEXT NOT NULL DEFAULT '408,429,500,502-504', \
        accepted_statuses TEXT NOT NULL DEFAULT '200-299', http_version INTEGER NOT NULL DEFAULT 0, \
        redirects INTEGER NOT NULL DEFAULT 1, maximum_redirects INTEGER NOT NULL DEFAULT 20, maximum_size INTEGER, \
        headers BLOB, bytes_per_second INTEGER, proxy TEXT, proxy_user TEXT, proxy_password TEXT, no_proxy TEXT, \
        cookies INTEGER NOT NULL DEFAULT 1, minimum_tls INTEGER NOT NULL DEFAULT 12, client_certificate TEXT, \
        client_key TEXT, pinned_public_keys TEXT, history_limit INTEGER DEFAULT 1000, \
        history_count INTEGER NOT NULL DEFAULT 0, preset INTEGER, requires_external_power INTEGER, \
        requires_unmetered INTEGER, networks INTEGER, minimum_battery_percent INTEGER, maximum_thermal_state INTEGER, \
        maximum_cpu_pressure_percent INTEGER, maximum_io_pressure_percent INTEGER, \
        maximum_memory_pressure_percent INTEGER, minimum_bytes_per_second INTEGER, quiet_hours TEXT, \
        slow_after_ms INTEGER NOT NULL DEFAULT 60000, slow_pause_ms INTEGER NOT NULL DEFAULT 300000, \
        discretionary_if_launched INTEGER NOT NULL DEFAULT 0, daily_budget INTEGER, monthly_budget INTEGER, \
        tolerances INTEGER NOT NULL DEFAULT 0, aside_tasks INTEGER NOT NULL DEFAULT 0 CHECK (aside_tasks >= 0),
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

        CREATE TABLE tasks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id INTEGER NOT NULL,
            lane_id INTEGER NOT NULL,
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
            path TEXT, challenge_id INTEGER, furthest_offset INTEGER NOT NULL DEFAULT 0, group_id INTEGER, \
        task_kind INTEGER NOT NULL DEFAULT 1, bytes_sent INTEGER NOT NULL DEFAULT 0, \
        is_under_way INTEGER NOT NULL DEFAULT 0, suspended_ms INTEGER NOT NULL DEFAULT 0, suspended_since_ms INTEGER, \
        mismatches INTEGER NOT NULL DEFAULT 0, constraints_id INTEGER NOT NULL DEFAULT 0, latest_start_ms INTEGER, \
        own_end_ms INTEGER, part INTEGER NOT NULL DEFAULT 0,
            CHECK ((state >= 4) = (ended_ms IS NOT NULL))
        ) STRICT;
        CREATE INDEX tasks_by_due ON tasks (due_boot_ms) WHERE due_boot_ms IS NOT NULL;
        CREATE UNIQUE INDEX tasks_by_key ON tasks (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

        CREATE TABLE requests (
            task_id INTEGER PRIMARY KEY,
            url TEXT NOT NULL,
            directory_device INTEGER,
            directory_inode INTEGER,
            if_exists INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            starts_suspended INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            headers BLOB,
            user_data BLOB
        , has_options INTEGER NOT NULL DEFAULT 0) STRICT;

        CREATE TABLE checkpoints (
            task_id INTEGER PRIMARY KEY,
            entity_tag TEXT,
            last_modified TEXT,
            final_url TEXT NOT NULL,
            size INTEGER,
            synced_offset INTEGER NOT NULL,
            boot_id TEXT NOT NULL
        , digest TEXT, content_encoding TEXT, file_name TEXT, part_device INTEGER, part_inode INTEGER, \
        part_length INTEGER, part_checksum INTEGER, synced_checksum INTEGER) STRICT;

        CREATE TABLE intents (
            task_id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL
        , file_name TEXT, attempts INTEGER NOT NULL DEFAULT 0, bytes_received INTEGER NOT NULL DEFAULT 0, \
        http_status INTEGER NOT NULL DEFAULT 0) STRICT;

        CREATE TABLE "responses" (
            task_id INTEGER PRIMARY KEY,
            final_url TEXT,
            media_type TEXT,
            headers BLOB,
            error_body BLOB
        , response_body BLOB, checksum TEXT) STRICT;

        CREATE TABLE delivered (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            idempotency_key TEXT NOT NULL,
            task_id INTEGER NOT NULL,
            round INTEGER NOT NULL,
            PRIMARY KEY (session_id, idempotency_key)
        ) STRICT, WITHOUT ROWID;

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

        CREATE TABLE applied (
            client_high INTEGER NOT NULL,
            client_low INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            reply BLOB NOT NULL,
            PRIMARY KEY (client_high, client_low, sequence)
        ) STRICT, WITHOUT ROWID;

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

        CREATE TABLE launched_sessions (
            session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            application TEXT NOT NULL REFERENCES launches ON DELETE CASCADE,
            -- Only because answers to its challenges did not serve.
            is_repeated INTEGER NOT NULL
        ) STRICT;

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
            is_seen INTEGER NOT NULL DEFAULT 0, task_id INTEGER,
            UNIQUE (session_id, kind, origin, has_realm, realm)
        ) STRICT;
        CREATE INDEX tasks_by_challenge ON tasks (challenge_id) WHERE challenge_id IS NOT NULL;

        CREATE TABLE request_options (
            task_id INTEGER PRIMARY KEY,
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
        , earliest_start_ms INTEGER, latest_start_ms INTEGER, expected_bytes_received INTEGER, \
        expected_bytes_sent INTEGER, start_delayed_ms INTEGER) STRICT;

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
            -- Name in the store's folder of bodies; then device and inode are those of that file, and 0 for a copy.
            stored TEXT,
            PRIMARY KEY (task_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX body_parts_stored ON body_parts (stored) WHERE stored IS NOT NULL;

        CREATE TABLE consumed (
            path TEXT PRIMARY KEY,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified_ns INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE body_leftovers (
            name TEXT PRIMARY KEY
        ) STRICT, WITHOUT ROWID;

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
        CREATE INDEX tasks_by_group ON tasks (group_id) WHERE group_id IS NOT NULL;
        CREATE UNIQUE INDEX tasks_by_destination ON tasks (destination)
            WHERE destination IS NOT NULL AND ended_ms IS NULL AND substr(destination, -1) <> '/';

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

        CREATE TABLE cookies (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cookie TEXT NOT NULL,
            PRIMARY KEY (session_id, cookie)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE "stored_credentials" (
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

        CREATE TABLE refreshed_headers (
            lane_id INTEGER PRIMARY KEY REFERENCES lanes ON DELETE CASCADE,
            challenge_id INTEGER NOT NULL,
            through_task_id INTEGER NOT NULL,
            headers BLOB,
            expires_ms INTEGER,
            is_declined INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE refreshed_requests (
            task_id INTEGER PRIMARY KEY,
            challenge_id INTEGER NOT NULL,
            url TEXT,
            headers BLOB,
            expires_ms INTEGER,
            is_declined INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE limits (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes_per_second INTEGER,
            maximum_running_tasks INTEGER NOT NULL,
            maximum_connections INTEGER NOT NULL,
            connections_per_origin INTEGER
        ) STRICT;

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
        CREATE INDEX tasks_by_constraints ON tasks (constraints_id) WHERE constraints_id <> 0;
        CREATE INDEX tasks_by_latest_start ON tasks (latest_start_ms) WHERE latest_start_ms IS NOT NULL;
        CREATE INDEX tasks_by_own_end ON tasks (session_id, state, own_end_ms) WHERE own_end_ms IS NOT NULL;
        CREATE INDEX tasks_by_age ON tasks (session_id, enqueued_ms + suspended_ms)
            WHERE state = 1 AND own_end_ms IS NULL;
        CREATE INDEX request_options_rescheduled ON request_options (task_id) WHERE start_delayed_ms IS NOT NULL;

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

        CREATE TABLE networks (
            name TEXT PRIMARY KEY,
            metered INTEGER,
            month_starts_on INTEGER NOT NULL,
            daily_budget INTEGER,
            monthly_budget INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE usage (
            network TEXT NOT NULL,
            session_id INTEGER NOT NULL,
            day INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (network, session_id, day)
        ) STRICT, WITHOUT ROWID;

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

        CREATE TABLE leftovers (
            task_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            destination TEXT,
            part INTEGER NOT NULL,
            PRIMARY KEY (task_id, part)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tasks_by_state ON tasks (session_id, state) WHERE ended_ms IS NULL;
        CREATE INDEX tasks_by_turn ON tasks (lane_id, state, due_boot_ms, constraints_id, priority DESC, id)
            WHERE ended_ms IS NULL;

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
        CREATE INDEX events_by_session ON events (session_id);
        CREATE UNIQUE INDEX events_by_task ON events (session_id, task_state, task_id) WHERE task_id IS NOT NULL;
        CREATE INDEX events_of_finished_rounds ON events (session_id) WHERE kind = 2;
        CREATE INDEX events_by_challenge ON events (challenge_id) WHERE challenge_id IS NOT NULL;
        CREATE INDEX events_of_activities ON events (session_id, activity) WHERE kind = 5;

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
        CREATE INDEX history_by_session ON history (session_id);
        CREATE UNIQUE INDEX history_by_task ON history (session_id, task_id);

        CREATE TABLE claims (
            task_id INTEGER PRIMARY KEY,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL
        ) STRICT;
        """
}
