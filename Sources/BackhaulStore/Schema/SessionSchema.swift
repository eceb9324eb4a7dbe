internal import BackhaulModel

extension Schema {
    private static let configurationColumns = NewRow.declarations {
        var configuration = SessionConfiguration(identifier: "")
        configuration.visitFields(with: &$0)
    }

    private static let requestColumns = NewRow.declarations {
        var options = RequestOptions.none
        options.visitFields(with: &$0)
    }

    /// The columns of the constraints in `constraints`. They are not NULL, because two NULLs in a UNIQUE constraint are
    /// different. -1, 0 or an empty text: nothing is stated.
    static let constraintColumns = NewRow.declarations(areNotNull: true, visitConstraints)
    static let constraintNames = NewRow.names(visitConstraints).joined(separator: ", ")

    private static func visitConstraints(with row: inout NewRow) {
        var constraints = Constraints.none
        constraints.visitFields(with: &row)
    }

    /// The columns of `request_options` and `activity_options`.
    static let optionColumns = """
        \(requestColumns),
        -- NULL: the request has no body.
        body_source INTEGER,
        body_size INTEGER,
        body BLOB,
        -- How many rows of body_parts the body has.
        body_part_count INTEGER NOT NULL DEFAULT 0,
        -- How many rows of dependencies the task has.
        dependency_count INTEGER NOT NULL DEFAULT 0
        """

    /// The tables of sessions and of what belongs to the whole store.
    static let sessionTables = """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sessions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            application TEXT NOT NULL,
            identifier TEXT NOT NULL,
            created_ms INTEGER NOT NULL,
            -- The handle that created the session. If its command is repeated, the reply is the same.
            creator_high INTEGER,
            creator_low INTEGER,
            creator_handle INTEGER,
            round INTEGER NOT NULL DEFAULT 0,
            round_open INTEGER NOT NULL DEFAULT 0,
            live_tasks INTEGER NOT NULL DEFAULT 0 CHECK (live_tasks >= 0),
            -- Tasks that were set aside. They do not count for the round.
            aside_tasks INTEGER NOT NULL DEFAULT 0 CHECK (aside_tasks >= 0),
            events_waiting INTEGER NOT NULL DEFAULT 0 CHECK (events_waiting >= 0),
            newest_event INTEGER NOT NULL DEFAULT 0,
            history_count INTEGER NOT NULL DEFAULT 0,
            invalidating INTEGER NOT NULL DEFAULT 0,
            -- The configuration. NULL means that nothing is set.
            \(configurationColumns),
            UNIQUE (application, identifier)
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

        -- The replies to commands, until the clients have received them.
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
            -- Launches in a row that did not complete.
            launches INTEGER NOT NULL DEFAULT 0,
            due_boot_ms INTEGER,
            error_message TEXT,
            -- The unfinished launch: its number, secret and process.
            launch_id INTEGER,
            secret INTEGER,
            process_id INTEGER,
            start_time INTEGER,
            boot_id TEXT,
            unit TEXT,
            started_ms INTEGER,
            has_attached INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;

        -- The sessions for which the unfinished launch was made, and which it has not completed.
        CREATE TABLE launched_sessions (
            session_id INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            application TEXT NOT NULL REFERENCES launches ON DELETE CASCADE,
            -- The only reason is that responses to challenges were not accepted.
            is_repeated INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX launched_sessions_by_application ON launched_sessions (application);

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
            -- A host has seen the challenge and left it open, so the challenge launches no host.
            is_seen INTEGER NOT NULL DEFAULT 0,
            -- The task whose URL must be refreshed. Then realm is the number of this task.
            task_id INTEGER,
            UNIQUE (session_id, kind, origin, has_realm, realm)
        ) STRICT;

        CREATE TABLE stored_credentials (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            kind INTEGER NOT NULL,
            origin TEXT NOT NULL,
            realm TEXT NOT NULL DEFAULT '',
            has_realm INTEGER NOT NULL,
            user TEXT,
            password TEXT,
            headers BLOB,
            expires_ms INTEGER,
            -- The challenge to which the credential responded, and the schemes that this challenge offered.
            challenge_id INTEGER NOT NULL,
            schemes INTEGER NOT NULL,
            PRIMARY KEY (session_id, kind, origin, has_realm, realm)
        ) STRICT, WITHOUT ROWID;

        -- The headers that a host gave in place of expired headers: one row for all tasks of a lane up to
        -- through_task_id.
        CREATE TABLE refreshed_headers (
            lane_id INTEGER PRIMARY KEY REFERENCES lanes ON DELETE CASCADE,
            challenge_id INTEGER NOT NULL,
            through_task_id INTEGER NOT NULL,
            headers BLOB,
            expires_ms INTEGER,
            is_declined INTEGER NOT NULL
        ) STRICT;

        -- The URL or headers that a host gave for one task.
        CREATE TABLE refreshed_requests (
            task_id INTEGER PRIMARY KEY,
            challenge_id INTEGER NOT NULL,
            url TEXT,
            headers BLOB,
            expires_ms INTEGER,
            is_declined INTEGER NOT NULL
        ) STRICT;

        -- Cookies as lines of Netscape's cookie file, which is libcurl's format.
        CREATE TABLE cookies (
            session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cookie TEXT NOT NULL,
            PRIMARY KEY (session_id, cookie)
        ) STRICT, WITHOUT ROWID;

        -- One row. NULL: the default.
        CREATE TABLE limits (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes_per_second INTEGER,
            maximum_running_tasks INTEGER NOT NULL,
            maximum_connections INTEGER NOT NULL,
            connections_per_origin INTEGER
        ) STRICT;

        -- The settings of networks.
        CREATE TABLE networks (
            name TEXT PRIMARY KEY,
            metered INTEGER,
            month_starts_on INTEGER NOT NULL,
            daily_budget INTEGER,
            monthly_budget INTEGER
        ) STRICT, WITHOUT ROWID;

        -- The bytes that were sent and received. day: days of local time since 1970. The rows outlive their session.
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
            -- NULL: nothing is stated.
            first_ms INTEGER,
            -- When the next window opens, or the open window has opened.
            next_ms INTEGER NOT NULL,
            last_started_ms INTEGER,
            last_task_id INTEGER,
            -- NULL: the activity has no request, and only its events are sent.
            url TEXT,
            scheme TEXT,
            server TEXT,
            port INTEGER,
            destination TEXT,
            directory_device INTEGER,
            directory_inode INTEGER,
            file_system TEXT,
            if_exists INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            headers BLOB,
            user_data BLOB,
            constraints_id INTEGER NOT NULL,
            -- Whether the request has a row in activity_options.
            has_options INTEGER NOT NULL,
            UNIQUE (session_id, identifier)
        ) STRICT;
        CREATE INDEX activities_by_time ON activities (next_ms);

        CREATE TABLE activity_options (
            activity_id INTEGER PRIMARY KEY REFERENCES activities ON DELETE CASCADE,
            \(optionColumns)
        ) STRICT;

        """
}
