public import BackhaulModel

/// Creates, attaches, configures, lists and invalidates sessions. To *attach* a session is to get a handle to it. To
/// *invalidate* a session is to end and delete it.
public struct SessionOperations {
    let tables: Tables
    private var clients: ClientOperations { ClientOperations(tables: tables) }
    private var control: ControlOperations { ControlOperations(tables: tables) }
    private var history: HistoryOperations { HistoryOperations(tables: tables) }
    private var launches: LaunchOperations { LaunchOperations(tables: tables) }

    /// Creates the session, or attaches to it if it exists. An existing session keeps its stored configuration. If the
    /// same handle repeats the call that created the session, the result again says that the session is new.
    ///
    /// The claim is the right to read the session's events. Throws invalidated while the session is being invalidated.
    /// If `role` is consume and a living process has the claim through another handle, throws inUse. This failure has
    /// the id of that process.
    public func create(
        application: String, configuration: SessionConfiguration, role: Role, consumer: ConsumerIdentity, now: Int64
    ) throws(Failure) -> OpenedSession {
        if let session = try tables.sessions.find(application, configuration.identifier) {
            guard !session.isInvalidating else { throw Failure.invalidated(configuration.identifier) }
            var opened = try open(session, role, consumer)
            opened.isNew = try tables.sessions.isCreator(consumer, of: session.id)
            return opened
        }
        let id = try tables.sessions.insert(configuration, of: application, creator: consumer, now: now)
        return try open(
            OpenedSession(
                id: id, isNew: true, configuration: configuration, newestEvent: .zero, unacknowledged: 0,
                isInvalidating: false), role, consumer)
    }

    /// Attaches to an existing session. An attach is possible even while the session is being invalidated, because its
    /// events must still be read. Throws notFound if the session does not exist. Throws inUse under the same conditions
    /// as `create`.
    public func attach(
        application: String, identifier: String, role: Role, consumer: ConsumerIdentity
    ) throws(Failure) -> OpenedSession {
        guard let session = try tables.sessions.find(application, identifier) else {
            throw Failure(.notFound, "the application \(application) has no session \(identifier)")
        }
        return try open(session, role, consumer)
    }

    public func configuration(of session: SessionID) throws(Failure) -> SessionConfiguration {
        guard let found = try tables.sessions.configuration(of: session) else { throw Failure.sessionNotFound }
        return found
    }

    /// Replaces the stored configuration. Throws invalidArgument when the identifier differs.
    public func update(_ session: SessionID, _ configuration: SessionConfiguration) throws(Failure) {
        let identifier = try self.configuration(of: session).identifier
        guard configuration.identifier.utf8.elementsEqual(identifier.utf8) else {
            throw Failure(
                .invalidArgument,
                "the configuration is for session \(configuration.identifier), not for \(identifier); "
                    + "a session's identifier cannot be changed")
        }
        try tables.sessions.update(session, configuration)
        if configuration.cookies != .persistent { try tables.cookies.removeAll(of: session) }
        try history.trim(session, toConfigured: true)
    }

    /// Marks the session as invalidated, so that it refuses further tasks. If `cancelTasks` is true, the session's
    /// tasks end as cancelled. Otherwise the tasks continue. The session is removed when all tasks have ended and all
    /// events are acknowledged. If this is already the case, the session is removed immediately.
    public func invalidate(_ session: SessionID, cancelTasks: Bool, now: Int64) throws(Failure) -> Change {
        var change = try tables.sessions.change(in: session)
        try tables.sessions.invalidate(session)
        try tables.activities.removeAll(of: session)
        if cancelTasks { change = try control.apply(.cancel, to: TaskSelection(), of: session, running: [], now: now) }
        change.sessionRemoved = try removeIfFinished(session)
        return change
    }

    /// Removes the session if it is being invalidated and has no tasks and no events.
    func removeIfFinished(_ session: SessionID) throws(Failure) -> Bool {
        guard try tables.sessions.isFinished(session) else { return false }
        try history.trim(session, toConfigured: false)
        try tables.sessions.remove(session)
        return true
    }

    // MARK: Listing

    /// Returns the sessions that an engine loads when it starts. These are the sessions with unfinished tasks,
    /// unacknowledged events or activities.
    public func active() throws(Failure) -> [(
        id: SessionID, application: String, configuration: SessionConfiguration
    )] {
        try tables.sessions.active()
    }

    /// Returns the application's sessions with unacknowledged events or open challenges, and the newest event of each.
    public func needingAttention(application: String) throws(Failure) -> [(
        identifier: String, session: SessionID, newestEvent: EventID
    )] {
        try tables.sessions.needingAttention(of: application)
    }

    /// Returns up to `maximum` of the application's sessions with identifiers greater than `after`, sorted by
    /// identifier.
    public func infos(
        application: String, after: String = "", maximum: Int = Limits.batchCount
    ) throws(Failure) -> [SessionInfo] {
        try tables.sessions.infos(of: application, after: after, limit: maximum)
    }

    /// Returns the session and its application, or nil when there is no session with this id.
    public func info(of id: SessionID) throws(Failure) -> (application: String, info: SessionInfo)? {
        try tables.sessions.info(of: id)
    }

    private func open(
        _ session: OpenedSession, _ role: Role, _ consumer: ConsumerIdentity
    ) throws(Failure) -> OpenedSession {
        try tables.clients.insert(consumer)
        guard role == .consume else { return session }
        try clients.claim(session, for: consumer)
        var session = session
        session.launchedApplication = try launches.recordAttached(session.id, by: consumer)
        return session
    }
}

extension Failure {
    static var sessionNotFound: Failure {
        Failure(.notFound, "the session is gone: it was invalidated and all its events were acknowledged")
    }

    static func invalidated(_ identifier: String) -> Failure {
        Failure(
            .invalidated,
            "the session \(identifier) was invalidated; acknowledge its events, then it can be created again")
    }
}
