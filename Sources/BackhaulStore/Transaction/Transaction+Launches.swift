public import BackhaulModel
internal import BackhaulPlatform

/// Launch commands, and the launch of each application that is not over.
extension Transaction {
    /// Registers the command in place of any other, whose failures are forgotten; a launch that is not over stays. Nil
    /// removes all of it.
    public func setLaunch(_ command: LaunchCommand?, of application: String) throws(Failure) {
        guard let command else {
            try connection.run(Self.deleteLaunch, .text(application))
            return
        }
        let before = try launch(of: application)
        try connection.run(
            Self.upsertLaunch, .text(application), .text(command.program),
            .optional(TextBlob.pack(command.arguments)), .optional(TextBlob.pack(command.environment)),
            .optional(command.workingDirectory), .number(command.attachTimeoutMilliseconds),
            .number(command.firstDelayMilliseconds), .number(command.longestDelayMilliseconds),
            .number(command.maximumLaunches))
        if let before, before.command != command { try connection.run(Self.forgetFailures, .text(application)) }
    }

    /// Of all applications, by name.
    public func launches() throws(Failure) -> [StoredLaunch] {
        try connection.all(Self.selectLaunches) { row throws(Failure) in try row.launch() }
    }

    public func launch(of application: String) throws(Failure) -> StoredLaunch? {
        try connection.first(Self.selectLaunch, .text(application)) { row throws(Failure) in try row.launch() }
    }

    /// The application's sessions that need their host.
    public func waitingSessions(of application: String) throws(Failure) -> [WaitingSession] {
        try connection.all(Self.selectWaiting, .text(application)) { row throws(Failure) in
            let identifier = row.text()
            let launchIfStopped: UInt32 = row.number()
            let isLaunched = row.flag()
            let consumer = row.process()
            // Without a consumer the columns are NULL, and no process has the number 0.
            return WaitingSession(
                identifier: identifier, launchIfStoppedMilliseconds: launchIfStopped,
                consumer: consumer.processID != 0 && consumer.isAlive ? consumer : nil, isLaunched: isLaunched)
        }
    }

    /// Begins a launch for all sessions that need their host. Nil when none does any more, or no command is registered.
    public func beginLaunch(
        of application: String, secret: UInt64, backoff: LaunchBackoff, now: Int64
    ) throws(Failure) -> StoredLaunch? {
        try connection.run(Self.deleteLaunched, .text(application))
        guard try listWaiting(of: application) > 0 else { return nil }
        try connection.run(Self.countLaunches)
        let number: UInt64? = try connection.first(Self.selectCount) { row throws(Failure) in row.number() }
        guard let number, var launch = try launch(of: application) else { return nil }
        launch.backoff = backoff
        launch.current = .init(
            token: LaunchToken(id: LaunchID(rawValue: number), secret: secret), startedMilliseconds: now)
        try save(launch)
        return launch
    }

    /// Lists the sessions that need their host as sessions of the launch that is not over; returns how many were not
    /// yet.
    @discardableResult
    public func listWaiting(of application: String) throws(Failure) -> Int64 {
        try connection.run(Self.insertLaunched, .text(application))
        return connection.changes
    }

    /// All but the command. Without a current launch no session is listed for it any more.
    public func save(_ launch: StoredLaunch) throws(Failure) {
        let current = launch.current
        try connection.run(
            Self.updateLaunch, .text(launch.application), .number(launch.backoff.launches),
            launch.backoff.dueAt.map(Value.integer) ?? .null, .optional(launch.errorMessage),
            current.map { .id($0.token.id) } ?? .null, current.map { .bits($0.token.secret) } ?? .null,
            current?.process.map { .number($0.processID) } ?? .null,
            current?.process.map { .bits($0.startTime) } ?? .null, .optional(current?.process?.bootID),
            .optional(current?.unit), current.map { .integer($0.startedMilliseconds) } ?? .null,
            .flag(current?.hasAttached ?? false))
        if current == nil { try connection.run(Self.deleteLaunched, .text(launch.application)) }
    }

    /// Whether the launch that is not over lists sessions of the application that were not completed.
    public func hasLaunchedSessions(_ application: String) throws(Failure) -> Bool {
        try connection.first(Self.selectAnyLaunched, .text(application)) { row throws(Failure) in row.flag() } ?? false
    }

    /// The launched host has done its first duty when it consumes a session that it was launched for. Returns its
    /// application then. Of a wrapper and the host that it has started the row keeps the one that consumes.
    func noteAttached(_ session: SessionID, by consumer: ConsumerIdentity) throws(Failure) -> String? {
        guard let launch = consumer.launch else { return nil }
        return try connection.first(
            Self.updateAttached, .id(session), .id(launch.id), .bits(launch.secret),
            .number(consumer.process.processID), .bits(consumer.process.startTime), .text(consumer.process.bootID)
        ) { row throws(Failure) in row.text() }
    }

    /// The sessions that the launch lists, as they are now.
    public func launchedSessions(of application: String) throws(Failure) -> [SessionInfo] {
        var infos: [SessionInfo] = []
        let ids = try connection.all(Self.selectLaunched, .text(application)) { row throws(Failure) in row.sessionID() }
        for id in ids { if let found = try sessionInfo(id) { infos.append(found.info) } }
        return infos
    }

    /// The launch is over for the session, and challenges that its host has seen and left open launch nobody any more.
    /// One that needs its host still, because more has happened meanwhile, is listed again at once.
    public func completeLaunch(
        of session: SessionID, in application: String
    ) throws(Failure) -> Completion {
        try connection.run(Self.tellChallenges, .id(session))
        let wasRepeated = try connection.first(Self.deleteOneLaunched, .id(session)) { row throws(Failure) in
            row.flag()
        }
        if wasRepeated != nil { try listWaiting(of: application) }
        let isWaiting = try connection.first(Self.selectIsWaiting, .text(application), .id(session)) {
            row throws(Failure) in row.flag()
        }
        return Completion(
            wasLaunched: wasRepeated != nil, wasRepeated: wasRepeated ?? false, isWaiting: isWaiting ?? false)
    }

    /// What completing a session has found.
    public struct Completion: Equatable, Sendable {
        /// The launch that is not over was for it.
        public var wasLaunched: Bool
        /// Only because answers to its challenges did not serve.
        public var wasRepeated: Bool
        /// It needs its host still.
        public var isWaiting: Bool
    }

    private static let upsertLaunch = Query(
        """
        INSERT INTO launches (application, program, arguments, environment, working_directory, attach_timeout_ms,
            first_delay_ms, longest_delay_ms, maximum_launches) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (application) DO UPDATE SET program = ?2, arguments = ?3, environment = ?4, working_directory = ?5,
            attach_timeout_ms = ?6, first_delay_ms = ?7, longest_delay_ms = ?8, maximum_launches = ?9
        """)
    // A launched host that lives counts on.
    private static let forgetFailures = Query(
        """
        UPDATE launches SET launches = min(launches, process_id IS NOT NULL), due_boot_ms = NULL, error_message = NULL
        WHERE application = ?
        """)
    private static let deleteLaunch = Query("DELETE FROM launches WHERE application = ?")
    private static let launchColumns = """
        application, program, arguments, environment, working_directory, attach_timeout_ms, first_delay_ms,
        longest_delay_ms, maximum_launches, launches, due_boot_ms, error_message, launch_id, secret, process_id,
        start_time, boot_id, unit, started_ms, has_attached
        """
    private static let selectLaunches = Query("SELECT \(launchColumns) FROM launches ORDER BY application")
    private static let selectLaunch = Query("SELECT \(launchColumns) FROM launches WHERE application = ?")
    private static let updateLaunch = Query(
        """
        UPDATE launches SET launches = ?2, due_boot_ms = ?3, error_message = ?4, launch_id = ?5, secret = ?6,
            process_id = ?7, start_time = ?8, boot_id = ?9, unit = ?10, started_ms = ?11, has_attached = ?12
        WHERE application = ?1
        """)
    /// A session that needs its host.
    private static let isWaiting = """
        sessions.application = ?1 AND sends_launch_events = 1
            AND (EXISTS (SELECT 1 FROM events WHERE events.session_id = sessions.id AND kind = 2)
                OR EXISTS (SELECT 1 FROM events WHERE events.session_id = sessions.id AND kind = 5)
                OR EXISTS (SELECT 1 FROM challenges WHERE challenges.session_id = sessions.id AND told = 0))
        """
    private static let selectWaiting = Query(
        """
        SELECT identifier, launch_if_stopped_ms,
            EXISTS (SELECT 1 FROM launched_sessions WHERE launched_sessions.session_id = sessions.id),
            process_id, start_time, boot_id
        FROM sessions LEFT JOIN consumers ON consumers.session_id = sessions.id
            LEFT JOIN clients ON clients.id = client_id
        WHERE \(isWaiting) ORDER BY identifier
        """)
    private static let selectIsWaiting = Query(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE \(isWaiting) AND sessions.id = ?2)")
    private static let insertLaunched = Query(
        """
        INSERT OR IGNORE INTO launched_sessions
        SELECT id, sessions.application,
            NOT EXISTS (SELECT 1 FROM events WHERE events.session_id = sessions.id AND kind = 2)
            AND NOT EXISTS (SELECT 1 FROM events WHERE events.session_id = sessions.id AND kind = 5)
            AND NOT EXISTS (SELECT 1 FROM challenges
                WHERE challenges.session_id = sessions.id AND told = 0 AND failures = 0)
        FROM sessions JOIN launches ON launches.application = sessions.application
        WHERE \(isWaiting)
        """)
    private static let updateAttached = Query(
        """
        UPDATE launches SET has_attached = 1, process_id = ?4, start_time = ?5, boot_id = ?6
        WHERE launch_id = ?2 AND secret = ?3
            AND application = (SELECT application FROM launched_sessions WHERE session_id = ?1)
        RETURNING application
        """)
    private static let deleteLaunched = Query("DELETE FROM launched_sessions WHERE application = ?")
    private static let deleteOneLaunched = Query(
        "DELETE FROM launched_sessions WHERE session_id = ? RETURNING is_repeated")
    private static let selectAnyLaunched = Query(
        "SELECT EXISTS (SELECT 1 FROM launched_sessions WHERE application = ?)")
    private static let selectLaunched = Query(
        """
        SELECT id FROM sessions
        WHERE application = ? AND EXISTS (SELECT 1 FROM launched_sessions WHERE session_id = sessions.id)
        ORDER BY identifier
        """)
    private static let countLaunches = Query(
        """
        INSERT INTO meta VALUES ('launches', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)
        """)
    private static let selectCount = Query("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'launches'")
    // A challenge whose event is still there was not seen: complete is refused while seen events are not acknowledged.
    private static let tellChallenges = Query(
        """
        UPDATE challenges SET told = 1 WHERE session_id = ?1 AND told = 0
            AND NOT EXISTS (SELECT 1 FROM events WHERE events.session_id = ?1 AND events.challenge_id = challenges.id)
        """)
}

extension Row {
    fileprivate mutating func launch() throws(Failure) -> StoredLaunch {
        let application = text()
        var command = LaunchCommand(program: text())
        command.arguments = try TextBlob.unpack(optionalBlob(), "the arguments of a launch command")
        command.environment = try TextBlob.unpack(optionalBlob(), "the environment of a launch command")
        command.workingDirectory = optionalText()
        command.attachTimeoutMilliseconds = number()
        command.firstDelayMilliseconds = number()
        command.longestDelayMilliseconds = number()
        command.maximumLaunches = number()
        var launch = StoredLaunch(application: application, command: command)
        launch.backoff = LaunchBackoff(launches: number(), dueAt: optionalInteger())
        launch.errorMessage = optionalText()
        let id: UInt64? = optionalNumber()
        let secret = optionalBits()
        let process = process()
        let unit = optionalText()
        let started = integer()
        let hasAttached = flag()
        if let id, let secret {
            var current = StoredLaunch.Current(
                token: LaunchToken(id: LaunchID(rawValue: id), secret: secret), startedMilliseconds: started)
            current.process = process.processID != 0 ? process : nil
            current.unit = unit
            current.hasAttached = hasAttached
            launch.current = current
        }
        return launch
    }
}
