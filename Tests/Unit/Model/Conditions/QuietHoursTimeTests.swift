@testable import BackhaulModel
import Testing

@Suite("Quiet hours in local time")
struct QuietHoursTimeTests {
    static let minute: Int64 = 60_000
    static let texts = [
        "22:00-06:30", "01:30-02:30", "02:00-03:00", "02:15-02:45", "03:00-02:00",
        "mon-fri 08:00-18:00, sat 10:00-14:00", "sun 00:00-24:00", "sat 23:00-04:00, tue 12:00-12:01",
        "sun 02:30-02:00",
    ]

    /// The minute of the week in local time, counted from Monday 00:00.
    private func wall(_ unix: Int64) -> Int {
        // Minutes are counted from Monday, 5 January 1970, 00:00, which is four days after Unix time 0.
        let local = (unix + Berlin.offset(unix)) / Self.minute - 4 * 1_440
        return Int(local % 10_080)
    }

    /// A second implementation of quiet hours. Returns for each minute of the week whether the minute is quiet.
    private func covered(_ hours: QuietHours) -> [Bool] {
        var minutes = [Bool](repeating: false, count: 10_080)
        for span in hours.spans {
            for day in 0..<7 where span.days >> day & 1 == 1 {
                var minute = day * 1_440 + Int(span.begin)
                repeat {
                    minutes[minute % 10_080] = true
                    minute += 1
                } while minute % 1_440 != Int(span.end) % 1_440
            }
        }
        return minutes
    }

    @Test(
        "quiet hours follow the local time in weeks with a daylight saving change",
        arguments: [Berlin.spring, Berlin.autumn], texts)
    func changes(of clocks: Int64, text: String) throws {
        let hours = try #require(QuietHours(text))
        let covered = covered(hours)
        let begin = clocks - 4 * 1_440 * Self.minute
        let count = 16 * 1_440
        let quiet = (0..<count).map { covered[wall(begin + Int64($0) * Self.minute)] }
        var next = [Int64?](repeating: nil, count: count)
        for index in (0..<(count - 1)).reversed() {
            next[index] = quiet[index] != quiet[index + 1] ? begin + Int64(index + 1) * Self.minute : next[index + 1]
        }
        var wrong: [String] = []
        for index in stride(from: 0, to: 8 * 1_440, by: 3) {
            let now = begin + Int64(index) * Self.minute + Int64(index % 7) * 8_000
            let state = hours.state(at: now, localOffsetMilliseconds: Berlin.offset)
            if state.isQuiet != quiet[index] || state.changes != next[index] {
                wrong.append("\(now): \(state), not \(quiet[index]) until \(String(describing: next[index]))")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }

    @Test("quiet hours of the whole week never end, and empty quiet hours never begin")
    func always() throws {
        let whole = QuietHours(spans: [.init(begin: 0, end: 720), .init(begin: 720, end: 1_440)])
        let state = whole.state(at: Berlin.spring, localOffsetMilliseconds: Berlin.offset)
        #expect(state.isQuiet && state.changes == nil)
        let never = QuietHours(spans: []).state(at: Berlin.spring, localOffsetMilliseconds: Berlin.offset)
        #expect(!never.isQuiet && never.changes == nil)
    }

    @Test(
        "computing quiet hours and budgets does not crash or hang on extreme times and time zones",
        arguments: [
            .min, -1, 0, 1, .max, -1_000_000_000_000, 1 << 60,
        ] as [Int64])
    func nonsense(number: Int64) throws {
        let hours = try #require(QuietHours("22:00-06:30"))
        _ = hours.state(at: number, localOffsetMilliseconds: { _ in 0 })
        _ = hours.state(at: Berlin.spring, localOffsetMilliseconds: { _ in number })
        _ = hours.state(at: number, localOffsetMilliseconds: { $0 % 2 == 0 ? number : 0 })
        _ = hours.begin(before: number, localOffsetMilliseconds: { $0 % 2 == 0 ? number : 0 })
        #expect(BudgetPeriod.day(at: number, localOffsetMilliseconds: { _ in number }).days.count == 1)
        _ = BudgetPeriod.month(at: number, startsOn: 200, localOffsetMilliseconds: { $0 % 2 == 0 ? number : 0 })
    }

    @Test(
        "a time in a message for users is written in local time",
        arguments: [
            (0, "21:40 today"), (9 * 60, "06:40 tomorrow"), (48 * 60, "Sunday 21:40"), (6 * 24 * 60, "Thursday 21:40"),
            (11 * 24 * 60, "1 December 21:40"),
        ] as [(Int64, String)])
    func text(minutes: Int64, expected: String) {
        let now = Situation().now
        #expect(LocalTime.text(now + minutes * Self.minute, from: now, Berlin.offset) == expected)
    }
}
