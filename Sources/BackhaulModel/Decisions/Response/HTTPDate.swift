/// A date for comparisons, in the form that HTTP/1.1 senders must use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110,
/// section 5.6.7).
///
/// This module has no I/O and no calendar, so it has its own reader of dates. No calendar is necessary, because only
/// the order of dates matters. The two obsolete forms are not read, because servers do not send them. A date that
/// cannot be read is ignored.
struct HTTPDate: Comparable {
    /// The digits YYYYMMDDhhmmss.
    private let digits: UInt64

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let pattern = Array("???, 00 ??? 0000 00:00:00 GMT".utf8)

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.pattern.count,
            zip(bytes, Self.pattern).allSatisfy({ byte, expected in
                switch expected {
                case UInt8(ascii: "?"): byte.isLetter
                case UInt8(ascii: "0"): byte.isDigit
                default: byte == expected
                }
            }),
            let month = Self.months.firstIndex(where: { $0.utf8.elementsEqual(bytes[8..<11]) })
        else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 * 10 + UInt64($1 - 0x30) } }
        let (day, hour, minute, second) = (number(5..<7), number(17..<19), number(20..<22), number(23..<25))
        guard (1...31).contains(day), hour < 24, minute < 60, second <= 60 else { return nil }
        let date = (number(12..<16) * 100 + UInt64(month + 1)) * 100 + day
        digits = ((date * 100 + hour) * 100 + minute) * 100 + second
    }

    static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.digits < right.digits }
}
