/// Dates in the form that HTTP/1.1 senders must use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
///
/// This module has no calendar, so the days are counted here, with integers. All years from 0 to 9999 belong to the
/// Gregorian calendar.
public enum IMFFixdate {
    public typealias Bytes = InlineArray<29, UInt8>

    /// The number of bytes of each date.
    private static let size = 29

    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
    /// 1 January 1970 was a Thursday.
    private static let weekdays: StaticString = "ThuFriSatSunMonTueWed"
    private static let daySeconds: Int64 = 86_400
    /// From 0000-01-01 to 9999-12-31.
    private static let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Reads a date as seconds since 1970; nil if the bytes do not have the form of a date. Any three letters are a
    /// weekday, each month may have 31 days, and a minute may have a second 60. Such a date is counted from
    /// the start of its month. So 30 February is a day in March. The two obsolete forms of dates are not read, because
    /// servers do not send them.
    public static func seconds(_ bytes: Span<UInt8>) -> Int64? {
        guard bytes.count == size, hasSeparators(bytes), bytes[0].isLetter, bytes[1].isLetter, bytes[2].isLetter,
            let month = month(bytes), let day = number(bytes, 5, 2), let hour = number(bytes, 17, 2),
            let year = number(bytes, 12, 4), let minute = number(bytes, 20, 2), let second = number(bytes, 23, 2),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        return (days(toMonth: month, of: year) + day - 1) * daySeconds + hour * 3_600 + minute * 60 + second
    }

    public static func seconds(_ text: String) -> Int64? { seconds(text.utf8.span) }

    /// The date of the seconds since 1970; nil if its year is not in 0...9999.
    public static func bytes(_ seconds: Int64) -> Bytes? {
        guard years.contains(seconds) else { return nil }
        // `fromStart` is not negative, so the division rounds down. `years` begins with the first second of a day.
        let fromStart = seconds - years.lowerBound
        let days = fromStart / daySeconds + years.lowerBound / daySeconds
        let time = fromStart % daySeconds
        let (year, month, day) = date(ofDay: days)
        var bytes = Bytes(repeating: UInt8(ascii: " "))
        // 0000-01-01 was a Saturday, the third day in `weekdays`.
        copyName(Int((fromStart / daySeconds + 2) % 7), of: weekdays, to: &bytes, 0)
        bytes[3] = UInt8(ascii: ",")
        put(day, 2, to: &bytes, 5)
        copyName(Int(month), of: months, to: &bytes, 8)
        put(year, 4, to: &bytes, 12)
        put(time / 3_600, 2, to: &bytes, 17)
        bytes[19] = UInt8(ascii: ":")
        put(time / 60 % 60, 2, to: &bytes, 20)
        bytes[22] = UInt8(ascii: ":")
        put(time % 60, 2, to: &bytes, 23)
        (bytes[26], bytes[27], bytes[28]) = (UInt8(ascii: "G"), UInt8(ascii: "M"), UInt8(ascii: "T"))
        return bytes
    }

    private static func hasSeparators(_ bytes: Span<UInt8>) -> Bool {
        let blank = UInt8(ascii: " ")
        return bytes[3] == UInt8(ascii: ",") && bytes[4] == blank && bytes[7] == blank && bytes[11] == blank
            && bytes[16] == blank && bytes[19] == UInt8(ascii: ":") && bytes[22] == UInt8(ascii: ":")
            && bytes[25] == blank && bytes[26] == UInt8(ascii: "G") && bytes[27] == UInt8(ascii: "M")
            && bytes[28] == UInt8(ascii: "T")
    }

    private static func number(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        var number: Int64 = 0
        for index in start..<start + count {
            guard bytes[index].isDigit else { return nil }
            number = number * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
        }
        return number
    }

    /// The month, from 0 to 11.
    private static func month(_ bytes: Span<UInt8>) -> Int64? {
        months.withUTF8Buffer { names in
            for month in 0..<12 where names[month * 3] == bytes[8] {
                if names[month * 3 + 1] == bytes[9], names[month * 3 + 2] == bytes[10] { return Int64(month) }
            }
            return nil
        }
    }

    /// Counts the days from 1970 to the first day of a month (0 to 11). Years of this calculation begin in March. So
    /// the leap day is the last day of a year, and a month's first day is the same in all years.
    private static func days(toMonth month: Int64, of year: Int64) -> Int64 {
        let marchYear = month < 2 ? year - 1 : year
        let marchMonth = (month + 10) % 12
        // The period before the year 0 is counted as well, because March year -1 is in it.
        let counted = marchYear + 400
        let yearDays = counted * 365 + counted / 4 - counted / 100 + counted / 400
        return yearDays + (marchMonth * 153 + 2) / 5 - periodDays - daysBefore1970
    }

    /// The year, the month (0 to 11) and the day (from 1) of a day since 1970.
    private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let counted = days + daysBefore1970 + periodDays
        let (era, dayOfEra) = (counted / periodDays, counted % periodDays)
        // Without the leap days before this day, each year has 365 days. Every fourth year has a leap day, but of the
        // years that end in 00, only every fourth.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = (marchMonth + 2) % 12
        let year = yearOfEra + era * 400 - 400 + (month < 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// The days of 400 years, which are one period of the calendar.
    private static let periodDays: Int64 = 146_097
    /// The days from 1 March of the year 0 to 1 January 1970.
    private static let daysBefore1970: Int64 = 719_468

    private static func copyName(
        _ index: Int, of names: StaticString, to bytes: inout Bytes, _ start: Int
    ) {
        names.withUTF8Buffer { names in
            for offset in 0..<3 { bytes[start + offset] = names[index * 3 + offset] }
        }
    }

    private static func put(
        _ number: Int64, _ count: Int, to bytes: inout Bytes, _ start: Int
    ) {
        var rest = number
        for index in (start..<start + count).reversed() {
            bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
