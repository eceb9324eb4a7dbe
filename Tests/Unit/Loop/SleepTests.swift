import BackhaulPlatform
import Testing

@testable import BackhaulLoop

@Suite("System sleep")
struct SleepTests {
    @Test("counts for timers: due ones fire at once, and others fire earlier by the time of sleep")
    func counts() async throws {
        let thread = try startLoop()
        let left: Int64 = await thread.event { desk, done in
            let late = desk.loop.timer {}
            late.start(milliseconds: 10_000_000)
            desk.kept.append(late)
            let due = desk.loop.timer { done(late.millisecondsLeft) }
            due.start(milliseconds: 3_600_000)
            desk.kept.append(due)
            desk.loop.noticeSleep(Clock.bootMilliseconds - desk.loop.timerClock + 4_000_000)
        }
        // The range allows a minute for a slow machine.
        #expect((5_940_000...6_000_000).contains(left))
        thread.stop()
    }

    @Test("of zero length changes no timer")
    func none() async throws {
        let thread = try startLoop()
        let left = await thread.ask { desk in
            let timer = desk.loop.timer {}
            timer.start(milliseconds: 1_000_000)
            desk.loop.noticeSleep(Clock.bootMilliseconds - desk.loop.timerClock)
            return timer.millisecondsLeft
        }
        #expect((940_000...1_000_000).contains(left))
        thread.stop()
    }
}
