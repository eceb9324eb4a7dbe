import BackhaulModel
import Testing

@Suite("The value of Content-Range (RFC 9110, section 14.4)")
struct ContentRangeTests {
    struct Row: CustomTestStringConvertible {
        var text: String
        var range: ClosedRange<UInt64>?
        var size: UInt64?
        var testDescription: String { text }
        init(_ text: String, _ range: ClosedRange<UInt64>?, of size: UInt64?) {
            (self.text, self.range, self.size) = (text, range, size)
        }
    }

    @Test(
        "a well-formed Content-Range is parsed",
        arguments: [
            Row("bytes 0-0/1", 0...0, of: 1),
            Row("bytes 500-999/1000", 500...999, of: 1000),
            Row("bytes 500-599/1000", 500...599, of: 1000),
            Row("bytes 500-999/*", 500...999, of: nil),
            Row("bytes */1000", nil, of: 1000),
            Row("bytes */0", nil, of: 0),
            Row("BYTES 1-2/3", 1...2, of: 3),
            Row("bytes  1-2/3", 1...2, of: 3),
            Row(" bytes 1-2/3 ", 1...2, of: 3),
            Row("bytes 007-008/009", 7...8, of: 9),
            Row("bytes 0-18446744073709551614/18446744073709551615", 0...(UInt64.max - 1), of: .max),
            Row("bytes 0-18446744073709551615/*", 0...UInt64.max, of: nil),
        ])
    func wellFormed(_ row: Row) {
        let range = ContentRange(row.text)
        #expect(range?.range == row.range)
        #expect(range?.size == row.size)
        #expect(range != nil)
    }

    @Test(
        "a malformed Content-Range is refused",
        arguments: [
            "", " ", "bytes", "bytes ", "0-1/2", "bytes=0-1/2", "bytes: 0-1/2", "items 0-1/2", "bytes 0-1",
            "bytes 0-1/",
            "bytes /2", "bytes -/2", "bytes 0-/2", "bytes -1/2", "bytes 0--1/2", "bytes 1-0/2", "bytes 0-2/2",
            "bytes 0-9/9", "bytes */*", "bytes * /2", "bytes 0-1/2/3", "bytes 0-1-2/3", "bytes 0-1 /2", "bytes +0-1/2",
            "bytes 0-+1/2", "bytes 0-1/+2", "bytes 0x0-0x1/2", "bytes 0-1/2 junk", "bytes 0-1/2,",
            "bytes 0-1/2, bytes 0-1/2",
            "bytes 0-18446744073709551616/*", "bytes 0-1/18446744073709551616", "bytes 18446744073709551616-1/2",
            "bytes ٠-١/٢", "bytes 0-1/2\u{0}", "bytes\t0-1/2", "bytes 0−1/2",
        ])
    func malformed(_ text: String) {
        #expect(ContentRange(text) == nil)
    }
}
