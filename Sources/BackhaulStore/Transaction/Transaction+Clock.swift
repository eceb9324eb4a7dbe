public import BackhaulModel

/// The calendar by which the times of the rows were taken.
extension Transaction {
    /// Looks whether the calendar has jumped since the last time, and moves the times of live tasks along, so that
    /// their ages stay. Returns the distance in milliseconds.
    @discardableResult
    public func adopt(_ now: ClockReading) throws(Failure) -> Int64 {
        let former = try connection.first(Self.selectClock) { row throws(Failure) in row.text() }
        let jump = former.flatMap(ClockReading.init(text:)).map { CalendarJump.between($0, now) } ?? 0
        if jump != 0 { try connection.run(Self.moveTasks, .integer(jump)) }
        try connection.run(Self.writeClock, .text(now.text))
        return jump
    }

    private static let selectClock = Query("SELECT value FROM meta WHERE key = 'clock'")
    private static let writeClock = Query("INSERT OR REPLACE INTO meta (key, value) VALUES ('clock', ?)")
    private static let moveTasks = Query("UPDATE tasks SET enqueued_ms = enqueued_ms + ? WHERE state <= 3")
}

extension ClockReading {
    fileprivate var text: String { "\(wall) \(boot) \(bootID)" }

    fileprivate init?(text: String) {
        let fields = text.split(separator: " ")
        guard fields.count == 3, let wall = Int64(fields[0]), let boot = Int64(fields[1]) else { return nil }
        self.init(wall: wall, boot: boot, bootID: String(fields[2]))
    }
}
