internal import BackhaulModel
internal import BackhaulPlatform

/// The table `sessions`. A row has a session's configuration, its round and its counters. In a launch, the engine
/// starts the host because sessions need it.
struct SessionTable {
    let connection: Connection

    // MARK: Making and finding

    func insert(
        _ configuration: SessionConfiguration, of application: String, creator: ConsumerIdentity, now: Int64
    ) throws(Failure) -> SessionID {
        let values = NewRow.values { Self.write(configuration, of: application, creator, now, &$0) }
        try connection.run(Self.insert, values)
        return SessionID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    private static func write(
        _ configuration: SessionConfiguration, of application: String, _ creator: ConsumerIdentity?, _ now: Int64,
        _ row: inout NewRow
    ) {
        row.set("application", .text(application))
        row.set("created_ms", .integer(now))
        row.set("creator_high", .bits(creator?.client.high))
        row.set("creator_low", .bits(creator?.client.low))
        row.set("creator_handle", .bits(creator?.handle.rawValue))
        row.set("identifier", .text(configuration.identifier))
        configuration.write(to: &row)
    }

    func find(_ application: String, _ identifier: String) throws(Failure) -> OpenedSession? {
        try connection.first(
            Self.selectByIdentifier, .text(application), .text(identifier), read: OpenedSession.init(row:))
    }

    func isCreator(_ consumer: ConsumerIdentity, of session: SessionID) throws(Failure) -> Bool {
        try connection.first(
            Self.selectCreated, .id(session), .bits(consumer.client.high), .bits(consumer.client.low),
            .bits(consumer.handle.rawValue)
        ) { row throws(Failure) in row.flag() } ?? false
    }

    func names(of session: SessionID) throws(Failure) -> SessionNames? {
        try connection.first(Self.selectNames, .id(session), read: SessionNames.init(row:))
    }

    /// Returns a `Change` without tasks. The change has the session's names and newest event. Its `needsHost` is true
    /// if no round is open.
    func change(in session: SessionID) throws(Failure) -> Change {
        guard let names = try names(of: session) else { throw Failure.sessionNotFound }
        var change = Change(
            session: session, application: names.application, identifier: names.identifier,
            newestEvent: names.newestEvent)
        change.needsHost = !names.isRoundOpen
        return change
    }

    func round(of session: SessionID) throws(Failure) -> SessionRound? {
        try connection.first(Self.selectRound, .id(session), read: SessionRound.init(row:))
    }

    /// Returns how many tasks of the session count for its round.
    func liveTasks(of session: SessionID) throws(Failure) -> LiveTasks? {
        try connection.first(Self.selectLive, .id(session), read: LiveTasks.init(row:))
    }

    /// Returns the sessions with unfinished tasks, unacknowledged events or activities.
    func active() throws(Failure) -> [(id: SessionID, application: String, configuration: SessionConfiguration)] {
        try connection.all(Self.selectActive, read: Self.active)
    }

    /// Returns the application's sessions with unacknowledged events or open challenges, sorted by identifier.
    func needingAttention(
        of application: String
    ) throws(Failure) -> [(identifier: String, session: SessionID, newestEvent: EventID)] {
        try connection.all(Self.selectNeedingAttention, .text(application), read: Self.needingAttention)
    }

    /// Returns the counters of all sessions together.
    func counters() throws(Failure) -> SessionCounters {
        try connection.first(Self.sumCounters, read: SessionCounters.init(row:)) ?? SessionCounters()
    }

    /// Returns the sessions with unacknowledged events.
    func idsWithEvents() throws(Failure) -> [SessionID] {
        try connection.all(Self.selectIDsWithEvents) { row throws(Failure) in row.sessionID() }
    }

    /// Returns whether any session has a task that can start, now or after a delay, without a command of the host.
    func anyStarts() throws(Failure) -> Bool {
        try connection.first(Self.anyStarts) { row throws(Failure) in row.flag() } ?? false
    }

    // MARK: Configuration

    func configuration(of session: SessionID) throws(Failure) -> SessionConfiguration? {
        try connection.first(Self.selectConfiguration, .id(session), read: SessionConfiguration.init(row:))
    }

    func update(_ session: SessionID, _ configuration: SessionConfiguration) throws(Failure) {
        try connection.run(Self.update, NewRow.values(.id(session)) { configuration.write(to: &$0) })
    }

    func resourceTimeout(of session: SessionID) throws(Failure) -> Int64? {
        try connection.first(Self.selectTimeout, .id(session)) { row throws(Failure) in row.integer() }
    }

    /// Returns the limit of the session's history and the number of tasks in it. The limit is nil if the session keeps
    /// no history.
    func history(of session: SessionID) throws(Failure) -> (limit: Int64?, count: Int64)? {
        try connection.first(Self.selectHistory, .id(session), read: Self.history)
    }

    // MARK: Counts

    /// Counts enqueued tasks. Opens the round if it is not open.
    func count(enqueued: Int64, in session: SessionID, round: UInt64) throws(Failure) {
        try connection.run(Self.countEnqueued, .id(session), .integer(enqueued), .bits(round))
    }

    func count(ended: Int64, events: Int64, newest: EventID, in session: SessionID) throws(Failure) {
        try connection.run(Self.countEnded, .id(session), .integer(ended), .integer(events), .id(newest))
    }

    /// Counts tasks that were set aside. `aside` is negative if the tasks have ended or were resumed.
    func count(aside: Int64, in session: SessionID) throws(Failure) {
        try connection.run(Self.countAside, .id(session), .integer(aside))
    }

    func countEvent(_ newest: EventID, in session: SessionID) throws(Failure) {
        try connection.run(Self.countEvent, .id(session), .id(newest))
    }

    func closeRound(of session: SessionID, newest: EventID) throws(Failure) {
        try connection.run(Self.closeRound, .id(session), .id(newest))
    }

    func subtract(events: Int64, in session: SessionID) throws(Failure) {
        try connection.run(Self.subtractEvents, .id(session), .integer(events))
    }

    func subtract(events: Int64, history: Int64, in session: SessionID) throws(Failure) {
        try connection.run(Self.subtractAcknowledged, .id(session), .integer(events), .integer(history))
    }

    func setHistoryCount(_ count: Int64, of session: SessionID) throws(Failure) {
        try connection.run(Self.setHistoryCount, .id(session), .integer(count))
    }

    // MARK: Removing

    func invalidate(_ session: SessionID) throws(Failure) { try connection.run(Self.invalidate, .id(session)) }

    /// Returns whether the session is being invalidated, and has no unfinished tasks and no unacknowledged events.
    func isFinished(_ session: SessionID) throws(Failure) -> Bool {
        try connection.first(Self.isFinished, .id(session)) { row throws(Failure) in row.flag() } ?? false
    }

    func remove(_ session: SessionID) throws(Failure) { try connection.run(Self.remove, .id(session)) }

    // MARK: Listing

    /// Returns up to `limit` of the application's sessions with identifiers greater than `after`, sorted by identifier.
    func infos(of application: String, after: String, limit: Int) throws(Failure) -> [SessionInfo] {
        try connection.all(
            Self.selectInfos, .text(application), .text(after), .number(limit), read: SessionInfo.init(row:))
    }

    func info(of session: SessionID) throws(Failure) -> (application: String, info: SessionInfo)? {
        try connection.first(Self.selectInfo, .id(session), read: Self.info)
    }

    /// Returns the applications that have sessions. `runningTasks`, `hosts` and `hasLaunchCommand` are not filled in.
    func applications() throws(Failure) -> [ApplicationInfo] {
        try connection.all(Self.selectApplications, read: ApplicationInfo.init(row:))
    }

    // MARK: Launches

    /// Returns the sessions that are recorded for the application's launch, sorted by identifier.
    func launched(of application: String) throws(Failure) -> [SessionInfo] {
        try connection.all(Self.selectLaunched, .text(application), read: SessionInfo.init(row:))
    }

    /// Returns the application's sessions that need their host, sorted by identifier.
    func needingHost(of application: String) throws(Failure) -> [WaitingSession] {
        try connection.all(Self.selectNeedingHost, .text(application), read: WaitingSession.init(row:))
    }

    /// Returns the application's sessions that need their host. `isRepeated` is true if a session needs its host only
    /// because servers rejected earlier credentials of the host and demand new ones.
    func toLaunch(of application: String) throws(Failure) -> [(session: SessionID, isRepeated: Bool)] {
        try connection.all(Self.selectToLaunch, .text(application), read: Self.toLaunch)
    }

    /// Whether a launch for the session would be repeated (see `LaunchTable.list`). Returns nil if the session does not
    /// need its host.
    func isRepeated(_ session: SessionID, of application: String) throws(Failure) -> Bool? {
        try connection.first(Self.selectOneToLaunch, .text(application), .id(session), read: Self.toLaunch)?.isRepeated
    }

    // MARK: -

    /// The SQL condition that session ?1 exists and keeps its cookies.
    static let keepsCookies =
        "EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND cookies = \(CookiePolicy.persistent.sql))"

    /// The SQL value for a row of `tasks`: the resource time-out of the task's session.
    static let resourceTimeoutOfTask =
        "(SELECT rules_resource_timeout_ms FROM sessions WHERE sessions.id = tasks.session_id)"
    /// The SQL value of the longest retry delay of session ?1.
    static let longestRetryDelay = "(SELECT retry_longest_delay_ms FROM sessions WHERE sessions.id = ?1)"

    private static func active(
        _ row: inout Row
    ) throws(Failure) -> (id: SessionID, application: String, configuration: SessionConfiguration) {
        (row.sessionID("id"), row.text("application"), try SessionConfiguration(row: &row))
    }

    private static func needingAttention(
        _ row: inout Row
    ) -> (identifier: String, session: SessionID, newestEvent: EventID) {
        (row.text("identifier"), row.sessionID("id"), row.eventID("newest_event"))
    }

    private static func history(_ row: inout Row) -> (limit: Int64?, count: Int64) {
        (row.optionalInteger("history_limit"), row.integer("history_count"))
    }

    private static func info(_ row: inout Row) -> (application: String, info: SessionInfo) {
        (row.text("application"), SessionInfo(row: &row))
    }

    private static func toLaunch(_ row: inout Row) -> (session: SessionID, isRepeated: Bool) {
        (row.sessionID("id"), row.flag(onlyRepeated))
    }

    private static let insert = Query("INSERT INTO sessions") {
        write(SessionConfiguration(identifier: ""), of: "", nil, 0, &$0)
    }
    private static let assignments = NewRow.names { SessionConfiguration(identifier: "").write(to: &$0) }
        .enumerated().map { "\($1) = ?\($0 + 2)" }.joined(separator: ", ")
    private static let update = Query("UPDATE sessions SET \(assignments) WHERE id = ?1")
    private static let selectByIdentifier = Query(
        OpenedSession.init(row:), "FROM sessions WHERE application = ? AND identifier = ?")
    private static let selectCreated = Query(
        "SELECT 1 FROM sessions WHERE id = ? AND creator_high = ? AND creator_low = ? AND creator_handle = ?")
    private static let selectNames = Query(SessionNames.init(row:), "FROM sessions WHERE id = ?")
    private static let selectRound = Query(SessionRound.init(row:), "FROM sessions WHERE id = ?")
    private static let selectLive = Query(LiveTasks.init(row:), "FROM sessions WHERE id = ?")
    private static let selectConfiguration = Query(SessionConfiguration.init(row:), "FROM sessions WHERE id = ?")
    private static let selectActive = Query(
        active,
        "FROM sessions WHERE live_tasks > 0 OR events_waiting > 0 OR \(ActivityTable.isInSession) ORDER BY id")
    private static let selectNeedingAttention = Query(
        needingAttention,
        """
        FROM sessions WHERE application = ? AND (events_waiting > 0 OR \(ChallengeTable.countInSession) > 0)
        ORDER BY identifier
        """)
    // The statement searches one session after the other for a task that can start. So SQLite can use an index on
    // `tasks` whose first column is the session.
    private static let sumCounters = Query(SessionCounters.init(row:), "FROM sessions")
    private static let selectIDsWithEvents = Query("SELECT id FROM sessions WHERE events_waiting > 0")
    private static let anyStarts = Query("SELECT EXISTS (SELECT 1 FROM sessions WHERE \(TaskTable.startsInSession))")
    private static let selectTimeout = Query("SELECT rules_resource_timeout_ms FROM sessions WHERE id = ?")
    private static let selectHistory = Query(history, "FROM sessions WHERE id = ?")
    private static let countEnqueued = Query(
        "UPDATE sessions SET live_tasks = live_tasks + ?2, round = ?3, round_open = 1 WHERE id = ?1")
    private static let countEnded = Query(
        """
        UPDATE sessions SET live_tasks = live_tasks - ?2, events_waiting = events_waiting + ?3, newest_event = ?4
        WHERE id = ?1
        """)
    private static let countAside = Query("UPDATE sessions SET aside_tasks = aside_tasks + ?2 WHERE id = ?1")
    private static let countEvent = Query(
        "UPDATE sessions SET events_waiting = events_waiting + 1, newest_event = ?2 WHERE id = ?1")
    private static let closeRound = Query(
        "UPDATE sessions SET round_open = 0, events_waiting = events_waiting + 1, newest_event = ?2 WHERE id = ?1")
    private static let subtractEvents = Query(
        "UPDATE sessions SET events_waiting = events_waiting - ?2 WHERE id = ?1")
    private static let subtractAcknowledged = Query(
        "UPDATE sessions SET events_waiting = events_waiting - ?2, history_count = ?3 WHERE id = ?1")
    private static let setHistoryCount = Query("UPDATE sessions SET history_count = ?2 WHERE id = ?1")
    private static let invalidate = Query("UPDATE sessions SET invalidating = 1 WHERE id = ?")
    private static let isFinished = Query(
        "SELECT 1 FROM sessions WHERE id = ? AND invalidating = 1 AND live_tasks = 0 AND events_waiting = 0")
    private static let remove = Query("DELETE FROM sessions WHERE id = ?")

    private static let withConsumer = """
        FROM sessions LEFT JOIN consumers ON consumers.session_id = sessions.id
            LEFT JOIN clients ON clients.id = client_id
        """
    private static let selectInfos = Query(
        SessionInfo.init(row:),
        "\(withConsumer) WHERE application = ? AND identifier > ? ORDER BY identifier LIMIT ?")
    private static let selectInfo = Query(info, "\(withConsumer) WHERE sessions.id = ?")
    private static let selectApplications = Query(ApplicationInfo.init(row:), "FROM sessions GROUP BY application")
    private static let selectLaunched = Query(
        SessionInfo.init(row:),
        "\(withConsumer) WHERE application = ? AND \(LaunchTable.listsSession) ORDER BY identifier")
    private static let needsHost = """
        sessions.application = ?1 AND sends_launch_events = 1 AND (\(EventTable.hasFinishedRound)
            OR \(EventTable.hasActivity) OR \(ChallengeTable.isUnseenInSession))
        """
    private static let onlyRepeated = """
        NOT \(EventTable.hasFinishedRound) AND NOT \(EventTable.hasActivity)
            AND NOT \(ChallengeTable.isNewInSession)
        """
    private static let selectNeedingHost = Query(
        WaitingSession.init(row:), "\(withConsumer) WHERE \(needsHost) ORDER BY identifier")
    private static let selectToLaunch = Query(toLaunch, "FROM sessions WHERE \(needsHost)")
    private static let selectOneToLaunch = Query(toLaunch, "FROM sessions WHERE \(needsHost) AND sessions.id = ?2")
}

/// The names of a session, and the part of its state that a `Change` needs.
struct SessionNames {
    let application: String
    let identifier: String
    let newestEvent: EventID
    let isRoundOpen: Bool

    fileprivate init(row: inout Row) {
        application = row.text("application")
        identifier = row.text("identifier")
        newestEvent = row.eventID("newest_event")
        isRoundOpen = row.flag("round_open")
    }
}

/// The unfinished tasks of a session's round. Tasks that were set aside do not count.
struct LiveTasks {
    let count: Int64
    let round: UInt64
    let isRoundOpen: Bool

    fileprivate init(row: inout Row) {
        count = row.integer("live_tasks - aside_tasks")
        round = row.bits("round")
        isRoundOpen = row.flag("round_open")
    }
}

struct SessionRound {
    let identifier: String
    let number: UInt64
    let isOpen: Bool
    let isInvalidating: Bool
    /// The round of a task that is added.
    var next: UInt64 { isOpen ? number : number &+ 1 }

    fileprivate init(row: inout Row) {
        identifier = row.text("identifier")
        number = row.bits("round")
        isOpen = row.flag("round_open")
        isInvalidating = row.flag("invalidating")
    }
}

extension OpenedSession {
    fileprivate init(row: inout Row) throws(Failure) {
        self.init(
            id: row.sessionID("id"), isNew: false, configuration: try SessionConfiguration(row: &row),
            newestEvent: row.eventID("newest_event"), unacknowledged: row.number("events_waiting"),
            isInvalidating: row.flag("invalidating"))
    }
}

extension SessionInfo {
    fileprivate init(row: inout Row) {
        self.init(
            identifier: row.text("identifier"), round: row.number("round"), liveTasks: row.number("live_tasks"),
            events: row.number("events_waiting"), hasFinishedRound: row.flag(EventTable.hasFinishedRound),
            isInvalidating: row.flag("invalidating"), consumer: 0, createdMilliseconds: row.integer("created_ms"),
            newestEvent: row.eventID("newest_event"))
        openChallenges = row.number(ChallengeTable.countInSession)
        hasActivity = row.flag(EventTable.hasActivity)
        consumer = row.livingProcess().map { Int64($0.processID) } ?? 0
    }
}

extension WaitingSession {
    fileprivate init(row: inout Row) {
        self.init(
            identifier: row.text("identifier"), launchIfStoppedMilliseconds: row.number("launch_if_stopped_ms"),
            consumer: nil, isLaunched: row.flag(LaunchTable.listsSession))
        consumer = row.livingProcess()
    }
}

extension SessionConfiguration {
    fileprivate init(row: inout Row) throws(Failure) {
        self.init(identifier: row.text("identifier"))
        try visitFields(with: &row)
    }

    /// Writes all fields except the identifier, which does not change.
    fileprivate func write(to row: inout NewRow) {
        var configuration = self
        configuration.visitFields(with: &row)
    }
}

extension SessionCounters {
    fileprivate init(row: inout Row) {
        self.init()
        sessions = row.number("count(*)")
        liveTasks = row.number("sum(live_tasks)")
        events = row.number("sum(events_waiting)")
    }
}

extension ApplicationInfo {
    fileprivate init(row: inout Row) {
        self.init(identifier: row.text("application"))
        sessions = row.number("count(*)")
        liveTasks = row.number("sum(live_tasks)")
        events = row.number("sum(events_waiting)")
    }
}
