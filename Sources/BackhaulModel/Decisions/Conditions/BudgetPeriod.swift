/// A day or month of local time, to which a budget applies. A budget is the number of bytes that may be moved in the
/// period.
public struct BudgetPeriod: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case day
        case month
    }
    public var kind: Kind
    /// The first local day of the period, in days since 1970-01-01.
    public var firstDay: Int64
    /// The first local day after the period.
    public var nextDay: Int64
    /// The first moment of the period, in Unix milliseconds.
    public var beginMilliseconds: Int64
    /// The first moment after the period, in Unix milliseconds.
    public var endMilliseconds: Int64

    /// The local days of the period.
    public var days: Range<Int64> { firstDay..<max(firstDay, nextDay) }

    /// The local day that contains a time. It lasts from midnight to midnight, which may be 23, 24 or 25 hours. `unix`:
    /// the Unix time in milliseconds. `offset`: returns, for a Unix time, how many milliseconds local time is ahead of
    /// this Unix time.
    public static func day(at unix: Int64, localOffsetMilliseconds offset: (Int64) -> Int64) -> BudgetPeriod {
        let day = LocalTime(unix, offset).day
        return BudgetPeriod(.day, from: day, to: day + 1, offset)
    }

    /// The month that contains a time. `startsOn`: the day of the calendar month on which the month begins, from 1 to
    /// 28. Other values count as the nearest of these days.
    public static func month(
        at unix: Int64, startsOn: UInt8 = 1, localOffsetMilliseconds offset: (Int64) -> Int64
    ) -> BudgetPeriod {
        let first = Int(min(max(startsOn, 1), 28))
        let today = LocalTime(unix, offset).day
        var (year, month, day) = LocalTime.date(today)
        if day < first { (year, month) = month == 1 ? (year - 1, 12) : (year, month - 1) }
        let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
        day = first
        return BudgetPeriod(
            .month, from: LocalTime.day(year: year, month: month, day: day),
            to: LocalTime.day(year: nextYear, month: nextMonth, day: day), offset)
    }

    /// Returns the local day that contains a time, in days since 1970-01-01. The bytes that are moved on a day are
    /// counted under this number.
    public static func dayNumber(at unix: Int64, localOffsetMilliseconds offset: (Int64) -> Int64) -> Int64 {
        LocalTime(unix, offset).day
    }

    private init(_ kind: Kind, from firstDay: Int64, to nextDay: Int64, _ offset: (Int64) -> Int64) {
        self.kind = kind
        self.firstDay = firstDay
        self.nextDay = nextDay
        beginMilliseconds = LocalTime.begin(ofDay: firstDay, offset)
        endMilliseconds = LocalTime.begin(ofDay: nextDay, offset)
    }
}
