public import BackhaulModel

/// Launch commands, and the launch of each application that is not over.
public struct LaunchOperations {
    let tables: Tables

    /// Registers the command in place of any other, whose failures are forgotten; a launch that is not over stays. Nil
    /// removes all of it.
    public func set(_ command: LaunchCommand?, of application: String) throws(Failure) {
        guard let command else { return try tables.launches.remove(application) }
        let before = try find(application)
        try tables.launches.write(command, of: application)
        if let before, before.command != command { try tables.launches.forgetFailures(of: application) }
    }

    /// Of all applications, by name.
    public func all() throws(Failure) -> [StoredLaunch] { try tables.launches.all() }

    public func find(_ application: String) throws(Failure) -> StoredLaunch? {
        try tables.launches.find(application)
    }

    /// The application's sessions that need their host.
    public func waitingSessions(of application: String) throws(Failure) -> [WaitingSession] {
        try tables.sessions.needingHost(of: application)
    }

    /// Begins a launch for all sessions that need their host. Nil when none does any more, or no command is registered.
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

    /// Lists the sessions that need their host as sessions of the launch that is not over; returns how many were not
    /// yet.
    @discardableResult
    public func listWaiting(of application: String) throws(Failure) -> Int64 {
        var added: Int64 = 0
        for (session, isRepeated) in try tables.sessions.toLaunch(of: application)
        where try tables.launches.list(session, of: application, isRepeated: isRepeated) { added += 1 }
        return added
    }

    /// All but the command. Without a current launch no session is listed for it any more.
    public func save(_ launch: StoredLaunch) throws(Failure) {
        try tables.launches.save(launch)
        if launch.current == nil { try tables.launches.removeListed(of: launch.application) }
    }

    /// Whether the launch that is not over lists sessions of the application that were not completed.
    public func hasSessions(of application: String) throws(Failure) -> Bool {
        try tables.launches.hasListed(application)
    }

    /// The launched host has done its first duty when it consumes a session that it was launched for. Returns its
    /// application then. Of a wrapper and the host that it has started the row keeps the one that consumes.
    func recordAttached(_ session: SessionID, by consumer: ConsumerIdentity) throws(Failure) -> String? {
        guard let token = consumer.launch else { return nil }
        return try tables.launches.attach(consumer.process, to: session, by: token)
    }

    /// The sessions that the launch lists, as they are now.
    public func sessions(of application: String) throws(Failure) -> [SessionInfo] {
        try tables.sessions.launched(of: application)
    }

    /// The launch is over for the session, and challenges that its host has seen and left open launch no host any more.
    /// A session that still needs its host, because more has happened, is listed again immediately.
    public func complete(_ session: SessionID, in application: String) throws(Failure) -> LaunchCompletion {
        try tables.challenges.markSeen(of: session)
        let wasRepeated = try tables.launches.removeListed(session)
        if wasRepeated != nil { try listWaiting(of: application) }
        return LaunchCompletion(
            wasLaunched: wasRepeated != nil, wasRepeated: wasRepeated ?? false,
            isWaiting: try tables.sessions.needsHost(session, of: application))
    }
}
