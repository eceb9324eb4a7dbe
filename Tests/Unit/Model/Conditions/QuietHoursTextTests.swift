import BackhaulModel
import Testing

@Suite("Quiet hours as text")
struct QuietHoursTextTests {
    @Test(
        "parsed quiet hours are written as the same text",
        arguments: [
            "22:00-06:30", "00:00-24:00", "mon-fri 08:00-18:00, sat 10:00-14:00", "fri-mon 22:00-06:00",
            "sun 23:59-00:00",
        ])
    func sameText(text: String) throws { #expect(try #require(QuietHours(text)).text == text) }

    @Test("quiet hours on separate days are written as several spans with the same meaning")
    func severalRanges() throws {
        let hours = QuietHours(spans: [.init(days: 0b001_0101, begin: 60, end: 120)])
        #expect(hours.text == "mon 01:00-02:00, wed 01:00-02:00, fri 01:00-02:00")
        let read = try #require(QuietHours(hours.text))
        for hour in 0..<168 as Range<Int64> {
            let now = Berlin.autumn + hour * 3_600_000
            let one = hours.state(at: now, localOffsetMilliseconds: Berlin.offset)
            let other = read.state(at: now, localOffsetMilliseconds: Berlin.offset)
            #expect(one == other)
        }
    }

    @Test(
        "malformed quiet hours are refused",
        arguments: [
            "", "22:00", "22:00-22:00", "24:00-06:00", "22:60-06:00", "2:00-06:00", "22:00-06:00,",
            "monday 22:00-06:00",
            "mon-tue-wed 22:00-06:00", "MON 22:00-06:00", "22:00 - 06:00", "mon  tue 22:00-06:00", "22:00-25:00", "-",
            "٢٢:٠٠-٠٦:٣٠",
        ])
    func refused(text: String) { #expect(QuietHours(text) == nil) }

    @Test("quiet hours with too many spans are refused")
    func tooMany() {
        func text(_ count: Int) -> String { (0..<count).map { _ in "22:00-06:00" }.joined(separator: ",") }
        #expect(QuietHours(text(QuietHours.spanLimit)) != nil)
        #expect(QuietHours(text(QuietHours.spanLimit + 1)) == nil)
    }

    @Test(
        "quiet hours that cover the whole week are recognized",
        arguments: [
            ("00:00-24:00", true), ("07:00-23:00, 23:00-07:00", true), ("07:00-23:00, 23:00-06:59", false),
            ("mon-sat 00:00-24:00", false), ("mon-sat 00:00-24:00, sun 00:00-24:00", true), ("12:00-11:59", false),
        ])
    func covers(text: String, expected: Bool) throws {
        #expect(try #require(QuietHours(text)).coversEverything == expected)
    }
}
