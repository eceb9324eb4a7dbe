import Testing

@testable import BackhaulModel

/// If-Range is sent with a request for the rest of a file. The server then sends the rest only if the file still has
/// the same validator (ETag or Last-Modified).
@Suite("The validator for If-Range")
struct ValidatorTests {
    struct Row: CustomTestStringConvertible {
        var lines: [String]
        var ifRange: String?
        var testDescription: String { lines.joined(separator: " | ") }
        init(_ lines: String..., continuesWith ifRange: String?) { (self.lines, self.ifRange) = (lines, ifRange) }
    }

    private static func tag(ofSize size: Int) -> String { "\"" + String(repeating: "x", count: size - 2) + "\"" }

    @Test(
        "If-Range has the strong ETag; without an ETag, it has Last-Modified if this date is before Date",
        arguments: [
            Row("ETag: \"a\"", continuesWith: "\"a\""),
            Row("etag: \"a\"", continuesWith: "\"a\""),
            Row("ETag: \"\"", continuesWith: "\"\""),
            Row("ETag: \"a,b W/c!~\"", continuesWith: nil),
            Row("ETag: \"a,b/W;c!~\"", continuesWith: "\"a,b/W;c!~\""),
            Row("ETag: \"a\"", "Last-Modified: \(monday)", "Date: \(tuesday)", continuesWith: "\"a\""),
            Row("Last-Modified: \(monday)", "Date: \(tuesday)", continuesWith: monday),
            // A weak or malformed tag is still an entity tag, so the date is not used (RFC 9110, section 13.1.5).
            Row("ETag: W/\"a\"", continuesWith: nil),
            Row("ETag: W/\"a\"", "Last-Modified: \(monday)", "Date: \(tuesday)", continuesWith: nil),
            Row("ETag: a", continuesWith: nil),
            Row("ETag: \"", continuesWith: nil),
            Row("ETag: \"a", continuesWith: nil),
            Row("ETag: a\"", continuesWith: nil),
            Row("ETag: \"a\"b\"", continuesWith: nil),
            Row("ETag: \"a\" ", continuesWith: nil),
            Row("ETag: \"ä\"", continuesWith: nil),
            Row("ETag: \"\u{FFFD}\"", continuesWith: nil),
            Row("ETag: ", continuesWith: nil),
            Row("ETag: \(tag(ofSize: 1_024))", continuesWith: tag(ofSize: 1_024)),
            Row("ETag: \(tag(ofSize: 1_025))", continuesWith: nil),
            // Last-Modified is a strong validator only if both dates are valid, and Last-Modified is before Date (RFC
            // 9110, section 8.8.2.2).
            Row("Last-Modified: \(monday)", "Date: \(monday)", continuesWith: nil),
            Row("Last-Modified: \(tuesday)", "Date: \(monday)", continuesWith: nil),
            Row("Last-Modified: \(monday)", continuesWith: nil),
            Row("Last-Modified: yesterday", "Date: \(tuesday)", continuesWith: nil),
            Row("Last-Modified: \(monday)", "Date: today", continuesWith: nil),
            Row("Last-Modified: 0", "Date: \(tuesday)", continuesWith: nil),
            Row("Last-Modified: Monday, 05-Oct-26 08:00:00 GMT", "Date: \(tuesday)", continuesWith: nil),
            Row("Date: \(tuesday)", continuesWith: nil),
        ])
    func validator(_ row: Row) {
        #expect(Validator(of: head(200, lines: row.lines)).ifRange == row.ifRange)
    }

    @Test(
        "Last-Modified beside a strong ETag is kept for comparison, whatever its date is",
        arguments: [
            Row("Last-Modified: \(monday)", continuesWith: monday),
            Row("Last-Modified: \(monday)", "Date: \(monday)", continuesWith: monday),
            Row("Last-Modified: \(tuesday)", "Date: \(monday)", continuesWith: tuesday),
            Row("Last-Modified: yesterday", continuesWith: "yesterday"),
            Row("Last-Modified: \(monday)", "Last-Modified: \(tuesday)", continuesWith: nil),
            Row("Last-Modified: \(String(repeating: "x", count: 1_025))", continuesWith: nil),
        ])
    func comparedDate(_ row: Row) {
        let validator = Validator(of: head(200, lines: ["ETag: \"a\""] + row.lines))
        #expect(validator == Validator(entityTag: "\"a\"", lastModified: row.ifRange))
    }

    @Test(
        "HTTP dates are ordered by time, not by text",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT"),
            ("Fri, 31 Dec 1999 23:59:59 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"),
            ("Wed, 30 Sep 2026 10:00:00 GMT", "Thu, 01 Oct 2026 09:00:00 GMT"),
            ("Tue, 28 Apr 2026 10:00:00 GMT", "Sun, 01 Aug 2027 10:00:00 GMT"),
            ("Sat, 31 Dec 2016 23:59:59 GMT", "Sat, 31 Dec 2016 23:59:60 GMT"),
        ])
    func order(_ earlier: String, _ later: String) throws {
        let (first, second) = (try #require(IMFFixdate.seconds(earlier)), try #require(IMFFixdate.seconds(later)))
        #expect(first < second)
    }

    @Test(
        "a text that is not an HTTP date is refused",
        arguments: [
            "", "Mon, 05 Oct 2026 08:00:00", "Mon, 05 Oct 2026 08:00:00 UTC", "Mon, 05 Okt 2026 08:00:00 GMT",
            "Mon, 00 Oct 2026 08:00:00 GMT", "Mon, 32 Oct 2026 08:00:00 GMT", "Mon, 05 Oct 2026 24:00:00 GMT",
            "Mon, 05 Oct 2026 08:60:00 GMT", "Mon, 05 Oct 2026 08:00:61 GMT", "Mon,  5 Oct 2026 08:00:00 GMT",
            "Mon, 05 Oct 2026 08:00:00 GMT ", "mon  05 oct 2026 08:00:00 gmt", "Mon Oct  5 08:00:00 2026",
            "Mon, 05 Oct -026 08:00:00 GMT", "Mon, 05 Oct 2026 08:00:00 GM\u{0}",
        ])
    func notADate(_ text: String) {
        #expect(IMFFixdate.seconds(text) == nil)
    }
}
