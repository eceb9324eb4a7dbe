import BackhaulModel
import CSQLite
import Testing

@testable import BackhaulStore

/// The version numbers in these tests are schema versions of the database. A *session* is a named collection of
/// *tasks*: uploads and downloads. A *constraint* is what a task demands of the system, such as external power. A
/// *leftover* is a file that must still be deleted. A *challenge* is a demand for a credential to the *host*, which is
/// the program that uses the library.
@Suite("Stores of earlier versions")
struct MigrationTests {
    let scratch = Scratch()

    /// Rows in the form that version 3 wrote: a session with a lane, tasks, options, an event and a history.
    private static let rows = """
        INSERT INTO sessions (id, application, identifier, connections_per_origin, maximum_running_tasks,
            first_retry_delay_ms, longest_retry_delay_ms, request_timeout_ms, resource_timeout_ms, created_ms, round,
            round_open, live_tasks, events_waiting, newest_event)
            VALUES (1, 'org.example', 'gallery', 6, 100, 1000, 60000, 60000, 604800000, 5, 1, 1, 3, 1, 7);
        INSERT INTO lanes (id, session_id, scheme, server, port) VALUES (1, 1, 'https', 'example.org', 443);
        INSERT INTO tasks (id, session_id, lane_id, round, state, priority, enqueued_ms, destination, suspended_ms)
            VALUES (1, 1, 1, 1, 1, 0, 2000, '/a', 0), (2, 1, 1, 1, 1, 9, 2001, '/b', 500),
                (3, 1, 1, 1, 3, 0, 2002, '/c', 0);
        INSERT INTO tasks (id, session_id, lane_id, round, state, priority, enqueued_ms, ended_ms, destination)
            VALUES (4, 1, 1, 1, 4, 0, 2003, 3000, '/d');
        INSERT INTO requests (task_id, url, directory_device, directory_inode, if_exists, priority, starts_suspended,
            mode, has_options)
            SELECT id, 'https://example.org' || destination, 5, 6, 0, priority, 0, 420, id = 2 FROM tasks;
        INSERT INTO request_options (task_id, refresh, if_changed, named_by_server, ignores_digests,
            resource_timeout_ms, maximum_attempts) VALUES (2, 0, 0, 0, 0, 70000, 4);
        INSERT INTO events (id, session_id, task_id, kind, round, time_ms) VALUES (7, 1, 4, 1, 1, 3000);
        INSERT INTO history (task_id, session_id, round, state, kind, url, priority, status, error_domain,
            error_detail, http_status, attempts, size, enqueued_ms, ended_ms)
            VALUES (9, 1, 1, 4, 1, 'https://example.org/old', 0, 0, 0, 0, 200, 1, 10, 1000, 1500);
        """

    /// Makes a database of an earlier version with rows, and opens it as a store.
    private func openStore(version: Int, rows: String...) throws -> TestStore {
        var database: OpaquePointer?
        #expect(sqlite3_open("\(scratch.path)/\(Schema.fileName)", &database) == SQLITE_OK)
        let header = "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(version);"
        for step in ["BEGIN"] + Schema.migrations.prefix(version) + rows + [header, "COMMIT"] {
            #expect(sqlite3_exec(database, step, nil, nil, nil) == SQLITE_OK)
        }
        sqlite3_close(database)
        return try TestStore(scratch.path)
    }

    /// Makes a database of version 3 or a later version, and opens it as a store.
    private func migrated(_ version: Int = 3, and more: String = "") throws -> (store: TestStore, session: SessionID) {
        (try openStore(version: version, rows: Self.rows, more), SessionID(rawValue: 1))
    }

    /// Returns the version and the schema of a store's database, and the rows of all tables.
    private static func contents(of store: TestStore) throws -> [String] {
        try store.run { (transaction) throws(Failure) in
            let connection = transaction.connection
            func texts(_ sql: String) throws(Failure) -> [String] {
                try connection.all(Query("\(sql)")) { (row) throws(Failure) in row.text() }
            }
            var contents = try texts("PRAGMA user_version")
            contents += try texts(
                """
                SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_schema ORDER BY name
                """)
            // For each table, a statement that selects all columns as one text.
            let selections = try texts(
                """
                SELECT 'SELECT quote("' || group_concat(columns.name, '") || '' '' || quote("') || '") FROM "'
                    || tables.name || '" ORDER BY 1'
                FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
                WHERE tables.type = 'table' GROUP BY tables.name
                """)
            for selection in selections { contents += [selection] + (try texts(selection)) }
            return contents
        }
    }

    @Test("a new database has the same schema as a database that went through all migrations")
    func newDatabase() throws {
        let other = Scratch()
        let new = try Self.contents(of: TestStore(other.path))
        #expect(try Self.contents(of: openStore(version: 1)) == new)
        #expect(new.count > 100)
    }

    @Test("tasks of version 3 keep their order, requests and times, and have no constraints")
    func tasks() throws {
        let (store, session) = try migrated()
        let waiting = try store.run { (transaction) throws(Failure) in
            try transaction.lanes.waitingTasks(of: LaneID(rawValue: 1), limit: 9)
        }
        #expect(waiting.map(\.id.rawValue) == [2, 1])
        #expect(waiting.allSatisfy { $0.constraints == .session })
        #expect(waiting[0].request.options.policy.maximumAttempts == 4)
        #expect(waiting[0].request.options.policy.constraints == .none)
        let next = try store.run { (transaction) throws(Failure) in try transaction.tasks.nextTimeoutEnd(of: session) }
        // The task was enqueued at 2,001 ms and suspended for 500 ms, and its time-out is 70,000 ms.
        #expect(next == 72_501)
        let infos = try store.tasks(of: session)
        #expect(infos.map(\.state) == [.waiting, .waiting, .suspended, .succeeded])
        #expect(infos.allSatisfy { $0.earliestStartMilliseconds == nil && $0.latestStartMilliseconds == nil })
    }

    @Test("the new default list of retried statuses replaces the default list of version 3, and other lists stay")
    func retryStatuses() throws {
        let other = """
            INSERT INTO sessions (id, application, identifier, connections_per_origin, maximum_running_tasks,
                first_retry_delay_ms, longest_retry_delay_ms, request_timeout_ms, resource_timeout_ms, created_ms,
                round, round_open, live_tasks, events_waiting, newest_event, retry_statuses)
                VALUES (2, 'org.example', 'other', 6, 100, 1000, 60000, 60000, 604800000, 5, 1, 0, 0, 0, 0, '408,429');
            """
        let (store, session) = try migrated(and: other)
        let lists = try store.run { (transaction) throws(Failure) in
            (try transaction.sessions.configuration(of: session).retryStatuses,
                try transaction.sessions.configuration(of: SessionID(rawValue: 2)).retryStatuses)
        }
        #expect(lists.0 == .transient)
        #expect(lists.1.text == "408,429")
    }

    @Test("sessions of version 3 have no constraints, and keep their events and history")
    func sessions() throws {
        let (store, session) = try migrated()
        let configuration = try store.run { (transaction) throws(Failure) in
            try transaction.sessions.configuration(of: session)
        }
        #expect(configuration.constraints == .none)
        #expect(configuration.budget == ByteBudget())
        #expect(configuration.slowAfterMilliseconds == SessionConfiguration(identifier: "a").slowAfterMilliseconds)
        #expect(configuration.slowPauseMilliseconds == SessionConfiguration(identifier: "a").slowPauseMilliseconds)
        #expect(!configuration.isDiscretionaryIfLaunched)
        #expect(configuration.tolerances == [])
        #expect(try store.events(of: session).map(\.id.rawValue) == [7])
        let (history, waits) = try store.run { (transaction) throws(Failure) in
            (try transaction.history.tasks(of: session, after: .zero, maximum: 9).tasks,
                try transaction.waits.all(of: TaskID(rawValue: 9), in: session, now: 9_000))
        }
        #expect(history.map(\.url) == ["https://example.org/old"])
        #expect(waits == [])
        try store.acknowledge(session, .through(EventID(rawValue: 7)))
        #expect(try store.info(session)?.liveTasks == 3)
    }

    @Test("partial downloads and leftovers of version 4 keep their file names, which have no random number")
    func partFiles() throws {
        let rows = """
            INSERT INTO checkpoints (task_id, entity_tag, final_url, size, synced_offset, boot_id)
                VALUES (1, '"v1"', 'https://example.org/a', 900, 700, 'boot');
            INSERT INTO leftovers (task_id, kind, destination) VALUES (20, 1, '/gone'), (21, 2, NULL);
            """
        let store = try migrated(4, and: rows).store
        let (waiting, leftovers) = try store.run { (transaction) throws(Failure) in
            (
                try transaction.lanes.waitingTasks(of: LaneID(rawValue: 1), limit: 9),
                try transaction.leftovers.all(limit: 9)
            )
        }
        let task = try #require(waiting.first { $0.id.rawValue == 1 })
        #expect(task.part == 0)
        let checkpoint = try #require(task.checkpoint)
        #expect((checkpoint.size, checkpoint.syncedOffset, checkpoint.bootID) == (900, 700, "boot"))
        #expect(checkpoint.part == nil && checkpoint.syncedChecksum == nil)
        #expect(leftovers == [
            Leftover(task: TaskID(rawValue: 20), kind: .part(destinationPath: "/gone")),
            Leftover(task: TaskID(rawValue: 21), kind: .kept),
        ])
    }

    @Test("responses, stored credentials and seen challenges of version 5 stay")
    func renamed() throws {
        let rows = """
            INSERT INTO answers (task_id, final_url) VALUES (4, 'https://mirror.example.org/d');
            INSERT INTO kept_answers (session_id, kind, origin, has_realm, user, password, challenge_id, schemes)
                VALUES (1, 1, 'https://example.org:443', 0, 'ann', 'secret', 3, 1);
            INSERT INTO challenges (session_id, kind, origin, has_realm, schemes, failures, opened_ms, told)
                VALUES (1, 1, 'https://example.org:443', 0, 1, 0, 2000, 1);
            """
        let (store, session) = try migrated(5, and: rows)
        let (events, credentials, sessions, needing) = try store.run { (transaction) throws(Failure) in
            (
                try transaction.events.poll(session, after: .zero, maximum: 9).events,
                try transaction.credentials.kept().map(\.credential.response),
                try transaction.sessions.infos(application: "org.example"),
                try transaction.launches.waitingSessions(of: "org.example")
            )
        }
        guard case .taskEnded(let ended)? = events.first?.kind else {
            Issue.record("the first event is no ended task: \(events)")
            return
        }
        #expect(ended.outcome.response.finalURL == "https://mirror.example.org/d")
        #expect(credentials == [.credential(user: "ann", password: "secret")])
        #expect(sessions.map(\.openChallenges) == [1])
        // If the host had not seen the challenge, the session would need the host.
        #expect(needing.isEmpty)
    }

    @Test("events, attempts, finish intents and the history of version 7 stay, in their order")
    func leanRows() throws {
        let rows = """
            INSERT INTO attempts (task_id, number, next, next_attempt_ms, status, error_domain, error_detail,
                http_status, "offset", end_offset, started_ms, redirects, reused_connection, proxy_connection,
                local_port, remote_port, request_header_bytes, request_body_bytes, response_header_bytes,
                response_body_bytes)
                SELECT column1, column2, 1, 0, 0, 0, 0, 200, 0, column3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
                FROM (VALUES (1, 2, 12), (1, 1, 11), (4, 1, 41), (9, 1, 91), (1, 4294967295, 13));
            INSERT INTO events (id, session_id, kind, round, time_ms, activity) VALUES (6, 1, 5, 1, 2500, 'hourly');
            INSERT INTO history (task_id, session_id, round, state, kind, url, destination, path, priority, status,
                error_domain, error_detail, http_status, attempts, size, enqueued_ms, ended_ms)
                VALUES (8, 1, 1, 4, 1, 'https://example.org/late', '/late', '/late', 0, 0, 0, 0, 200, 1, 10, 900, 1600),
                    (10, 1, 1, 4, 1, 'https://example.org/claimed', NULL, '/claimed', 0, 0, 0, 0, 200, 1, 10, 900, 900);
            UPDATE tasks SET attempts = 5, bytes_received = 50, http_status = 206 WHERE id = 1;
            INSERT INTO intents (task_id, device, inode, size) VALUES (1, 5, 6, 7);
            UPDATE sessions SET history_count = 3, history_limit = 2;
            DELETE FROM sqlite_sequence WHERE name = 'events';
            INSERT INTO sqlite_sequence VALUES ('events', 40);
            """
        let (store, session) = try migrated(7, and: rows)
        let first = TaskID(rawValue: 1)
        let (offsets, intents) = try store.run { (transaction) throws(Failure) in
            (
                try transaction.attempts.all(of: first, in: session).map { [UInt64($0.number), $0.endOffset] },
                try transaction.tasks.withIntent()
            )
        }
        #expect(offsets == [[1, 11], [2, 12], [1 << 20 - 1, 13]])
        #expect(intents.map(\.attempts) == [5] && intents.map(\.bytesReceived) == [50])
        #expect(try store.tasks(of: session).first?.httpStatus == 206)
        #expect(try store.events(of: session).map(\.id.rawValue) == [6, 7])
        // The history has room for the two tasks that ended last.
        let history = try store.run { (transaction) throws(Failure) in
            try transaction.history.tasks(of: session, after: .zero, maximum: 9).tasks
        }
        #expect(history.map(\.id.rawValue) == [8, 9])
        #expect(history.map(\.path) == ["/late", nil])
        try store.end(first)
        #expect(try store.events(of: session).map(\.id.rawValue) == [6, 7, 41])
    }

    @Test("after the migration of version 6, no table refers to the table of tasks, and the database is intact")
    func withoutForeignKeys() throws {
        let (store, session) = try migrated(6)
        let (references, problems) = try store.run { (transaction) throws(Failure) in
            (
                try transaction.connection.pragma(
                    """
                    SELECT count(*) FROM sqlite_schema AS tables
                        JOIN pragma_foreign_key_list(tables.name) AS keys ON keys."table" = 'tasks'
                    """),
                try transaction.connection.pragma("PRAGMA integrity_check")
            )
        }
        #expect(references == "0")
        #expect(problems == "ok")
        try store.acknowledge(session, .through(EventID(rawValue: 7)))
        #expect(try store.tasks(of: session).map(\.id.rawValue) == [1, 2, 3])
    }
}
