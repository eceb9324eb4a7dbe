internal import BackhaulModel

/// The table `challenges` has the open challenges.
struct ChallengeTable {
    let connection: Connection

    func find(_ space: ProtectionSpace, in session: SessionID) throws(Failure) -> ChallengeID? {
        try connection.first(
            Self.selectBySpace, .id(session), .number(space.kind.rawValue), .text(space.origin),
            .flag(space.storedRealm != nil), .text(space.storedRealm ?? "")
        ) { row throws(Failure) in row.challengeID() }
    }

    func insert(
        _ authChallenge: AuthenticationChallenge, failures: UInt32, in session: SessionID, now: Int64
    ) throws(Failure) -> ChallengeID {
        let space = authChallenge.space
        try connection.run(
            Self.insert, .id(session), .number(space.kind.rawValue), .text(space.origin),
            .flag(space.storedRealm != nil), .text(space.storedRealm ?? ""), .number(authChallenge.schemes.rawValue),
            .number(failures), .integer(now), space.task.map(Value.id) ?? .null)
        return ChallengeID(rawValue: UInt64(clamping: connection.lastInsertedRow))
    }

    func all(of session: SessionID) throws(Failure) -> [Challenge] {
        try connection.all(Self.selectOfSession, .id(session), read: Challenge.init(row:))
    }

    func find(_ id: ChallengeID) throws(Failure) -> Challenge? {
        try connection.first(Self.select, .id(id), read: Challenge.init(row:))
    }

    func find(_ id: ChallengeID, in session: SessionID) throws(Failure) -> Challenge? {
        try connection.first(Self.selectInSession, .id(id), .id(session), read: Challenge.init(row:))
    }

    /// Returns the challenges of all sessions, sorted by id. The returned challenges have no number of waiting tasks
    /// and no URL.
    func all() throws(Failure) -> [(session: SessionID, challenge: Challenge)] {
        try connection.all(Self.selectAll, read: Self.ofSession)
    }

    func exists(_ id: ChallengeID) throws(Failure) -> Bool {
        try connection.first(Self.exists, .id(id)) { row throws(Failure) in row.flag() } ?? false
    }

    /// Whether the challenge is open and no task waits for it.
    func isUnused(_ id: ChallengeID) throws(Failure) -> Bool {
        try connection.first(Self.isUnused, .id(id)) { row throws(Failure) in row.flag() } ?? false
    }

    func remove(_ id: ChallengeID) throws(Failure) { try connection.run(Self.remove, .id(id)) }

    /// Marks the session's challenges as seen if their events do not exist any more. The engine calls this function
    /// when the host completes the session (`bh_session_complete`). Before this call, the host must acknowledge all
    /// delivered events, and acknowledged events are deleted. So if the event of a challenge still exists, the event
    /// was not delivered to the host.
    func markSeen(of session: SessionID) throws(Failure) { try connection.run(Self.markSeen, .id(session)) }

    // MARK: -

    // These are SQL expressions for a row of `sessions`.
    static let isUnseenInSession =
        "EXISTS (SELECT 1 FROM challenges WHERE challenges.session_id = sessions.id AND is_seen = 0)"
    static let isNewInSession =
        "EXISTS (SELECT 1 FROM challenges WHERE challenges.session_id = sessions.id AND is_seen = 0 AND failures = 0)"
    static let countInSession = "(SELECT count(*) FROM challenges WHERE challenges.session_id = sessions.id)"
    /// An SQL expression for a row of `tasks`. Its value is the time at which the task's challenge was opened. The task
    /// waits for this challenge, or has last waited for it.
    static let openedOfTask = "(SELECT opened_ms FROM challenges WHERE challenges.id = challenge_id)"

    private static func ofSession(_ row: inout Row) -> (session: SessionID, challenge: Challenge) {
        (row.sessionID("session_id"), Challenge(uncountedRow: &row))
    }

    private static let selectBySpace = Query(
        """
        SELECT id FROM challenges WHERE session_id = ? AND kind = ? AND origin = ? AND has_realm = ? AND realm = ?
        """)
    private static let insert = Query(
        """
        INSERT INTO challenges (session_id, kind, origin, has_realm, realm, schemes, failures, opened_ms, task_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let selectOfSession = Query(Challenge.init(row:), "FROM challenges WHERE challenges.session_id = ?")
    private static let select = Query(Challenge.init(row:), "FROM challenges WHERE challenges.id = ?")
    private static let selectInSession = Query(
        Challenge.init(row:), "FROM challenges WHERE challenges.id = ? AND challenges.session_id = ?")
    private static let selectAll = Query(ofSession, "FROM challenges ORDER BY id")
    private static let exists = Query("SELECT 1 FROM challenges WHERE id = ?")
    private static let isUnused = Query(
        "SELECT 1 FROM challenges WHERE id = ?1 AND NOT \(TaskTable.waitsForChallenge)")
    private static let remove = Query("DELETE FROM challenges WHERE id = ?")
    private static let markSeen = Query(
        "UPDATE challenges SET is_seen = 1 WHERE session_id = ?1 AND is_seen = 0 AND NOT \(EventTable.isOfChallenge)")
}

extension ProtectionSpace {
    /// The realm as it is stored. A challenge's protection space is usually a server and its realm. But the protection
    /// space of an expired URL belongs to one task, so the id of that task is stored as the realm.
    fileprivate var storedRealm: String? { task.map { String($0.rawValue) } ?? realm }
}

extension Challenge {
    fileprivate init(row: inout Row) {
        self.init(uncountedRow: &row)
        waitingTasks = row.bits(TaskTable.countOfChallenge)
        url = row.optionalText(Self.storedURL)
    }

    fileprivate init(uncountedRow row: inout Row) {
        let id = row.challengeID("challenges.id")
        let space = row.protectionSpace() ?? ProtectionSpace(kind: .server, origin: "", realm: nil)
        self.init(
            id: id, space: space, schemes: AuthenticationSchemes(rawValue: row.number("schemes")),
            failures: row.number("failures"), timeMilliseconds: row.integer("opened_ms"), waitingTasks: 0, url: nil)
    }

    private static let storedURL = """
        iif(challenges.task_id IS NULL, NULL,
            coalesce(\(RefreshTable.urlOfChallenge), \(RequestTable.urlOfChallenge)))
        """
}

extension Row {
    /// Reads a protection space. Returns nil when the columns are NULL.
    mutating func protectionSpace() -> ProtectionSpace? {
        let kind = ProtectionSpace.Kind(rawValue: number("challenges.kind"))
        let origin = optionalText("origin")
        let hasRealm = flag("has_realm")
        let realm = text("realm")
        let task: UInt64? = optionalNumber("challenges.task_id")
        guard let kind, let origin else { return nil }
        return ProtectionSpace(
            kind: kind, origin: origin, realm: hasRealm && task == nil ? realm : nil, task: task.map(TaskID.init))
    }
}
