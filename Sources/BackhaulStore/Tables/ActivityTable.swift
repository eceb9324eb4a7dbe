internal import BackhaulModel

/// The table `activities`. The rarely used fields (options) of an activity's request are in `activity_options`.
struct ActivityTable {
    let connection: Connection

    /// Writes the activity. It replaces an activity with the same identifier.
    func write(
        _ activity: Activity, origin: Origin?, constraints: ConstraintsID, times: ActivityTimes, in session: SessionID
    ) throws(Failure) {
        let values = NewRow.values {
            $0.set("session_id", .id(session))
            activity.write(origin, constraints, times, to: &$0)
        }
        try connection.run(Self.write, values)
    }

    func times(of identifier: String, in session: SessionID) throws(Failure) -> StoredTimes? {
        try connection.first(Self.selectTimes, .id(session), .text(identifier), read: StoredTimes.init(row:))
    }

    func count(of session: SessionID) throws(Failure) -> Int64 {
        try connection.first(Self.count, .id(session)) { row throws(Failure) in row.integer() } ?? 0
    }

    func hasAny() throws(Failure) -> Bool {
        try connection.first(Self.hasAny) { row throws(Failure) in row.flag() } ?? false
    }

    func find(_ id: ActivityID) throws(Failure) -> OpenActivity? {
        try connection.first(Self.select, .number(id.rawValue), read: OpenActivity.init(row:))
    }

    /// Returns the activities whose window is open, sorted by the begin of the window.
    func open(now: Int64) throws(Failure) -> [OpenActivity] {
        try connection.all(Self.selectOpen, .integer(now), read: OpenActivity.init(row:))
    }

    /// Returns when the first window after this time opens, or nil if there is none.
    func nextWindow(after now: Int64) throws(Failure) -> Int64? {
        try connection.first(Self.selectNext, .integer(now)) { row throws(Failure) in row.optionalInteger() } ?? nil
    }

    /// Returns the session's activities, sorted by identifier.
    func infos(of session: SessionID, now: Int64) throws(Failure) -> [ActivityInfo] {
        try connection.all(Self.selectInfos, .id(session), read: ActivityRow.init(row:)).map { $0.info(now: now) }
    }

    /// Returns the activity's request, or nil when it has none.
    func request(of id: ActivityID) throws(Failure) -> StoredActivityRequest? {
        try connection.first(Self.selectRequest, .number(id.rawValue), read: StoredActivityRequest.init(row:))
    }

    // MARK: Changing

    /// Sets the next window after a start. `task` is the task that the start made, if it made one.
    func advance(_ id: ActivityID, to next: Int64, started now: Int64, task: TaskID?) throws(Failure) {
        try connection.run(
            Self.advance, .number(id.rawValue), .integer(next), .integer(now), task.map { .id($0) } ?? .null)
    }

    /// Sets the next window without a start.
    func skip(_ id: ActivityID, to next: Int64) throws(Failure) {
        try connection.run(Self.skip, .number(id.rawValue), .integer(next))
    }

    /// Moves the windows of activities by `step`, in milliseconds. Changes only activities for which the host has not
    /// set when the first window begins.
    func moveWindows(by step: Int64) throws(Failure) { try connection.run(Self.moveWindows, .integer(step)) }

    /// Makes the next window of an activity open one interval after `now` at the latest. Changes only activities that
    /// have started, and for which the host has set when the first window begins.
    func boundWindows(now: Int64) throws(Failure) { try connection.run(Self.boundWindows, .integer(now)) }

    func remove(_ id: ActivityID) throws(Failure) { try connection.run(Self.remove, .number(id.rawValue)) }

    /// Removes the activity. Returns false when there is no activity with this identifier.
    func remove(_ identifier: String, of session: SessionID) throws(Failure) -> Bool {
        try connection.run(Self.removeByIdentifier, .id(session), .text(identifier))
        return connection.changes > 0
    }

    func removeAll(of session: SessionID) throws(Failure) { try connection.run(Self.removeAll, .id(session)) }

    func clearDevices() throws(Failure) { try connection.run(Self.clearDevices) }

    // MARK: -

    /// The SQL condition for a row of `sessions`: the session has activities.
    static let isInSession = "EXISTS (SELECT 1 FROM activities WHERE session_id = sessions.id)"
    /// The SQL condition for a row of `constraints`: an activity refers to the row.
    static let statesConstraints = """
        EXISTS (SELECT 1 FROM activities WHERE activities.session_id = constraints.session_id
            AND activities.constraints_id = constraints.id)
        """

    private static let columns =
        ["session_id"]
        + NewRow.names {
            let times = ActivityTimes(first: nil, next: 0)
            Activity(identifier: "", intervalMilliseconds: 0).write(nil, .session, times, to: &$0)
        }
    private static let write = Query(
        """
        INSERT INTO activities (\(columns.joined(separator: ", ")))
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (session_id, identifier) DO UPDATE SET
            \(columns.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """)
    private static let selectTimes = Query(
        StoredTimes.init(row:), "FROM activities WHERE session_id = ? AND identifier = ?")
    private static let count = Query("SELECT count(*) FROM activities WHERE session_id = ?")
    private static let hasAny = Query("SELECT EXISTS (SELECT 1 FROM activities)")
    private static let select = Query(OpenActivity.init(row:), "FROM activities WHERE id = ?")
    private static let selectOpen = Query(
        OpenActivity.init(row:), "FROM activities WHERE next_ms <= ? ORDER BY next_ms")
    private static let selectNext = Query("SELECT min(next_ms) FROM activities WHERE next_ms > ?")
    private static let selectInfos = Query(
        ActivityRow.init(row:), "FROM activities WHERE session_id = ? ORDER BY identifier")
    private static let selectRequest = Query(
        StoredActivityRequest.init(row:), "FROM activities WHERE id = ? AND url IS NOT NULL")
    private static let advance = Query(
        """
        UPDATE activities SET next_ms = ?2, last_started_ms = ?3, last_task_id = ifnull(?4, last_task_id) WHERE id = ?1
        """)
    private static let skip = Query("UPDATE activities SET next_ms = ?2 WHERE id = ?1")
    private static let moveWindows = Query("UPDATE activities SET next_ms = next_ms + ? WHERE first_ms IS NULL")
    private static let boundWindows = Query(
        """
        UPDATE activities SET next_ms = min(next_ms, ? + interval_ms)
        WHERE first_ms IS NOT NULL AND last_started_ms IS NOT NULL
        """)
    private static let remove = Query("DELETE FROM activities WHERE id = ?")
    private static let removeByIdentifier = Query("DELETE FROM activities WHERE session_id = ? AND identifier = ?")
    private static let removeAll = Query("DELETE FROM activities WHERE session_id = ?")
    private static let clearDevices = Query("UPDATE activities SET directory_device = 0 WHERE url IS NOT NULL")
}

/// When the first window and the next window of an activity begin, in Unix milliseconds. `first` is nil if the host has
/// not set it.
struct ActivityTimes {
    var first: Int64?
    var next: Int64
}

struct StoredTimes {
    let id: ActivityID
    let interval: UInt64
    let times: ActivityTimes

    fileprivate init(row: inout Row) {
        id = ActivityID(rawValue: row.number("id"))
        interval = row.bits("interval_ms")
        times = ActivityTimes(first: row.optionalInteger("first_ms"), next: row.integer("next_ms"))
    }
}

/// The stored request of an activity, without its options.
struct StoredActivityRequest {
    let origin: Origin
    let constraints: ConstraintsID
    let request: Request

    fileprivate init(row: inout Row) throws(Failure) {
        origin = Origin(row: &row)
        constraints = row.constraintsID("constraints_id")
        var request = Request(url: row.text("url"))
        request.destination = row.destination(device: "directory_device")
        request.ifExists = ExistsPolicy(rawValue: row.number("if_exists")) ?? .fail
        request.priority = row.number("priority")
        request.mode = FileMode(rawValue: row.number("mode"))
        let headers = row.optionalBlob("headers")
        request.userData = row.optionalBlob("user_data")
        request.headers = try HeaderBlob.unpack(headers)
        self.request = request
    }
}

extension Activity {
    fileprivate func write(
        _ origin: Origin?, _ constraints: ConstraintsID, _ times: ActivityTimes, to row: inout NewRow
    ) {
        row.set("identifier", .text(identifier))
        row.set("interval_ms", .bits(intervalMilliseconds))
        row.set("tolerance_ms", .bits(toleranceMilliseconds))
        row.set("repeats", .flag(repeats))
        row.set("quality_of_service", .number(qualityOfService.rawValue))
        row.set("first_ms", .optional(times.first))
        row.set("next_ms", .integer(times.next))
        row.set("url", .optional(request?.url))
        row.set("scheme", .optional(origin?.scheme))
        row.set("server", .optional(origin?.server))
        row.set("port", .optional(origin?.port))
        row.set("destination", .optional(request?.destination?.path))
        row.set("directory_device", .bits(request?.destination?.directoryDevice))
        row.set("directory_inode", .bits(request?.destination?.directoryInode))
        row.set("file_system", .optional(request?.destination?.fileSystem))
        row.set("if_exists", .number((request?.ifExists ?? .fail).rawValue))
        row.set("priority", .number(request?.priority ?? 0))
        row.set("mode", .number(request?.mode.rawValue ?? 0))
        row.set("headers", .optional(HeaderBlob.pack(request?.headers ?? [])))
        row.set("user_data", .optional(request?.userData))
        row.set("constraints_id", .id(constraints))
        row.set("has_options", .flag(request?.hasOptions ?? false))
    }
}

extension OpenActivity {
    fileprivate init(row: inout Row) {
        self.init(
            id: ActivityID(rawValue: row.number("id")), session: row.sessionID("session_id"),
            identifier: row.text("identifier"), begin: row.integer("next_ms"),
            intervalMilliseconds: row.bits("interval_ms"), toleranceMilliseconds: row.bits("tolerance_ms"),
            repeats: row.flag("repeats"),
            qualityOfService: QualityOfService(rawValue: row.number("quality_of_service")) ?? .background,
            hasRequest: row.flag("url IS NOT NULL"),
            livingTask: row.optionalNumber(TaskTable.livingOfActivity).map(TaskID.init))
    }
}

/// The values of an activity that listings show.
private struct ActivityRow {
    let open: OpenActivity
    let lastStarted: Int64?
    let lastTask: TaskID?
    let url: String?

    init(row: inout Row) {
        open = OpenActivity(row: &row)
        lastStarted = row.optionalInteger("last_started_ms")
        lastTask = row.optionalNumber("last_task_id").map(TaskID.init)
        url = row.optionalText("url")
    }

    func info(now: Int64) -> ActivityInfo {
        ActivityInfo(
            identifier: open.identifier, intervalMilliseconds: open.intervalMilliseconds,
            toleranceMilliseconds: open.toleranceMilliseconds, repeats: open.repeats,
            qualityOfService: open.qualityOfService, nextMilliseconds: open.window(now: now).begin,
            lastStartedMilliseconds: lastStarted, lastTask: lastTask, url: url)
    }
}
