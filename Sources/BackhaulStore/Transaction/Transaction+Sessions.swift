public import BackhaulModel

extension Transaction {
    /// Creates the session or attaches to it; an existing one keeps its remembered configuration. Repeated by the same
    /// handle it is new again.
    ///
    /// Throws invalidated when it is being invalidated; inUse when `role` is consume and another living handle consumes
    /// it, with that one's process id.
    public func createSession(
        application: String, configuration: SessionConfiguration, role: Role, consumer: ConsumerIdentity, now: Int64
    ) throws(Failure) -> OpenedSession {
        if let session = try findSession(application, configuration.identifier) {
            guard !session.isInvalidating else { throw invalidated(configuration.identifier) }
            var opened = try open(session, role, consumer)
            opened.isNew =
                try connection.first(
                    Self.selectCreated, .id(session.id), .bits(consumer.client.high), .bits(consumer.client.low),
                    .bits(consumer.handle.rawValue)) { row throws(Failure) in row.flag() } ?? false
            return opened
        }
        try connection.run(
            Self.insertSession,
            [
                .text(application), .integer(now), .bits(consumer.client.high), .bits(consumer.client.low),
                .bits(consumer.handle.rawValue), .text(configuration.identifier),
            ] + ConfigurationColumns.values(configuration))
        let id = SessionID(rawValue: UInt64(clamping: connection.lastInsertedRow))
        return try open(
            OpenedSession(
                id: id, isNew: true, configuration: configuration, newestEvent: .zero, unacknowledged: 0,
                isInvalidating: false), role, consumer)
    }

    /// Throws notFound, or inUse as `createSession`. A session that is being invalidated can be attached: its events
    /// wait to be read.
    public func attachSession(
        application: String, identifier: String, role: Role, consumer: ConsumerIdentity
    ) throws(Failure) -> OpenedSession {
        guard let session = try findSession(application, identifier) else {
            throw Failure(.notFound, "the application \(application) has no session \(identifier); create it first")
        }
        return try open(session, role, consumer)
    }

    public func configuration(_ session: SessionID) throws(Failure) -> SessionConfiguration {
        let found = try connection.first(Self.selectConfiguration, .id(session)) { row throws(Failure) in
            try row.configuration()
        }
        guard let found else { throw noSession() }
        return found
    }

    /// Replaces the remembered configuration. Throws invalidArgument when the identifier is another's.
    public func updateConfiguration(
        _ session: SessionID, _ configuration: SessionConfiguration
    ) throws(Failure) {
        let identifier = try self.configuration(session).identifier
        guard configuration.identifier.utf8.elementsEqual(identifier.utf8) else {
            throw Failure(
                .invalidArgument,
                "the configuration is for session \(configuration.identifier), not for \(identifier); "
                    + "a session's identifier cannot be changed")
        }
        try connection.run(Self.updateConfiguration, [.id(session)] + ConfigurationColumns.values(configuration))
        try forgetUnkeptCookies(of: session)
        try trimHistory(session, toConfigured: true)
    }

    /// Those with live tasks, unacknowledged events or activities: what an engine has to know when it starts.
    public func activeSessions() throws(Failure) -> [(
        id: SessionID, application: String, configuration: SessionConfiguration
    )] {
        try connection.all(Self.selectActive) { row throws(Failure) in
            (row.sessionID(), row.text(), try row.configuration())
        }
    }

    /// The application's sessions with unacknowledged events, and the newest event of each.
    public func waitingEvents(application: String) throws(Failure) -> [(
        identifier: String, session: SessionID, newestEvent: EventID
    )] {
        try connection.all(Self.selectWaitingEvents, .text(application)) { row throws(Failure) in
            (row.text(), row.sessionID(), row.eventID())
        }
    }

    // MARK: -

    private func findSession(_ application: String, _ identifier: String) throws(Failure) -> OpenedSession? {
        try connection.first(Self.selectByIdentifier, .text(application), .text(identifier)) { row throws(Failure) in
            OpenedSession(
                id: row.sessionID(), isNew: false, configuration: try row.configuration(), newestEvent: row.eventID(),
                unacknowledged: row.number(), isInvalidating: row.flag())
        }
    }

    private func open(
        _ session: OpenedSession, _ role: Role, _ consumer: ConsumerIdentity
    ) throws(Failure) -> OpenedSession {
        try remember(consumer)
        guard role == .consume else { return session }
        try claim(session, for: consumer)
        var session = session
        session.launchedApplication = try noteAttached(session.id, by: consumer)
        return session
    }

    func noSession() -> Failure {
        Failure(.notFound, "the session is gone: it was invalidated and all its events were acknowledged")
    }

    func invalidated(_ identifier: String) -> Failure {
        Failure(
            .invalidated,
            "the session \(identifier) was invalidated; acknowledge its events, then it can be created again")
    }

    private static let insertSession = Query(
        """
        INSERT INTO sessions (application, created_ms, creator_high, creator_low, creator_handle, identifier,
            \(ConfigurationColumns.names))
        VALUES (?, ?, ?, ?, ?, ?, \(ConfigurationColumns.marks))
        """)
    private static let selectCreated = Query(
        "SELECT 1 FROM sessions WHERE id = ? AND creator_high = ? AND creator_low = ? AND creator_handle = ?")
    private static let selectConfiguration = Query(
        "SELECT identifier, \(ConfigurationColumns.names) FROM sessions WHERE id = ?")
    private static let updateConfiguration = Query(
        "UPDATE sessions SET \(ConfigurationColumns.assignments(from: 2)) WHERE id = ?1")
    private static let selectByIdentifier = Query(
        """
        SELECT id, identifier, \(ConfigurationColumns.names), newest_event, events_waiting, invalidating
        FROM sessions WHERE application = ? AND identifier = ?
        """)
    private static let selectWaitingEvents = Query(
        """
        SELECT identifier, id, newest_event FROM sessions
        WHERE application = ? AND events_waiting > 0 ORDER BY identifier
        """)
    private static let selectActive = Query(
        """
        SELECT id, application, identifier, \(ConfigurationColumns.names) FROM sessions
        WHERE live_tasks > 0 OR events_waiting > 0 OR EXISTS (SELECT 1 FROM activities WHERE session_id = sessions.id)
        ORDER BY id
        """)
}
