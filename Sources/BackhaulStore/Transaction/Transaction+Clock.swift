public import BackhaulModel

/// The calendar by which the times of the rows were taken.
extension Transaction {
    /// Looks whether the calendar has jumped since the last time, and moves the times of live tasks along, so that
    /// their ages stay. Returns the distance in milliseconds.
    @discardableResult
    public func adopt(_ now: ClockReading) throws(Failure) -> Int64 {
        let former = try connection.first(Self.selectClock) { row throws(Failure) in row.text() }
        let jump = former.flatMap(ClockReading.init(text:)).map { CalendarJump.between($0, now) } ?? 0
        if jump != 0 {
            try connection.run(Self.moveTasks, .integer(jump))
            try connection.run(Self.moveDelays, .integer(jump))
            try connection.run(Self.moveWaits, .integer(jump))
            try moveActivities(by: jump, now: now.wall)
        }
        try rescheduleStarts(now, all: jump != 0)
        try connection.run(Self.writeClock, .text(now.text))
        return jump
    }

    private static let selectClock = Query("SELECT value FROM meta WHERE key = 'clock'")
    private static let writeClock = Query("INSERT OR REPLACE INTO meta (key, value) VALUES ('clock', ?)")
    private static let moveTasks = Query(
        """
        UPDATE tasks SET enqueued_ms = enqueued_ms + ?1, suspended_since_ms = suspended_since_ms + ?1,
            own_end_ms = own_end_ms + ?1
        WHERE state <= 3
        """)
    private static let moveDelays = Query(
        "UPDATE request_options SET start_delayed_ms = start_delayed_ms + ? WHERE start_delayed_ms IS NOT NULL")
    // So that they stay within the lives of the tasks that have waited.
    private static let moveWaits = Query(
        """
        UPDATE waits SET began_ms = began_ms + ?1, ended_ms = ended_ms + ?1
        WHERE session_id IN (SELECT id FROM sessions WHERE live_tasks > 0)
        """)

    /// When the resource time-out of a row of `tasks` that is not suspended is over, by the calendar of its ages.
    static let endOfTime = """
        (enqueued_ms + suspended_ms + ifnull(
            (SELECT resource_timeout_ms FROM request_options WHERE request_options.task_id = tasks.id),
            (SELECT resource_timeout_ms FROM sessions WHERE sessions.id = tasks.session_id)))
        """
}

extension ClockReading {
    fileprivate var text: String { "\(wall) \(boot) \(bootID)" }

    fileprivate init?(text: String) {
        let fields = text.split(separator: " ")
        guard fields.count == 3, let wall = Int64(fields[0]), let boot = Int64(fields[1]) else { return nil }
        self.init(wall: wall, boot: boot, bootID: String(fields[2]))
    }
}
