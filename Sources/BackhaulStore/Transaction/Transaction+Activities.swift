public import BackhaulModel

/// Work that repeats: what hosts have set, and when it is due by the calendar on the wall.
extension Transaction {
    /// Makes the activity, or takes the place of the one with its identifier, whose next window stays unless its first
    /// time or its interval is another. Throws tooMany, invalidated, notFound. `origin`: of the request.
    public func setActivity(
        _ activity: Activity, origin: Origin?, in session: SessionID, now: Int64
    ) throws(Failure) {
        try checkTakesActivities(session)
        let before = try connection.first(Self.selectTimes, .id(session), .text(activity.identifier)) {
            row throws(Failure) in
            (id: row.integer(), first: row.optionalInteger(), interval: row.bits(), next: row.integer())
        }
        var first = activity.firstMilliseconds
        var next = ActivityWindow.first(of: activity, now: now).begin
        if let before, before.interval == activity.intervalMilliseconds, first == nil || first == before.first {
            (first, next) = (before.first, before.next)
        }
        if before == nil { try makeRoomForActivity(in: session) }
        let request = activity.request
        let stated = TaskConstraints(request?.options.policy.constraints ?? .none)
        let constraints = try constraintsID(for: stated, in: session)
        try connection.run(
            Self.write,
            [
                .id(session), .text(activity.identifier), .bits(activity.intervalMilliseconds),
                .bits(activity.toleranceMilliseconds), .flag(activity.repeats),
                .number(activity.qualityOfService.rawValue), .optional(first), .integer(next),
                .optional(request?.url), .optional(origin?.scheme), .optional(origin?.server),
                .optional(origin?.port), .optional(request?.destination?.path),
                .bits(request?.destination?.directoryDevice), .bits(request?.destination?.directoryInode),
                .number((request?.ifExists ?? .fail).rawValue), .number(request?.priority ?? 0),
                .number(request?.mode ?? 0), .optional(HeaderBlob.pack(request?.headers ?? [])),
                .optional(request?.userData), .id(constraints),
            ])
        try writeOptions(of: activity, in: session)
    }

    /// Throws notFound.
    public func removeActivity(_ identifier: String, in session: SessionID) throws(Failure) {
        try connection.run(Self.remove, .id(session), .text(identifier))
        guard connection.changes > 0 else {
            throw Failure(.notFound, "the session has no activity \(identifier)")
        }
    }

    /// By identifier.
    public func activities(_ session: SessionID, now: Int64) throws(Failure) -> [ActivityInfo] {
        try connection.all(Self.selectOfSession, .id(session)) { row throws(Failure) in
            let open = row.openActivity()
            let last = row.optionalInteger()
            let task: UInt64? = row.optionalNumber()
            return ActivityInfo(
                identifier: open.identifier, intervalMilliseconds: open.intervalMilliseconds,
                toleranceMilliseconds: open.toleranceMilliseconds, repeats: open.repeats,
                qualityOfService: open.qualityOfService, nextMilliseconds: open.window(now: now).begin,
                lastStartedMilliseconds: last, lastTask: task.map(TaskID.init), url: row.optionalText())
        }
    }

    /// Those of all sessions whose window has opened, and when the next one's does, in Unix milliseconds.
    public func openActivities(now: Int64) throws(Failure) -> (open: [OpenActivity], next: Int64?) {
        let open = try connection.all(Self.selectOpen, .integer(now)) { row throws(Failure) in row.openActivity() }
        let next = try connection.first(Self.selectNext, .integer(now)) { row throws(Failure) in row.optionalInteger() }
        return (open, next ?? nil)
    }

    public func hasActivities() throws(Failure) -> Bool {
        try connection.first(Self.selectAny) { row throws(Failure) in row.flag() } ?? false
    }

    /// The calendar has jumped. What counts from when it was set goes along; what was set for a time on the wall stays
    /// there, but a window that was computed while the calendar showed too much opens after one interval.
    func moveActivities(by jump: Int64, now: Int64) throws(Failure) {
        try connection.run(Self.move, .integer(jump))
        // A machine whose clock is not set yet will see those times again.
        guard jump < 0, now >= CalendarJump.neverSet else { return }
        try connection.run(Self.bound, .integer(now))
    }

    private func checkTakesActivities(_ session: SessionID) throws(Failure) {
        let found = try connection.first(Self.selectSession, .id(session)) { row throws(Failure) in
            (identifier: row.text(), isInvalidating: row.flag())
        }
        guard let found else { throw noSession() }
        guard !found.isInvalidating else { throw invalidated(found.identifier) }
    }

    private func makeRoomForActivity(in session: SessionID) throws(Failure) {
        let count = try connection.first(Self.count, .id(session)) { row throws(Failure) in row.integer() } ?? 0
        guard count >= Limits.activityCount else { return }
        throw Failure(.tooMany, "the session has \(count) activities; remove those that are not needed any more")
    }

    private func writeOptions(of activity: Activity, in session: SessionID) throws(Failure) {
        let id = try connection.first(Self.selectTimes, .id(session), .text(activity.identifier)) {
            row throws(Failure) in row.integer()
        }
        guard let id else { return }
        try connection.run(Self.removeOptions, .integer(id))
        guard let request = activity.request, request.hasOptions else { return }
        try insertOptions(request.options, of: id, in: .activities)
    }

    private static let selectSession = Query("SELECT identifier, invalidating FROM sessions WHERE id = ?")
    private static let selectTimes = Query(
        "SELECT id, first_ms, interval_ms, next_ms FROM activities WHERE session_id = ? AND identifier = ?")
    private static let count = Query("SELECT count(*) FROM activities WHERE session_id = ?")
    private static let names = [
        "session_id", "identifier", "interval_ms", "tolerance_ms", "repeats", "quality_of_service", "first_ms",
        "next_ms", "url", "scheme", "server", "port", "destination", "directory_device", "directory_inode",
        "if_exists", "priority", "mode", "headers", "user_data", "constraints_id",
    ]
    private static let write = Query(
        """
        INSERT INTO activities (\(names.joined(separator: ", ")))
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (session_id, identifier) DO UPDATE SET
            \(names.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """)
    private static let removeOptions = Query("DELETE FROM activity_options WHERE activity_id = ?")
    private static let remove = Query("DELETE FROM activities WHERE session_id = ? AND identifier = ?")
    static let openColumns = """
        id, session_id, identifier, next_ms, interval_ms, tolerance_ms, repeats, quality_of_service, url IS NOT NULL,
        (SELECT tasks.id FROM tasks WHERE tasks.id = last_task_id AND tasks.ended_ms IS NULL)
        """
    private static let selectOfSession = Query(
        """
        SELECT \(openColumns), last_started_ms, last_task_id, url FROM activities
        WHERE session_id = ? ORDER BY identifier
        """)
    private static let selectOpen = Query("SELECT \(openColumns) FROM activities WHERE next_ms <= ? ORDER BY next_ms")
    private static let selectNext = Query("SELECT min(next_ms) FROM activities WHERE next_ms > ?")
    private static let selectAny = Query("SELECT EXISTS (SELECT 1 FROM activities)")
    private static let move = Query("UPDATE activities SET next_ms = next_ms + ? WHERE first_ms IS NULL")
    private static let bound = Query(
        """
        UPDATE activities SET next_ms = min(next_ms, ? + interval_ms)
        WHERE first_ms IS NOT NULL AND last_started_ms IS NOT NULL
        """)
}

extension Row {
    /// `openColumns`
    mutating func openActivity() -> OpenActivity {
        OpenActivity(
            id: ActivityID(rawValue: number()), session: sessionID(), identifier: text(), begin: integer(),
            intervalMilliseconds: bits(), toleranceMilliseconds: bits(), repeats: flag(),
            qualityOfService: QualityOfService(rawValue: number()) ?? .background, hasRequest: flag(),
            livingTask: optionalNumber().map(TaskID.init))
    }
}
