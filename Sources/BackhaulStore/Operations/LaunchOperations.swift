public import BackhaulModel

/// Operations on launch commands, and on the current launch of each application. In a launch, the engine runs the
/// command to start the application's program, because sessions need the host.
public struct LaunchOperations {
    let tables: Tables

    /// Registers the launch command, which replaces the earlier command. If the new command differs, clears the
    /// failures of the earlier command. The current launch stays. If `command` is nil, removes the command and the
    /// launch.
    public func set(_ command: LaunchCommand?, of application: String) throws(Failure) {
        guard let command else { return try tables.launches.remove(application) }
        let before = try find(application)
        try tables.launches.write(command, of: application)
        if let before, before.command != command { try tables.launches.forgetFailures(of: application) }
    }

    /// Returns the commands and launches of all applications, sorted by application.
    public func all() throws(Failure) -> [StoredLaunch] { try tables.launches.all() }

    public func find(_ application: String) throws(Failure) -> StoredLaunch? {
        try tables.launches.find(application)
    }

    /// Returns the application's sessions that need their host.
    public func waitingSessions(of application: String) throws(Failure) -> [WaitingSession] {
        try tables.sessions.needingHost(of: application)
    }

    /// Begins a launch for all sessions that need their host. Returns nil when no session needs its host, or when no
    /// command is registered.
    public func begin(
        of application: String, secret: UInt64, backoff: LaunchBackoff, now: Int64
    ) throws(Failure) -> StoredLaunch? {
        try tables.launches.removeListed(of: application)
        guard try listWaiting(of: application) > 0 else { return nil }
        guard let id = try tables.meta.nextLaunch(), var launch = try find(application) else { return nil }
        launch.backoff = backoff
        launch.current = .init(token: LaunchToken(id: id, secret: secret), startedMilliseconds: now)
        try save(launch)
        return launch
    }

    /// Adds the sessions that need their host to the current launch. Returns the number of added sessions.
    @discardableResult
    public func listWaiting(of application: String) throws(Failure) -> Int64 {
        var added: Int64 = 0
        for (session, isRepeated) in try tables.sessions.toLaunch(of: application)
        where try tables.launches.list(session, of: application, isRepeated: isRepeated) { added += 1 }
        return added
    }

    /// Writes the state of the launch, but not its command. If there is no current launch, clears the list of the
    /// launch's sessions.
    public func save(_ launch: StoredLaunch) throws(Failure) {
        try tables.launches.save(launch)
        if launch.current == nil { try tables.launches.removeListed(of: launch.application) }
    }

    /// Returns whether the host still has to complete a session that the current launch lists. A host completes a
    /// session when it has processed the session's events.
    public func hasSessions(of application: String) throws(Failure) -> Bool {
        try tables.launches.hasListed(application)
    }

    /// Records that the launched host has attached (opened) a session, and returns the application. Does this only if
    /// the consumer has the token of the launch, and the launch lists the session. Otherwise returns nil. The consumer
    /// is the handle that may read the session's events. The token is the value of BACKHAUL_LAUNCH. The row of the
    /// launch gets the consumer's process in place of the process that the engine started. These two processes differ
    /// if the started process itself starts the host.
    func recordAttached(_ session: SessionID, by consumer: ConsumerIdentity) throws(Failure) -> String? {
        guard let token = consumer.launch else { return nil }
        return try tables.launches.attach(consumer.process, to: session, by: token)
    }

    /// Returns the present state of the sessions that the launch lists.
    public func sessions(of application: String) throws(Failure) -> [SessionInfo] {
        try tables.sessions.launched(of: application)
    }

    /// Ends the launch for this session, because the host has completed the session. The session's open challenges
    /// (demands to the host, for example for a credential) launch no host any more, because this host has seen them. If
    /// the session already needs its host again, because of newer events, the launch lists the session again.
    public func complete(_ session: SessionID, in application: String) throws(Failure) -> LaunchCompletion {
        try tables.challenges.markSeen(of: session)
        let wasRepeated = try tables.launches.removeListed(session)
        let isRepeated = try tables.sessions.isRepeated(session, of: application)
        if wasRepeated != nil, let isRepeated {
            _ = try tables.launches.list(session, of: application, isRepeated: isRepeated)
        }
        return LaunchCompletion(
            wasLaunched: wasRepeated != nil, wasRepeated: wasRepeated ?? false, isWaiting: isRepeated != nil)
    }
}
