internal import BackhaulModel

/// The table `events` has a row for each message to a host. But the content of an event about a task is in the task's
/// rows, which exist until the event is acknowledged.
struct EventTable {
    let connection: Connection

    enum Kind: Int32 {
        case taskEnded = 1
        case sessionFinished = 2
        case challenge = 3
        case groupFinished = 4
        case activity = 5
    }

    // MARK: Making

    func insertEnded(
        _ task: TaskID, as state: TaskState, in session: SessionID, round: UInt64, now: Int64
    ) throws(Failure) -> EventID {
        try connection.run(
            Self.insertEnded, .id(session), .id(task), .number(state.rawValue), .bits(round), .integer(now))
        return newest
    }

    /// Inserts one event for each task in the temporary table `selected`, in the order of the task ids. Returns the id
    /// of the newest event.
    func insertEndedOfSelected(now: Int64) throws(Failure) -> EventID {
        try connection.run(Self.insertEndedOfSelected, .integer(now))
        return newest
    }

    func insertFinished(_ session: SessionID, round: UInt64, now: Int64) throws(Failure) -> EventID {
        try connection.run(Self.insertFinished, .id(session), .bits(round), .integer(now))
        return newest
    }

    func insertFinished(
        _ group: FinishedGroup, in session: SessionID, round: UInt64, now: Int64
    ) throws(Failure) -> EventID {
        try connection.run(
            Self.insertGroupFinished, .id(session), .bits(round), .integer(now), .text(group.name),
            .bits(group.succeeded), .bits(group.failed), .bits(group.cancelled))
        return newest
    }

    func insertChallenge(
        _ challenge: ChallengeID, in session: SessionID, round: UInt64, now: Int64
    ) throws(Failure) -> EventID {
        try connection.run(Self.insertChallenge, .id(session), .id(challenge), .bits(round), .integer(now))
        return newest
    }

    func insertActivity(
        _ identifier: String, in session: SessionID, round: UInt64, now: Int64
    ) throws(Failure) -> EventID {
        try connection.run(Self.insertActivity, .id(session), .bits(round), .integer(now), .text(identifier))
        return newest
    }

    private var newest: EventID { EventID(rawValue: UInt64(clamping: connection.lastInsertedRow)) }

    // MARK: Reading

    /// Returns the number of the session's tasks that ended in this state, and whose event is not acknowledged.
    func countEnds(as state: TaskState, in session: SessionID) throws(Failure) -> UInt64 {
        try connection.first(Self.countEnded, .id(session), .number(state.rawValue)) { row throws(Failure) in
            row.number()
        } ?? 0
    }

    /// Returns the time of the oldest event in Unix milliseconds; nil if there is no event.
    func oldestTime() throws(Failure) -> Int64? {
        try connection.first(Self.selectOldest) { row throws(Failure) in row.integer() }
    }

    /// Calls the body for the events with ids greater than `after`, sorted by id, until the body returns false. The
    /// body also gets the id of the event's challenge, because the event does not contain the challenge yet.
    func each(
        of session: SessionID, after: EventID, limit: Int, _ files: StoreDirectory,
        body: (Event, ChallengeID?) -> Bool
    ) throws(Failure) {
        try connection.eachWhile(Self.select, .id(session), .id(after), .number(limit)) { row throws(Failure) in
            let (event, challenge) = try row.event(files)
            return body(event, challenge)
        }
    }

    func count(of session: SessionID, through id: EventID) throws(Failure) -> UInt64 {
        try connection.first(Self.countThrough, .id(session), .id(id)) { row throws(Failure) in row.number() } ?? 0
    }

    func hasActivity(_ identifier: String, of session: SessionID) throws(Failure) -> Bool {
        try connection.first(Self.hasOneActivity, .id(session), .text(identifier)) { row throws(Failure) in
            row.flag()
        } ?? false
    }

    // MARK: Selected events

    /// Returns the tasks whose event is in the temporary table `selected`, and whose downloaded file is still in the
    /// store (an unclaimed kept file).
    func unclaimedTasksOfSelected() throws(Failure) -> [TaskID] {
        try connection.all(Self.selectUnclaimed) { row throws(Failure) in row.taskID() }
    }

    /// Returns the number of selected events that report the end of a task.
    func endCountOfSelected() throws(Failure) -> Int64 {
        try connection.first(Self.countEnds) { row throws(Failure) in row.integer() } ?? 0
    }

    /// Returns the lanes and the groups of the tasks of the selected events.
    func placesOfSelected() throws(Failure) -> (lanes: Set<LaneID>, groups: Set<GroupID>) {
        var (lanes, groups): (Set<LaneID>, Set<GroupID>) = ([], [])
        try connection.each(Self.selectPlaces) { row throws(Failure) in
            let (lane, group) = Self.place(&row)
            lanes.insert(lane)
            if let group { groups.insert(group) }
        }
        return (lanes, groups)
    }

    /// Removes the selected events.
    func removeSelected() throws(Failure) { try connection.run(Self.removeSelected) }

    /// Removes the events about the end of a round, and returns their number.
    func removeFinished(_ session: SessionID) throws(Failure) -> Int64 {
        try connection.run(Self.removeFinished, .id(session))
        return connection.changes
    }

    /// Removes the events of the challenge, and returns their number.
    func remove(_ challenge: ChallengeID) throws(Failure) -> Int64 {
        try connection.run(Self.removeChallenge, .id(challenge))
        return connection.changes
    }

    // MARK: -

    // These are SQL conditions for a row of `sessions`.
    static let hasFinishedRound = """
        EXISTS (SELECT 1 FROM events
            WHERE events.session_id = sessions.id AND events.kind = \(Kind.sessionFinished.sql))
        """
    static let hasActivity = """
        EXISTS (SELECT 1 FROM events WHERE events.session_id = sessions.id AND events.kind = \(Kind.activity.sql))
        """
    /// The SQL condition for a row of `challenges` of session ?1: the challenge has an event.
    static let isOfChallenge = """
        EXISTS (SELECT 1 FROM events WHERE events.session_id = ?1 AND events.challenge_id = challenges.id)
        """
    /// The SQL value of the last round that has ended according to the selected events: an event of a later round shows
    /// it, too, because the event about the end may have been withdrawn.
    static let lastSelectedRound = """
        (SELECT max(CASE kind WHEN \(Kind.sessionFinished.sql) THEN round ELSE round - 1 END)
            FROM selected CROSS JOIN events ON events.id = selected.id)
        """

    private static let insertEnded = Query(
        """
        INSERT INTO events (session_id, task_id, task_state, kind, round, time_ms)
        VALUES (?, ?, ?, \(Kind.taskEnded.sql), ?, ?)
        """)
    private static let insertEndedOfSelected = Query(
        """
        INSERT INTO events (session_id, task_id, task_state, kind, round, time_ms)
        SELECT session_id, tasks.id, state, \(Kind.taskEnded.sql), round, ?
        FROM selected CROSS JOIN tasks ON tasks.id = selected.id ORDER BY selected.id
        """)
    private static let insertFinished = Query(
        """
        INSERT INTO events (session_id, kind, round, time_ms)
        VALUES (?, \(Kind.sessionFinished.sql), ?, ?)
        """)
    private static let insertGroupFinished = Query(
        """
        INSERT INTO events (session_id, kind, round, time_ms, group_name, succeeded, failed, cancelled)
        VALUES (?, \(Kind.groupFinished.sql), ?, ?, ?, ?, ?, ?)
        """)
    private static let insertChallenge = Query(
        """
        INSERT INTO events (session_id, challenge_id, kind, round, time_ms)
        VALUES (?, ?, \(Kind.challenge.sql), ?, ?)
        """)
    private static let insertActivity = Query(
        "INSERT INTO events (session_id, kind, round, time_ms, activity) VALUES (?, \(Kind.activity.sql), ?, ?, ?)")
    private static let select = Query(
        { (row) throws(Failure) in try row.event(nil) },
        """
        FROM events LEFT JOIN tasks ON tasks.id = events.task_id LEFT JOIN requests ON requests.task_id = tasks.id
            LEFT JOIN responses ON responses.task_id = tasks.id LEFT JOIN groups ON groups.id = tasks.group_id
        WHERE events.session_id = ? AND events.id > ? ORDER BY events.id LIMIT ?
        """)
    private static let countEnded = Query(
        "SELECT count(*) FROM events WHERE session_id = ? AND task_state = ? AND task_id IS NOT NULL")
    private static let selectOldest = Query("SELECT time_ms FROM events WHERE id = (SELECT min(id) FROM events)")
    private static let countThrough = Query("SELECT count(*) FROM events WHERE session_id = ? AND id <= ?")
    private static let hasOneActivity = Query(
        """
        SELECT EXISTS (SELECT 1 FROM events
            WHERE session_id = ? AND kind = \(Kind.activity.sql) AND activity = ?)
        """)
    // CROSS JOIN makes SQLite begin with the table `selected`, which has few rows.
    private static let tasksOfSelected = """
        FROM selected CROSS JOIN events ON events.id = selected.id CROSS JOIN tasks ON tasks.id = task_id
        """
    private static let selectUnclaimed = Query(
        """
        SELECT tasks.id \(tasksOfSelected)
        WHERE state = \(TaskState.succeeded.sql) AND task_kind = \(TaskKind.download.sql) AND destination IS NULL
            AND path IS NULL
        """)
    private static let countEnds = Query("SELECT count(*) \(tasksOfSelected)")
    private static let selectPlaces = Query(
        "SELECT DISTINCT \(Row.columns(place).joined(separator: ", ")) \(tasksOfSelected)")
    private static let removeSelected = Query("DELETE FROM events WHERE id IN selected")
    private static let removeFinished = Query(
        "DELETE FROM events WHERE session_id = ? AND kind = \(Kind.sessionFinished.sql)")
    private static let removeChallenge = Query("DELETE FROM events WHERE challenge_id = ?")

    private static func place(_ row: inout Row) -> (lane: LaneID, group: GroupID?) {
        (row.laneID("lane_id"), row.optionalGroupID("group_id"))
    }
}

extension Row {
    fileprivate mutating func event(_ files: StoreDirectory?) throws(Failure) -> (Event, ChallengeID?) {
        let id = eventID("events.id")
        let round = bits("events.round")
        let time = integer("time_ms")
        let kind = EventTable.Kind(rawValue: number("events.kind"))
        let challenge: UInt64? = optionalNumber("events.challenge_id")
        let name = text("ifnull(group_name, activity)")
        let group = FinishedGroup(
            name: name, succeeded: bits("events.succeeded"), failed: bits("events.failed"),
            cancelled: bits("events.cancelled"))
        var task = EndedTask(
            id: taskID("tasks.id"), url: text("url"), idempotencyKey: optionalText("idempotency_key"),
            userData: optionalBlob("user_data"), outcome: Outcome(state: .cancelled),
            kind: TaskKind(rawValue: number("task_kind")) ?? .download, group: optionalText("groups.name"))
        let state = state("state")
        let destination = optionalText("destination")
        let attempts: UInt32 = number("attempts")
        let received = bits("bytes_received")
        task.outcome = try outcome(
            of: task.id, state: state, destination: destination, attempts: attempts, bytesReceived: received, files)
        let content: Event.Kind =
            switch kind {
            case .taskEnded: .taskEnded(task)
            case .challenge: .challenge(nil)
            case .groupFinished: .groupFinished(group)
            case .activity: .activity(name)
            case .sessionFinished, nil: .sessionFinished
            }
        return (
            Event(id: id, round: round, timeMilliseconds: time, kind: content),
            kind == .challenge ? challenge.map(ChallengeID.init) : nil
        )
    }
}
