/// A day or month of local time, for which a budget is given.
public struct BudgetPeriod: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case day
        case month
    }
    public var kind: Kind
    /// Its first local day, in days since 1970-01-01.
    public var firstDay: Int64
    /// The first local day that is not in it.
    public var nextDay: Int64
    /// Unix time in milliseconds.
    public var beginMilliseconds: Int64
    /// Unix time in milliseconds; not in it any more.
    public var endMilliseconds: Int64

    /// Its local days.
    public var days: Range<Int64> { firstDay..<max(firstDay, nextDay) }

    /// The local day, from its midnight to the next, be it 23, 24 or 25 hours. `unix`: Unix time in milliseconds.
    /// `offset`: milliseconds of local time minus those of Unix time, at a Unix time.
    public static func day(at unix: Int64, localOffsetMilliseconds offset: (Int64) -> Int64) -> BudgetPeriod {
        let day = LocalTime(unix, offset).day
        return BudgetPeriod(.day, from: day, to: day + 1, offset)
    }

    /// The month that begins on a day of the calendar's months: `startsOn` is 1 to 28, others count as the nearest.
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

    /// The number of the local day, under which what is moved is counted.
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
