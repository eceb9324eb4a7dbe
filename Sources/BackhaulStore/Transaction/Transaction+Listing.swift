public import BackhaulModel
internal import BackhaulPlatform

/// Sessions as listings show them.
extension Transaction {
    /// By identifier.
    public func sessions(application: String) throws(Failure) -> [SessionInfo] {
        try connection.all(Self.selectSessions, .text(application)) { row throws(Failure) in row.sessionInfo() }
    }

    /// Nil when there is no such session.
    public func sessionInfo(_ id: SessionID) throws(Failure) -> (application: String, info: SessionInfo)? {
        try connection.first(Self.selectSession, .id(id)) { row throws(Failure) in (row.text(), row.sessionInfo()) }
    }

    private static let columns = """
        identifier, round, live_tasks, events_waiting,
        EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id AND kind = 2),
        invalidating, created_ms, newest_event,
        (SELECT count(*) FROM challenges WHERE session_id = sessions.id),
        EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id AND kind = 5), process_id, start_time, boot_id
        """
    private static let consumer = """
        LEFT JOIN consumers ON consumers.session_id = sessions.id LEFT JOIN clients ON clients.id = client_id
        """
    private static let selectSessions = Query(
        "SELECT \(columns) FROM sessions \(consumer) WHERE application = ? ORDER BY identifier")
    private static let selectSession = Query(
        "SELECT application, \(columns) FROM sessions \(consumer) WHERE sessions.id = ?")
}

extension Row {
    fileprivate mutating func sessionInfo() -> SessionInfo {
        var info = SessionInfo(
            identifier: text(), round: number(), liveTasks: number(), events: number(), hasFinishedRound: flag(),
            isInvalidating: flag(), consumer: 0, createdMilliseconds: integer(), newestEvent: eventID())
        info.openChallenges = number()
        info.hasActivity = flag()
        let process = process()
        // Without a consumer the columns are NULL, and no process has the number 0.
        if process.processID != 0, process.isAlive { info.consumer = Int64(process.processID) }
        return info
    }
}
