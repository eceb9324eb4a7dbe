/// Dates in the form that HTTP/1.1 senders must use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
///
/// All years from 0 to 9999 belong to the Gregorian calendar (`LocalTime`).
public enum IMFFixdate {
    public typealias Bytes = InlineArray<29, UInt8>

    /// The number of bytes of each date.
    private static let size = 29

    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
    private static let weekdays: StaticString = "MonTueWedThuFriSatSun"
    private static let daySeconds: Int64 = 86_400
    /// From 0000-01-01 to 9999-12-31.
    private static let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Reads a date as seconds since 1970; nil if the bytes do not have the form of a date. Any three letters are a
    /// weekday, each month may have 31 days, and a minute may have a second 60. Such a date is counted from
    /// the start of its month. So 30 February is a day in March. The two obsolete forms of dates are not read, because
    /// servers do not send them.
    public static func seconds(_ bytes: Span<UInt8>) -> Int64? {
        guard bytes.count == size, hasSeparators(bytes), bytes[0].isLetter, bytes[1].isLetter, bytes[2].isLetter,
            let month = month(bytes), let day = number(in: bytes, at: 5, digits: 2),
            let hour = number(in: bytes, at: 17, digits: 2), let year = number(in: bytes, at: 12, digits: 4),
            let minute = number(in: bytes, at: 20, digits: 2), let second = number(in: bytes, at: 23, digits: 2),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = LocalTime.day(year: year, month: month, day: Int(day))
        return days * daySeconds + hour * 3_600 + minute * 60 + second
    }

    /// Reads a date from a text in the same way.
    public static func seconds(_ text: String) -> Int64? { seconds(text.utf8.span) }

    /// The date of the seconds since 1970; nil if its year is not in 0...9999.
    public static func bytes(_ seconds: Int64) -> Bytes? {
        guard years.contains(seconds) else { return nil }
        let moment = LocalTime(seconds * 1_000) { _ in 0 }
        let (year, month, day) = LocalTime.date(moment.day)
        let time = moment.time / 1_000
        var bytes = Bytes(repeating: UInt8(ascii: " "))
        copyName(moment.weekday, of: weekdays, to: &bytes, at: 0)
        bytes[3] = UInt8(ascii: ",")
        put(Int64(day), digits: 2, in: &bytes, at: 5)
        copyName(month - 1, of: months, to: &bytes, at: 8)
        put(year, digits: 4, in: &bytes, at: 12)
        put(time / 3_600, digits: 2, in: &bytes, at: 17)
        bytes[19] = UInt8(ascii: ":")
        put(time / 60 % 60, digits: 2, in: &bytes, at: 20)
        bytes[22] = UInt8(ascii: ":")
        put(time % 60, digits: 2, in: &bytes, at: 23)
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

    private static func number(in bytes: Span<UInt8>, at start: Int, digits count: Int) -> Int64? {
        var number: Int64 = 0
        for index in start..<start + count {
            guard bytes[index].isDigit else { return nil }
            number = number * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
        }
        return number
    }

    /// The month, from 1 to 12.
    private static func month(_ bytes: Span<UInt8>) -> Int? {
        months.withUTF8Buffer { names in
            for month in 0..<12 where names[month * 3] == bytes[8] {
                if names[month * 3 + 1] == bytes[9], names[month * 3 + 2] == bytes[10] { return month + 1 }
            }
            return nil
        }
    }

    private static func copyName(
        _ index: Int, of names: StaticString, to bytes: inout Bytes, at start: Int
    ) {
        names.withUTF8Buffer { names in
            for offset in 0..<3 { bytes[start + offset] = names[index * 3 + offset] }
        }
    }

    private static func put(_ number: Int64, digits count: Int, in bytes: inout Bytes, at start: Int) {
        var rest = number
        for index in (start..<start + count).reversed() {
            bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
