internal import BackhaulModel
internal import BackhaulPlatform

/// The table `launches` has the launch command of each application and the application's current launch. In a launch,
/// the engine starts the application's program with this command. The engine does this when a session needs its host,
/// for example because all tasks of the session have ended. The table `launched_sessions` has the sessions of the
/// current launch.
struct LaunchTable {
    let connection: Connection

    /// Replaces the application's launch command. The other columns stay.
    func write(_ command: LaunchCommand, of application: String) throws(Failure) {
        try connection.run(
            Self.write, .text(application), .text(command.program), .optional(TextBlob.pack(command.arguments)),
            .optional(TextBlob.pack(command.environment)), .optional(command.workingDirectory),
            .number(command.attachTimeoutMilliseconds), .number(command.firstDelayMilliseconds),
            .number(command.longestDelayMilliseconds), .number(command.maximumLaunches))
    }

    /// Writes the state of the launch. The columns of the launch command stay.
    func save(_ launch: StoredLaunch) throws(Failure) {
        let current = launch.current
        try connection.run(
            Self.save, .text(launch.application), .number(launch.backoff.launches),
            .optional(launch.backoff.dueAt), .optional(launch.errorMessage),
            current.map { .id($0.token.id) } ?? .null, .bits(current?.token.secret),
            .optional(current?.process?.processID), .bits(current?.process?.startTime),
            .optional(current?.process?.bootID), .optional(current?.unit), .optional(current?.startedMilliseconds),
            .flag(current?.hasAttached ?? false))
    }

    func remove(_ application: String) throws(Failure) { try connection.run(Self.remove, .text(application)) }

    /// Returns the launches, sorted by application.
    func all() throws(Failure) -> [StoredLaunch] { try connection.all(Self.selectAll, read: StoredLaunch.init(row:)) }

    func find(_ application: String) throws(Failure) -> StoredLaunch? {
        try connection.first(Self.select, .text(application), read: StoredLaunch.init(row:))
    }

    /// Forgets earlier failed launches: their count becomes 0. But a launch counts as failed until its host completes a
    /// session (reports that it has processed the events of the session). So if a launched process runs now, its launch
    /// stays in the count, and the count becomes 1.
    func forgetFailures(of application: String) throws(Failure) {
        try connection.run(Self.forgetFailures, .text(application))
    }

    /// Records that the process has attached (opened) the session as the launched host. `token` is the value by which
    /// the engine recognises a program that it has started. Returns the application. Returns nil if the token does not
    /// belong to a current launch, or if that launch does not list the session.
    func attach(
        _ process: ProcessIdentity, to session: SessionID, by token: LaunchToken
    ) throws(Failure) -> String? {
        try connection.first(
            Self.attach, .id(session), .id(token.id), .bits(token.secret), .number(process.processID),
            .bits(process.startTime), .text(process.bootID)
        ) { row throws(Failure) in row.text() }
    }

    /// Removes the processes of launched hosts from the rows, because the reboot has ended these processes. Delayed
    /// launches become due.
    func clearAfterBoot() throws(Failure) { try connection.run(Self.clearAfterBoot) }

    // MARK: Sessions

    /// Adds the session to the current launch. `isRepeated` is true if the only reason for the launch is that servers
    /// rejected credentials. Returns false when the launch lists the session already, or when the application has no
    /// launch command.
    func list(_ session: SessionID, of application: String, isRepeated: Bool) throws(Failure) -> Bool {
        try connection.run(Self.list, .id(session), .text(application), .flag(isRepeated))
        return connection.changes == 1
    }

    func hasListed(_ application: String) throws(Failure) -> Bool {
        try connection.first(Self.hasListed, .text(application)) { row throws(Failure) in row.flag() } ?? false
    }

    func removeListed(of application: String) throws(Failure) {
        try connection.run(Self.removeListed, .text(application))
    }

    /// Removes the session from the launch. Returns the value of `isRepeated` that `list` has stored for the session,
    /// or nil when the session was not listed.
    func removeListed(_ session: SessionID) throws(Failure) -> Bool? {
        try connection.first(Self.removeSession, .id(session)) { row throws(Failure) in row.flag() }
    }

    /// The SQL condition for a row of `sessions`: a launch lists the session.
    static let listsSession =
        "EXISTS (SELECT 1 FROM launched_sessions WHERE launched_sessions.session_id = sessions.id)"

    private static let write = Query(
        """
        INSERT INTO launches (application, program, arguments, environment, working_directory, attach_timeout_ms,
            first_delay_ms, longest_delay_ms, maximum_launches) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (application) DO UPDATE SET program = ?2, arguments = ?3, environment = ?4, working_directory = ?5,
            attach_timeout_ms = ?6, first_delay_ms = ?7, longest_delay_ms = ?8, maximum_launches = ?9
        """)
    private static let save = Query(
        """
        UPDATE launches SET launches = ?2, due_boot_ms = ?3, error_message = ?4, launch_id = ?5, secret = ?6,
            process_id = ?7, start_time = ?8, boot_id = ?9, unit = ?10, started_ms = ?11, has_attached = ?12
        WHERE application = ?1
        """)
    private static let remove = Query("DELETE FROM launches WHERE application = ?")
    private static let selectAll = Query(StoredLaunch.init(row:), "FROM launches ORDER BY application")
    private static let select = Query(StoredLaunch.init(row:), "FROM launches WHERE application = ?")
    private static let forgetFailures = Query(
        """
        UPDATE launches SET launches = min(launches, process_id IS NOT NULL), due_boot_ms = NULL, error_message = NULL
        WHERE application = ?
        """)
    private static let attach = Query(
        """
        UPDATE launches SET has_attached = 1, process_id = ?4, start_time = ?5, boot_id = ?6
        WHERE launch_id = ?2 AND secret = ?3
            AND application = (SELECT application FROM launched_sessions WHERE session_id = ?1)
        RETURNING application
        """)
    private static let clearAfterBoot = Query(
        "UPDATE launches SET due_boot_ms = NULL, process_id = NULL, start_time = NULL, boot_id = NULL, unit = NULL")
    private static let list = Query(
        """
        INSERT OR IGNORE INTO launched_sessions (session_id, application, is_repeated)
        SELECT ?1, application, ?3 FROM launches WHERE application = ?2
        """)
    private static let hasListed = Query("SELECT EXISTS (SELECT 1 FROM launched_sessions WHERE application = ?)")
    private static let removeListed = Query("DELETE FROM launched_sessions WHERE application = ?")
    private static let removeSession = Query(
        "DELETE FROM launched_sessions WHERE session_id = ? RETURNING is_repeated")
}

extension StoredLaunch {
    fileprivate init(row: inout Row) throws(Failure) {
        let application = row.text("application")
        var command = LaunchCommand(program: row.text("program"))
        let (arguments, environment) = (row.optionalBlob("arguments"), row.optionalBlob("environment"))
        command.workingDirectory = row.optionalText("working_directory")
        command.attachTimeoutMilliseconds = row.number("attach_timeout_ms")
        command.firstDelayMilliseconds = row.number("first_delay_ms")
        command.longestDelayMilliseconds = row.number("longest_delay_ms")
        command.maximumLaunches = row.number("maximum_launches")
        let backoff = LaunchBackoff(launches: row.number("launches"), dueAt: row.optionalInteger("due_boot_ms"))
        let message = row.optionalText("error_message")
        let id: UInt64? = row.optionalNumber("launch_id")
        let secret = row.optionalBits("secret")
        let process = row.process()
        let unit = row.optionalText("unit")
        let started = row.integer("started_ms")
        let hasAttached = row.flag("has_attached")
        command.arguments = try TextBlob.unpack(arguments, "the arguments of a launch command")
        command.environment = try TextBlob.unpack(environment, "the environment of a launch command")
        self.init(application: application, command: command)
        self.backoff = backoff
        errorMessage = message
        guard let id, let secret else { return }
        var current = Current(
            token: LaunchToken(id: LaunchID(rawValue: id), secret: secret), startedMilliseconds: started)
        current.process = process.processID != 0 ? process : nil
        current.unit = unit
        current.hasAttached = hasAttached
        self.current = current
    }
}
