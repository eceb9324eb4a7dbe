import BackhaulPlatform
import Testing

@testable import BackhaulLoop

@Suite("System sleep")
struct SleepTests {
    @Test("a system sleep reduces the remaining time of each timer, and a timer that is then due fires at once")
    func counts() async throws {
        let thread = try startLoop()
        let left: Int64 = await thread.event { context, done in
            let late = context.loop.timer {}
            late.start(milliseconds: 10_000_000)
            context.kept.append(late)
            let due = context.loop.timer { done(late.millisecondsLeft) }
            due.start(milliseconds: 3_600_000)
            context.kept.append(due)
            context.loop.noticeSleep(Clock.bootMilliseconds - context.loop.timerClock + 4_000_000)
        }
        // A slow machine may need up to a minute for this test.
        #expect((5_940_000...6_000_000).contains(left))
        thread.stop()
    }

    @Test("a system sleep of 0 milliseconds changes no timer")
    func none() async throws {
        let thread = try startLoop()
        let left = await thread.ask { context in
            let timer = context.loop.timer {}
            timer.start(milliseconds: 1_000_000)
            context.loop.noticeSleep(Clock.bootMilliseconds - context.loop.timerClock)
            return timer.millisecondsLeft
        }
        #expect((940_000...1_000_000).contains(left))
        thread.stop()
    }
}
