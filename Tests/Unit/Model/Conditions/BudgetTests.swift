@testable import BackhaulModel
import Testing

/// *Usage* is the bytes that were moved.
@Suite("Days and months of budgets")
struct BudgetPeriodTests {
    static let hour: Int64 = 3_600_000

    private func day(_ unix: Int64, _ offset: (Int64) -> Int64 = Berlin.offset) -> BudgetPeriod {
        .day(at: unix, localOffsetMilliseconds: offset)
    }

    private func hours(_ period: BudgetPeriod) -> Int64 {
        (period.endMilliseconds - period.beginMilliseconds) / Self.hour
    }

    @Test("a budget's day lasts from midnight to midnight, which is 23 or 25 hours at a daylight saving change")
    func daylightSaving() {
        #expect(hours(day(Berlin.spring)) == 23)
        #expect(hours(day(Berlin.autumn)) == 25)
        #expect(hours(day(Berlin.autumn + 30 * Self.hour)) == 24)
    }

    @Test("the days of a budget follow each other without a gap")
    func seamless() {
        for start in [Berlin.spring, Berlin.autumn] {
            for step in stride(from: -72 * Self.hour, through: 72 * Self.hour, by: 977_000) {
                let period = day(start + step)
                #expect(period.beginMilliseconds <= start + step && start + step < period.endMilliseconds)
                #expect(day(period.endMilliseconds).beginMilliseconds == period.endMilliseconds)
            }
        }
    }

    @Test("if the clock skips midnight, a budget's day begins at the first time of that day")
    func noMidnight() {
        // On 4 November 2018 in São Paulo, 00:00 becomes 01:00 (from UTC-3 to UTC-2).
        let leap: Int64 = 1_541_300_400_000
        let period = day(leap + 5 * Self.hour) { ($0 >= leap ? -2 : -3) * Self.hour }
        #expect(period.beginMilliseconds == leap)
        #expect(hours(period) == 23)
    }

    @Test("a day with two midnights is one day of a budget, and the next day follows without a gap")
    func twoMidnights() {
        // On 18 February 2018 in São Paulo, 00:00 becomes 23:00 of the day before (from UTC-2 to UTC-3).
        let back: Int64 = 1_518_919_200_000
        let offset = { (unix: Int64) in (unix >= back ? -3 : -2) * Self.hour }
        #expect(hours(day(back - 1, offset)) == 25)
        #expect(day(back - 1, offset) == day(back, offset))
        #expect(day(back + Self.hour, offset).beginMilliseconds == back + Self.hour)
    }

    @Test("the computed dates from 1970 to 2199 equal the dates that a day-by-day count gives")
    func calendar() {
        var (year, month, day) = (Int64(1970), 1, 1)
        for number in Int64(0)..<84_006 {
            let date = LocalTime.date(number)
            guard date == (year, month, day), LocalTime.day(year: year, month: month, day: day) == number else {
                Issue.record("\(number) is \(date), not \((year, month, day))")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let last = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            day += 1
            if day > last { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }

    @Test(
        "a budget's month begins on its start day, in this calendar month or in the month before",
        arguments: [
            // Today is 20 November 2026. Months start on the 1st, 20th, 21st or 28th. Start day 0 means 1, and 31 means
            // 28.
            (1, "1.11.2026", "1.12.2026"), (20, "20.11.2026", "20.12.2026"), (21, "21.10.2026", "21.11.2026"),
            (28, "28.10.2026", "28.11.2026"), (0, "1.11.2026", "1.12.2026"), (31, "28.10.2026", "28.11.2026"),
        ] as [(UInt8, String, String)])
    func months(startsOn: UInt8, first: String, next: String) {
        let period = BudgetPeriod.month(
            at: Situation().now, startsOn: startsOn, localOffsetMilliseconds: Berlin.offset)
        func text(_ day: Int64) -> String {
            let date = LocalTime.date(day)
            return "\(date.day).\(date.month).\(date.year)"
        }
        #expect(text(period.firstDay) == first)
        #expect(text(period.nextDay) == next)
    }

    @Test("if a budget's month is December, the next month begins in the next year")
    func december() {
        let period = BudgetPeriod.month(at: 1_798_000_000_000, startsOn: 1, localOffsetMilliseconds: Berlin.offset)
        #expect(period.days.count == 31)
        #expect(LocalTime.date(period.nextDay) == (2027, 1, 1))
    }
}

/// *Usage* is the bytes that sessions have moved over networks.
@Suite("Byte usage")
struct ByteUsageTests {
    private let one = SessionID(rawValue: 1)
    private let other = SessionID(rawValue: 2)
    private let today = BudgetPeriod.day(at: Situation().now, localOffsetMilliseconds: Berlin.offset)
    private let month = BudgetPeriod.month(at: Situation().now, localOffsetMilliseconds: Berlin.offset)

    @Test("the bytes that each network carries are added up by day and month, for each session and in total")
    func sums() {
        var usage = ByteUsage()
        usage.add(1, network: "Home", session: one, day: today.firstDay)
        usage.add(10, network: "Home", session: other, day: today.firstDay)
        usage.add(100, network: "Home", session: one, day: month.firstDay)
        usage.add(1_000, network: "Home", session: one, day: month.firstDay - 1)
        usage.add(10_000, network: "Hotspot", session: one, day: today.firstDay)
        #expect(usage.used(on: "Home", in: today) == 11)
        #expect(usage.used(on: "Home", in: today, by: one) == 1)
        #expect(usage.used(on: "Home", in: month) == 111)
        #expect(usage.used(on: "Home", in: month, by: other) == 10)
        #expect(usage.used(on: "Nowhere", in: month) == 0)
        #expect(usage.networks(in: month) == ["Home", "Hotspot"])
    }

    @Test("if the clock is set back and later set right, the usage of the present day is kept")
    func clockGoesBack() {
        var usage = ByteUsage()
        usage.add(5, network: "Home", session: one, day: today.firstDay)
        usage.add(7, network: "Home", session: one, day: today.firstDay - 3)
        usage.add(5, network: "Home", session: one, day: today.firstDay)
        #expect(usage.used(on: "Home", in: today) == 10)
        #expect(usage.used(on: "Home", in: month) == 17)
    }

    @Test("while the clock is wrong by years, new usage does not delete the usage of this month")
    func clockIsWrong() {
        var usage = ByteUsage()
        for day in month.firstDay..<month.nextDay { usage.add(1, network: "Home", session: one, day: day) }
        for wrong in 0..<30 as Range<Int64> { usage.add(1, network: "Home", session: one, day: 30_000 + wrong) }
        usage.add(1, network: "Home", session: one, day: 0)
        #expect(usage.used(on: "Home", in: month) == UInt64(month.days.count))
    }

    @Test("usage is kept for the latest 64 days, and the removed days are returned")
    func bounded() {
        var usage = ByteUsage()
        for day in 0..<1_000 as Range<Int64> { usage.add(1, network: "Home", session: one, day: day) }
        let removed = usage.takeRemoved()
        #expect(removed.count == 1_000 - 64)
        #expect(removed.map(\.day).max() == 935)
        #expect(usage.takeRemoved().isEmpty)
    }

    @Test("a changed entry of usage is returned one time for a save, and is returned again if this save fails")
    func unsaved() {
        var usage = ByteUsage()
        usage.add(5, network: "Home", session: one, day: 1)
        usage.add(5, network: "Home", session: one, day: 1)
        let saved = usage.takeUnsaved()
        #expect(saved == [.init(network: "Home", session: one, day: 1, bytes: 10)])
        #expect(usage.takeUnsaved().isEmpty)
        usage.failedToSave(saved)
        usage.add(1, network: "Home", session: one, day: 1)
        let again = usage.takeUnsaved()
        #expect(again.map(\.bytes) == [11])
        #expect(ByteUsage(again) == usage)
    }

    @Test("the sums of usage do not overflow")
    func saturates() {
        var usage = ByteUsage()
        usage.add(.max, network: "Home", session: one, day: today.firstDay)
        usage.add(.max, network: "Home", session: other, day: today.firstDay)
        #expect(usage.used(on: "Home", in: month) == .max)
    }

    @Test("each budget of a session and of its network is compared with the usage in the period of this budget")
    func budgets() {
        var usage = ByteUsage()
        usage.add(3, network: "Home", session: one, day: today.firstDay)
        usage.add(4, network: "Home", session: other, day: today.firstDay)
        var home = NetworkSettings(name: "Home")
        home.monthStartsOn = 15
        home.budget = ByteBudget(daily: 0, monthly: 100)
        let uses = usage.budgets(
            of: one, ByteBudget(daily: 10, monthly: 3), on: home, now: Situation().now,
            localOffsetMilliseconds: Berlin.offset)
        #expect(uses.map(\.owner) == [.network, .session, .network, .session])
        #expect(uses.map(\.used) == [7, 3, 7, 3])
        #expect(uses.map(\.isUsedUp) == [false, true, true, false])
        #expect(uses.map { LocalTime.date($0.period.firstDay).day } == [15, 1, 20, 20])
    }
}
