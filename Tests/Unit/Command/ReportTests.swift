import Backhaul
import Testing

@testable import backhaul

/// The command `backhaul report` writes a page about many transfers.
@Suite("The data of a report")
struct ReportTests {
    @Test("50,000 transfers with two attempts each, waits and long URLs have less than 10 MB")
    func size() {
        var data = ReportData(title: "Session photos", madeMilliseconds: evening)
        // Numbers that differ from row to row, as measured ones do.
        var generator = SystemRandomNumberGenerator()
        for id in 1...50_000 as ClosedRange<UInt64> {
            let noise = Int64.random(in: 1000...60_000, using: &generator)
            let path = (0..<5).map { _ in String(UInt32.random(in: 0...UInt32.max, using: &generator)) }
            let ended = endedTask(
                id, url: "https://mirror-\(id % 40).example.org/" + path.joined(separator: "/") + "?key=\(id)",
                enqueued: evening - 86_400_000 + noise, lasted: noise, size: UInt64(noise * 997),
                error: id.isMultiple(of: 50) ? "the server responded with status 404 for \(id)" : nil)
            let attempts = (1...2).map {
                measuredAttempt(
                    ended, $0, started: ended.enqueuedMilliseconds + noise / 9 * Int64($0), microseconds: noise * 131)
            }
            let waits = [
                wait(.retry, from: ended.enqueuedMilliseconds + noise / 9, to: ended.enqueuedMilliseconds + noise / 8)
            ]
            data.add(ended, session: "photos", attempts, id.isMultiple(of: 5) ? waits : [])
        }
        #expect(ReportPage(data: data.json).text.utf8.count < 10_000_000)
    }

    @Test("of many attempts, the first and the newest stay, and the number of the others is stated")
    func attempts() {
        var data = ReportData(title: "", madeMilliseconds: evening)
        for id in 1...1200 as ClosedRange<UInt64> {
            let ended = endedTask(id, url: "http://a/b", enqueued: evening, lasted: 1, size: 1)
            let attempts = (1...100).map { measuredAttempt(ended, $0, started: evening, microseconds: 1) }
            data.add(ended, session: "photos", attempts, [])
        }
        let json = data.json
        #expect(json.contains("\"attempts_left_out\":\(1200 * 80)"))
        #expect(json.contains("\"attempt_rows\":{\"runs\":[20,1200]}"))
        #expect(json.contains("\"number\":{\"steps\":[1,1,81,1,1,18,-99,1,81,1,1,18,"))
    }

    @Test("the waits of a reason are one row, and periods that touch are one period")
    func waits() {
        var data = ReportData(title: "", madeMilliseconds: evening)
        let ended = endedTask(1, url: "http://a/b", enqueued: evening - hour, lasted: hour, size: 1)
        let waits = [
            wait(.metered, from: evening - hour, to: evening - 40 * minute),
            wait(.retry, from: evening - 40 * minute, to: evening - 30 * minute),
            wait(.metered, from: evening - 30 * minute, to: evening - 20 * minute),
        ]
        data.add(ended, session: "photos", [], waits)
        data.add(ended, session: "photos", [], [wait(.metered, from: evening - 20 * minute, to: nil)])
        let json = data.json
        #expect(json.contains("\"reasons\":[\"metered\",\"retry\"]"))
        #expect(
            json.contains(
                "\"waits\":{\"reason\":[0,1,0],\"began\":[0,\(20 * minute),\(40 * minute)],"
                    + "\"ended\":[\(40 * minute),\(30 * minute),\(60 * minute)],"
                    + "\"duration\":[\(30 * minute),\(10 * minute),\(20 * minute)],\"count\":[2,1,1]}"))
        #expect(
            json.contains(
                "\"periods\":{\"reason\":[0,0,1],\"began\":[0,\(30 * minute),\(20 * minute)],"
                    + "\"ended\":[\(20 * minute),\(60 * minute),\(30 * minute)]}"))
    }

    @Test(
        "the texts have no queries, no users and no control characters",
        arguments: [
            ("https://me:secret@example.org:8/a/b?token=c#d", "https://example.org:8", "/a/b?…"),
            ("http://example.org", "http://example.org", ""), ("http://example.org?q=1", "http://example.org", "?…"),
            ("http://a/\u{202e}b\n", "http://a", "/\\u{202e}b\\u{a}"), ("not a URL", "not a URL", ""), ("", "", ""),
        ])
    func texts(url: String, origin: String, path: String) {
        #expect(ReportText.origin(url) == origin)
        #expect(ReportText.path(url) == path)
    }

    @Test("a long text keeps its beginning and its end")
    func shortened() {
        let text = String(repeating: "ä", count: 100)
        let short = ReportText.shortened(text, 60)
        #expect(short.utf8.count <= 60 && short.hasPrefix("ää") && short.hasSuffix("ää") && short.contains("…"))
        #expect(!short.contains("\u{fffd}") && ReportText.shortened(text, 200) == text)
    }
}
