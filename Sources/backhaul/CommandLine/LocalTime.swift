import Glibc

/// A time as a clock on the wall and a calendar beside it show it, in the time zone of the process.
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

    /// - Parameter milliseconds: Since 1970.
    init(milliseconds: Int64) {
        var seconds = time_t(milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000)
        var fields = tm()
        // A zone that the environment names is looked up by this call alone, not by localtime_r.
        tzset()
        localtime_r(&seconds, &fields)
        self.init(fields)
    }

    private init(_ fields: tm) {
        self.init(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec))
    }

    /// Milliseconds since 1970; nil when the calendar has no such day or the day no such time. An hour that daylight
    /// saving leaves out is the one after it.
    /// - Parameter zone: Seconds east of Greenwich; nil: local time.
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
        // Whether that is summer time is for the zone to say.
        fields.tm_isdst = -1
        let seconds: Int
        if let zone { seconds = Int(timegm(&fields)) - zone } else { seconds = Int(mktime(&fields)) }
        // The 30th of February has become the 2nd of March.
        guard Int(fields.tm_mday) == day, Int(fields.tm_mon) + 1 == month, seconds > 0 else { return nil }
        return Int64(seconds) * 1000
    }

    /// The same time of the day, so many days later.
    func adding(days: Int) -> LocalTime {
        var fields = tm()
        fields.tm_year = Int32(year - 1900)
        fields.tm_mon = Int32(month - 1)
        fields.tm_mday = Int32(day + days)
        // At noon, so that no change of the clock makes it another day.
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
