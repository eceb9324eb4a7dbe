/// A local time and date, for quiet hours (hours in which transfers wait) and budgets (limits of the bytes in a day or
/// month). `IMFFixdate` uses the calendar, too.
///
/// This module has no I/O and no system calendar, so it computes dates itself. The caller knows the rules of time
/// zones, and gives the offset of local time for any Unix time. The calendar is the proleptic Gregorian calendar. The
/// algorithms are from Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
struct LocalTime {
    /// Takes a Unix time in milliseconds. Returns by how many milliseconds local time is ahead of UTC at this time.
    typealias Offset = (Int64) -> Int64

    static let minute: Int64 = 60_000
    static let day: Int64 = 86_400_000
    /// The bound of all times: 100,000 years before or after 1970. This bound prevents overflows. A clock that shows a
    /// time beyond the bound is wrong.
    private static let farthest: Int64 = 36_525_000 * day

    /// The days since 1970-01-01.
    let day: Int64
    /// The time of the day that the clock shows, in milliseconds since midnight.
    let time: Int64

    init(_ unix: Int64, _ offset: Offset) {
        let local = Self.bounded(unix) + Self.bounded(offset(unix), Self.day * 2)
        day = local >= 0 ? local / Self.day : (local + 1) / Self.day - 1
        time = local - day * Self.day
    }

    static func bounded(_ value: Int64, _ limit: Int64 = farthest) -> Int64 { min(max(value, -limit), limit) }

    /// The day of the week; 0 is Monday.
    var weekday: Int { Self.weekday(day) }
    var minuteOfDay: Int { Int(time / Self.minute) }
    /// The time of the day, such as "06:30".
    var clock: String { Self.clock(minuteOfDay) }

    static func weekday(_ day: Int64) -> Int {
        // 1970-01-01 was a Thursday.
        let remainder = Int((day + 3) % 7)
        return remainder < 0 ? remainder + 7 : remainder
    }

    static func clock(_ minute: Int) -> String {
        let (hours, minutes) = (minute / 60, minute % 60)
        return "\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
    }

    static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// The date of a day. The month and the day of the month count from 1.
    static func date(_ day: Int64) -> (year: Int64, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, Int(ofYear - (153 * shiftedMonth + 2) / 5 + 1))
    }

    /// Returns the days from 1970-01-01 to a date.
    static func day(year: Int64, month: Int, day: Int) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = Int64(month > 2 ? month - 3 : month + 9)
        let ofYear = (153 * shiftedMonth + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - 719_468
    }

    /// The Unix time at which a local day begins. It is midnight or, if the clocks skip midnight, the first moment
    /// after midnight.
    static func begin(ofDay wanted: Int64, _ offset: Offset) -> Int64 {
        let midnight = bounded(wanted, farthest / day) * day
        let guess = midnight - bounded(offset(midnight - bounded(offset(midnight), day * 2)), day * 2)
        if LocalTime(guess, offset).day >= wanted, LocalTime(guess - 1, offset).day < wanted { return guess }
        // The local day begins less than 24 hours before or after midnight UTC, because local time differs from UTC by
        // -12 to +14 hours.
        var (before, at) = (midnight - day, midnight + day)
        while at - before > 1 {
            let middle = before + (at - before) / 2
            if LocalTime(middle, offset).day >= wanted { at = middle } else { before = middle }
        }
        return at
    }

    /// The time in words, relative to `now`: "06:30 today", "06:30 tomorrow", "Monday 06:30", "1 December 06:30".
    static func text(_ unix: Int64, from now: Int64, _ offset: Offset) -> String {
        let then = LocalTime(unix, offset)
        let today = LocalTime(now, offset)
        let date = date(then.day)
        switch then.day - today.day {
        case 0: return "\(then.clock) today"
        case 1: return "\(then.clock) tomorrow"
        case 2...6: return "\(weekdays[then.weekday]) \(then.clock)"
        default: return "\(date.day) \(months[date.month - 1]) \(then.clock)"
        }
    }
}
