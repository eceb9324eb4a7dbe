import Testing

@testable import backhaul

@Suite("Times and sizes on the command line")
struct TimeTests {
    init() { #expect(isInBerlin) }

    @Test(
        "times are parsed in common notations (the expected values are seconds after 2026-11-20 21:10)",
        arguments: [
            ("06:30", 33_600), ("6:30", 33_600), ("21:11", 60), ("21:10", 86_400), ("21:10:01", 1),
            ("+2h", 7200), ("+90", 90), ("+1d12h", 129_600), ("+1w", 604_800),
            ("2026-11-21", 10_200), ("2026-11-21 06:30", 33_600), ("2026-11-21T06:30:15", 33_615),
            ("2026-11-21T06:30Z", 37_200), ("2026-11-21t06:30-0530", 57_000), ("2026-11-21T06:30+01", 33_600),
        ])
    func read(text: String, seconds: Int64) {
        #expect(TimeParser.milliseconds(text, after: evening) == evening + seconds * 1000)
    }

    @Test("a time in summer is parsed with the offset of daylight saving time")
    func summer() throws {
        let noon = try #require(TimeParser.milliseconds("2026-07-01T12:00", after: evening))
        #expect(noon == TimeParser.milliseconds("2026-07-01T10:00Z", after: evening))
    }

    @Test("a time of day means its next occurrence, even if daylight saving time begins before that occurrence")
    func change() throws {
        // On 2026-03-29 the clock in Berlin goes from 02:00 to 03:00, so 02:30 does not exist.
        let before = try #require(TimeParser.milliseconds("2026-03-28T23:00", after: evening))
        #expect(TimeParser.milliseconds("06:00", after: before) == before + 6 * hour)
        let gap = try #require(TimeParser.milliseconds("02:30", after: before))
        #expect((before + 2 * hour...before + 4 * hour).contains(gap))
    }

    @Test(
        "invalid times are refused",
        arguments: [
            "", "+", "+0s", "+-1h", "+1.5h", "+1y", "25:00", "24:00", "12:60", "12", "12:5", "noon", "2026-02-30",
            "2026-13-01", "26-11-21", "2026-11-21T", "2026-11-21T06:30X", "2026-11-21T06:30+99:00", "1969-12-31",
            "+99999999999999999999h", "+9223372036854775807s", "２１:１０",
        ])
    func refused(text: String) {
        #expect(TimeParser.milliseconds(text, after: evening) == nil)
    }

    @Test(
        "durations are parsed as numbers with units, and a number without a unit means seconds",
        arguments: [("90", 90_000), ("90s", 90_000), ("15m", 900_000), ("1h30m", 5_400_000), ("7d", 604_800_000)])
    func durations(text: String, milliseconds: UInt64) {
        #expect(TimeParser.duration(text) == milliseconds)
    }

    @Test(
        "size units such as k and KiB are powers of 1,024; size units such as kB are powers of 1,000",
        arguments: [
            ("0", 0), ("500", 500), ("500k", 512_000), ("1.5M", 1_572_864), ("2G", 2_147_483_648),
            ("2GiB", 2_147_483_648), ("2gb", 2_000_000_000), ("1.5kB", 1500),
        ])
    func sizes(text: String, bytes: UInt64) {
        #expect(Arguments.bytes(text) == bytes)
    }

    @Test("invalid sizes are refused", arguments: ["", "B", "12B", "5ib", "12iB", "-1k", "1e3k", "k", "nan"])
    func refusedSizes(text: String) {
        #expect(Arguments.bytes(text) == nil)
    }

    @Test("a time on another day is shown with its date, and a time today is shown without a date")
    func moments() {
        #expect(Text.dateAndTime(evening - hour, now: evening) == "20:10")
        #expect(Text.dateAndTime(evening + 9 * hour, now: evening) == "tomorrow 06:10")
        #expect(Text.dateAndTime(evening - 24 * hour, now: evening) == "yesterday 21:10")
        #expect(Text.dateAndTime(evening - 72 * hour, now: evening) == "17 Nov 21:10")
        #expect(Text.dateAndTime(evening - 365 * 24 * hour, now: evening) == "20 Nov 2025 21:10")
        #expect(Text.timeWithCountdown(evening + 90 * minute, now: evening) == "at 22:40 (in 1 h 30 min)")
        #expect(Text.timeWithCountdown(evening + 9 * hour, now: evening) == "tomorrow at 06:10 (in 9 h)")
        #expect(Text.timeWithCountdown(evening + 72 * hour, now: evening) == "on 23 Nov at 21:10 (in 3 days)")
        #expect(Text.timeWithCountdown(evening - 1, now: evening) == "now")
    }

    @Test("a duration below a second is shown in milliseconds")
    func shortDurations() {
        #expect(
            [-1, 0, 400, 999, 1000, 61_500].map { Text.approximate(milliseconds: $0) }
                == ["0 ms", "0 ms", "400 ms", "999 ms", "1 s", "1 min"])
    }

    @Test("a period within one day is shown with one date")
    func periods() {
        #expect(Text.period(evening, evening + hour, now: evening) == "20 Nov 21:10 - 22:10")
        #expect(Text.period(evening, evening + 9 * hour, now: evening) == "20 Nov 21:10 - 21 Nov 06:10")
        #expect(Text.period(evening, nil, now: evening) == "20 Nov 21:10 - now")
    }

    @Test(
        "durations of up to two days are shown in hours or smaller units, and longer durations in days and hours",
        arguments: [
            (86_400_000, "24 h"), (5_400_000, "1 h 30 min"), (90_000, "1 min 30 s"), (604_800_000, "7 days"),
            (1_000, "1 s"), (500, "500 ms"), (172_800_000, "48 h"), (176_400_000, "2 days 1 h"),
        ])
    func spans(milliseconds: UInt64, text: String) {
        #expect(Text.exactDuration(milliseconds: milliseconds) == text)
    }
}
