/// Dates in the form that HTTP/1.1 senders must use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
///
/// All years from 0 to 9999 belong to the Gregorian calendar (`LocalTime`).
public enum IMFFixdate {
    /// The number of bytes of each date.
    private static let size = 29

    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
    private static let daySeconds: Int64 = 86_400

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
}
