import Glibc

/// A date and a time of day in the time zone of the process.
struct LocalTime: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// - Parameter milliseconds: Milliseconds since 1970.
    init(milliseconds: Int64) {
        var seconds = time_t(milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000)
        var fields = tm()
        // localtime_r may ignore a change of the variable TZ. So tzset reads the variable first.
        tzset()
        localtime_r(&seconds, &fields)
        self.init(fields)
    }

    private init(_ fields: tm) {
        self.init(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec))
    }

    /// Returns the milliseconds since 1970, or nil if the date or the time does not exist. A time that is skipped when
    /// daylight saving begins counts as the time one hour later.
    /// - Parameter zone: The time zone, in seconds east of Greenwich. Nil means local time.
    func milliseconds(zone: Int? = nil) -> Int64? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        var fields = tm()
        fields.tm_year = Int32(year - 1900)
        fields.tm_mon = Int32(month - 1)
        fields.tm_mday = Int32(day)
        fields.tm_hour = Int32(hour)
        fields.tm_min = Int32(minute)
        fields.tm_sec = Int32(second)
        // A negative value lets mktime find out whether daylight saving applies.
        fields.tm_isdst = -1
        let seconds: Int
        if let zone { seconds = Int(timegm(&fields)) - zone } else { seconds = Int(mktime(&fields)) }
        // If the date does not exist, such as 30 February, mktime sets the fields to another date.
        guard Int(fields.tm_mday) == day, Int(fields.tm_mon) + 1 == month, seconds > 0 else { return nil }
        return Int64(seconds) * 1000
    }

    /// Returns the same time of day, `days` days later.
    func adding(days: Int) -> LocalTime {
        var fields = tm()
        fields.tm_year = Int32(year - 1900)
        fields.tm_mon = Int32(month - 1)
        fields.tm_mday = Int32(day + days)
        // The calculation uses noon, so that a change to or from daylight saving does not change the date.
        fields.tm_hour = 12
        fields.tm_isdst = -1
        _ = mktime(&fields)
        var later = LocalTime(fields)
        (later.hour, later.minute, later.second) = (hour, minute, second)
        return later
    }

    func isSameDay(as other: LocalTime) -> Bool {
        year == other.year && month == other.month && day == other.day
    }
}
