import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("The age calendar")
struct CalendarWatchTests {
    let runtime = FakeRuntime()
    let calendar: CalendarWatch

    init() {
        calendar = CalendarWatch(runtime)
        calendar.begin(runtime.clocks.reading)
    }

    private var steps: [Int64] {
        runtime.takeEffects().compactMap { if case .calendarStepped(let step) = $0 { step } else { nil } }
    }

    @Test("the age calendar ignores the drift of a clock")
    func drift() {
        runtime.fakeClocks.stepWallClock(by: ClockStep.tolerance - 1)
        calendar.check()
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("two checks after one clock step move the stored times only once, and then the age calendar moves")
    func step() throws {
        let before = calendar.milliseconds
        runtime.fakeClocks.stepWallClock(by: 8_000_000)
        calendar.check()
        calendar.check()
        #expect(runtime.pendingStoreCalls == 1)
        #expect(calendar.milliseconds - before < 1_000_000)
        try runtime.storeReturns(8_000_000 as Int64)
        #expect(steps == [8_000_000])
        #expect(calendar.milliseconds - before >= 8_000_000)
    }

    @Test("if the clock is set again while the stored times are moved, they are moved again")
    func secondStep() throws {
        for step in [8_000_000, 9_000_000] as [Int64] {
            runtime.fakeClocks.stepWallClock(by: step)
            calendar.check()
        }
        #expect(runtime.pendingStoreCalls == 1)
        try runtime.storeReturns(8_000_000 as Int64)
        #expect(runtime.pendingStoreCalls == 1)
        try runtime.storeReturns(9_000_000 as Int64)
        #expect(runtime.pendingStoreCalls == 0)
        #expect(steps == [8_000_000, 9_000_000])
    }

    @Test("if the store cannot be written, the age calendar does not move, and the next check retries the write")
    func storeFails() throws {
        runtime.fakeClocks.stepWallClock(by: 8_000_000)
        calendar.check()
        try runtime.storeReturns(Result<Int64, Failure>.failure(Failure(.storeFull, "no space")))
        #expect(steps.isEmpty)
        calendar.check()
        #expect(runtime.pendingStoreCalls == 1)
    }
}
