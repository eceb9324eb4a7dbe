/// The least rights of the database roles of workers and hosts. A worker works for all applications. A host reads and
/// changes only the rows of its application. The owner of the tables can do everything.
enum Rights {
    /// The tables whose rows belong to applications, and the column that says to which one: directly, or through a
    /// session.
    static let tables = [
        "applications": "id", "sessions": "application", "live": "application", "tasks": "session", "runs": "session",
        "ends": "session", "new_ends": "session", "events": "session", "replies": "session",
    ]

    private static let worker = [
        ("schema_versions, settings, events", "SELECT"),
        ("sessions", "SELECT (id, configuration)"),
        ("origins", "SELECT, UPDATE (last_application, next_start, paused_until)"),
        ("workers, permits", "SELECT, INSERT, UPDATE, DELETE"),
        ("live", "SELECT, UPDATE, DELETE"),
        ("runs, ends", "SELECT, INSERT, DELETE"),
        ("new_ends", "SELECT, INSERT"),
        ("tasks", "SELECT, DELETE"),
        ("replies", "SELECT (made_at), DELETE"),
    ]

    /// A host may not choose the numbers of tasks, sessions and origins: it could take those that others get next. It
    /// changes neither runs nor workers. Only the database sets the times of rows, because others read them.
    private static let host = [
        ("schema_versions, settings", "SELECT"),
        ("applications", "SELECT, UPDATE (newest_event)"),
        ("origins", "SELECT, INSERT (name)"),
        ("sessions", "SELECT, DELETE, INSERT (application, name, configuration)"),
        (
            "sessions",
            """
            UPDATE (configuration, round, live_tasks, newest_event, is_invalidating, consumer, consumer_process,
                consumer_started, consumer_machine, consumer_until)
            """
        ),
        (
            "live",
            """
            SELECT, DELETE, UPDATE (state, wanted, priority),
                INSERT (session, application, origin, state, priority, waits_until, destination)
            """
        ),
        ("tasks", "SELECT, DELETE, INSERT (session, id, round, key, request, not_before)"),
        ("ends", "SELECT, DELETE, INSERT (session, task, priority, run, worker, claimed_at, state, outcome)"),
        ("new_ends", "SELECT, INSERT, DELETE"),
        ("events", "SELECT, DELETE, INSERT (session, id, round, task)"),
        ("replies", "SELECT, DELETE, INSERT (session, client, sequence, reply)"),
        ("runs", "SELECT, DELETE"),
    ]

    /// Lets the role be that of a worker.
    static func grantWorker(_ role: String, _ database: DatabaseConnection) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            try grant(worker, to: role, database)
            for table in tables.keys.sorted() where table != "applications" {
                try makePolicy("worker", of: table, for: role, "USING (true)", database)
            }
        }
    }

    /// Lets the role be that of a host of the application, in addition to those that it has.
    static func grantHost(
        _ role: String, application name: String, _ database: DatabaseConnection
    ) throws(FleetError) {
        try database.transaction { () throws(FleetError) in
            let application = try HostQueue(database: database).application(name)
            try grant(host, to: role, database)
            let ofSession = "session IN (SELECT id FROM backhaul.sessions WHERE application = \(application))"
            for (table, column) in tables.sorted(by: { $0.key < $1.key }) {
                let isOwn = column == "session" ? ofSession : "\(column) = \(application)"
                // The end of a task goes to its session, which must not be that of another application.
                let check = table == "live" ? " WITH CHECK (\(isOwn) AND \(ofSession))" : ""
                try makePolicy("host_\(application)", of: table, for: role, "USING (\(isOwn))\(check)", database)
            }
        }
    }

    private static func grant(
        _ rights: [(tables: String, right: String)], to role: String, _ database: DatabaseConnection
    ) throws(FleetError) {
        try database.runScript("GRANT USAGE ON SCHEMA backhaul TO \(quoted(role))")
        for (tables, right) in rights {
            let names = tables.split(separator: ",").map { "backhaul." + $0.drop { $0 == " " } }.joined(separator: ", ")
            try database.runScript("GRANT \(right) ON \(names) TO \(quoted(role))")
        }
    }

    private static func makePolicy(
        _ kind: String, of table: String, for role: String, _ condition: String, _ database: DatabaseConnection
    ) throws(FleetError) {
        // The number of the role stays when the role gets another name.
        let roles = try database.run("SELECT oid FROM pg_roles WHERE rolname = $1", [.text(role)])
        let policy = "\(kind)_\(roles.first?.integer(0) ?? 0)"
        try database.runScript(
            """
            DROP POLICY IF EXISTS \(policy) ON backhaul.\(table);
            CREATE POLICY \(policy) ON backhaul.\(table) TO \(quoted(role)) \(condition)
            """)
    }

    private static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
