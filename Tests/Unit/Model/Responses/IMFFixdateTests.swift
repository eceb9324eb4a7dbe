import Glibc
import TestSupport
import Testing

@testable import BackhaulModel

/// `IMFFixdate` uses the calendar of `LocalTime`. These tests compare its dates with those of the C library.
@Suite("Dates of HTTP")
struct IMFFixdateTests {
    @Test(
        "a date is read as seconds",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Wed, 28 Feb 1900 12:00:00 GMT", -2_203_934_400), ("Thu, 01 Mar 1900 12:00:00 GMT", -2_203_848_000),
            ("Sun, 07 Feb 2106 06:28:15 GMT", 4_294_967_295), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
            ("Tue, 29 Feb 0000 00:00:00 GMT", -62_162_121_600), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)])
    func seconds(_ text: String, _ seconds: Int64) {
        #expect(IMFFixdate.seconds(text.utf8.span) == seconds)
    }

    @Test(
        "a date with a wrong weekday, a missing day or a leap second is read as the seconds from its month's start",
        arguments: [
            ("Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Tue, 31 Feb 2026 00:00:00 GMT", "Tue, 03 Mar 2026 00:00:00 GMT"),
            ("Thu, 29 Feb 1900 00:00:00 GMT", "Thu, 01 Mar 1900 00:00:00 GMT"),
            ("Sat, 31 Dec 2016 23:59:60 GMT", "Sun, 01 Jan 2017 00:00:00 GMT"),
        ])
    func otherDates(_ text: String, _ same: String) {
        #expect(IMFFixdate.seconds(text) == IMFFixdate.seconds(same))
        #expect(IMFFixdate.seconds(text) != nil)
    }

    @Test("the first and last days of all months are those of the C library")
    func months() {
        // The calendar repeats itself after 400 years.
        for year in [0...5, 1_600...2_100, 9_990...9_999].joined() {
            for month in 0..<12 {
                var start = tm()
                (start.tm_year, start.tm_mon, start.tm_mday) = (Int32(year - 1_900), Int32(month), 1)
                let seconds = Int64(timegm(&start))
                if year > 0 || month > 0 { isAsInGlibc(seconds - 1) }
                isAsInGlibc(seconds)
            }
        }
    }

    @Test("random times have the dates of the C library")
    func randomTimes() {
        var random = Random(seed: 29)
        for _ in 0..<20_000 {
            isAsInGlibc(Int64.random(in: -62_167_219_200...253_402_300_799, using: &random))
        }
    }

    @Test("random bytes and changed dates are read without a trap")
    func randomBytes() {
        var random = Random(seed: 31)
        for _ in 0..<20_000 {
            var bytes = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)
            for _ in 0..<random.number(1...4) {
                bytes[random.number(0...28)] = UInt8(random.number(0...1) == 0 ? 0x30 : random.number(0...255))
            }
            _ = IMFFixdate.seconds(bytes.span)
            #expect(IMFFixdate.seconds(Array(bytes[..<random.number(0...28)]).span) == nil)
        }
    }

    private func isAsInGlibc(_ seconds: Int64) {
        var (time, parts) = (Int(seconds), tm())
        gmtime_r(&time, &parts)
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func digits(_ number: Int32, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: count - digits.count) + digits
        }
        let date = "\(weekdays[Int(parts.tm_wday)]), \(digits(parts.tm_mday, 2)) \(months[Int(parts.tm_mon)])"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined(separator: ":")
        let text = "\(date) \(digits(parts.tm_year + 1_900, 4)) \(clock) GMT"
        // `#expect` takes much longer than a comparison.
        if IMFFixdate.seconds(text.utf8.span) != seconds {
            Issue.record("\(seconds) is \(text)")
        }
    }
}
