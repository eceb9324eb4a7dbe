import BackhaulModel
import Testing

/// Each hold has a sentence that explains the reason.
@Suite("Holds until a time")
struct TimedHoldTests {
    private func date(_ hold: Hold?) -> Int64? { hold?.nextCheckMilliseconds }

    @Test("the sentence about quiet hours has the times at which the quiet hours begin and end")
    func quiet() {
        let situation = Situation { $0.session.quietHours = QuietHours("21:00-06:30") }
        #expect(situation.sentences == ["the transfer is in its quiet hours 21:00-06:30, until 06:30 tomorrow"])
        // The end is 05:30 UTC of the next day.
        #expect(date(situation.holds.first) == 1_795_239_000_000)
    }

    @Test("if quiet hours end on a later day, their sentence names this day")
    func quietForDays() {
        let situation = Situation { $0.session.quietHours = QuietHours("fri-sun 00:00-24:00") }
        #expect(situation.sentences == ["the transfer is in its quiet hours, until Monday 00:00"])
    }

    @Test("the quiet hours of a session and of its task are added together")
    func union() {
        let situation = Situation {
            $0.session.quietHours = QuietHours("21:00-23:00")
            $0.task.stated.quietHours = QuietHours("23:00-02:00")
        }
        #expect(situation.sentences == ["the transfer is in its quiet hours 21:00-02:00, until 02:00 tomorrow"])
    }

    @Test("if the quiet hours of session and task cover the whole week, the task's hold has no end time")
    func neverLoud() {
        let situation = Situation {
            $0.session.quietHours = QuietHours("07:00-23:00")
            $0.task.stated.quietHours = QuietHours("22:00-07:00")
        }
        #expect(situation.reasons == [.quietHours])
        #expect(date(situation.holds.first) == nil)
    }

    @Test("the sentence about a used-up budget has the budget's size, its network, and the first day of the next month")
    func budget() {
        let situation = Situation { $0.budgets = [.monthOfHotspot()] }
        #expect(
            situation.sentences == [
                "5.0 GB of this month's 5.0 GB are used on Hotspot; the next month begins on 1 December"
            ])
        // The next month begins on 2026-12-01 at 00:00 in Berlin.
        #expect(date(situation.holds.first) == 1_796_079_600_000)
    }

    @Test("if a budget is 0 bytes, its hold has no end time")
    func noBudget() {
        let situation = Situation { $0.budgets = [.monthOfHotspot(limit: 0, used: 0)] }
        #expect(situation.reasons == [.budget])
        #expect(date(situation.holds.first) == nil)
    }

    @Test("the holds of a task are ordered: the hold that usually lasts longest comes first")
    func order() {
        let situation = Situation {
            $0.session = Constraints(.discretionary) { $0.quietHours = QuietHours("21:00-06:30") }
            $0.conditions = .onTheRoad
            $0.conditions.connectivity = Reading(.limited)
            $0.conditions.thermalState = Reading(.critical)
            $0.conditions.isPreparingForSleep = Reading(true)
            $0.budgets = [
                .monthOfHotspot(),
                BudgetUsage(
                    .session, network: "Hotspot", period: .day(at: $0.now, localOffsetMilliseconds: Berlin.offset),
                    limit: 1, used: 2),
            ]
        }
        #expect(
            situation.reasons == [.budget, .quietHours, .budget, .power, .metered, .portal, .heat, .sleep])
    }

    @Test("the next change of the holds is when quiet hours begin or end, or when the period of a budget ends")
    func nextChange() {
        var situation = Situation()
        #expect(DeferralDecision.nextChange(situation.effective, situation.facts) == nil)
        situation.budgets = [.monthOfHotspot(used: 0)]
        #expect(DeferralDecision.nextChange(situation.effective, situation.facts) == 1_796_079_600_000)
        situation.session.quietHours = QuietHours("22:00-06:30")
        #expect(DeferralDecision.nextChange(situation.effective, situation.facts) == situation.now + 20 * 60_000)
    }

    @Test("if a task expects more bytes than remain in its monthly budget, the task waits for the next month")
    func fits() {
        let budget = BudgetUsage.monthOfHotspot(used: 4_000_000_000)
        #expect(DeferralDecision.fits(1_000_000_000, [budget]) == nil)
        #expect(DeferralDecision.fits(nil, [budget]) == nil)
        let hold = DeferralDecision.fits(1_000_000_001, [budget])
        #expect(
            hold?.sentence
                == "the transfer expects 1.0 GB, but only 1.0 GB of this month's 5.0 GB are left on Hotspot; the next "
                + "month begins on 1 December")
        #expect(date(hold) == 1_796_079_600_000)
    }

    @Test("if a task expects more bytes than the whole budget, its hold has no end time")
    func neverFits() {
        let hold = DeferralDecision.fits(6_000_000_000, [.monthOfHotspot(used: 0)])
        #expect(hold?.reason == .budget)
        #expect(date(hold) == nil)
    }
}
