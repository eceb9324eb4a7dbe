import BackhaulModel
import BackhaulStore
import Testing

@testable import BackhaulEngine

@Suite("Rate limits of transfers")
struct RateLimiterTests {
    let runtime = FakeRuntime()
    let limiter: RateLimiter
    let session = SessionID(rawValue: 1)
    let task = TaskID(rawValue: 1)

    init() { limiter = RateLimiter(runtime) }

    private var resumed: [TaskID] {
        runtime.takeEffects().flatMap { (effect: EngineEffect) -> [TaskID] in
            if case .resume(let tasks) = effect { tasks } else { [] }
        }
    }

    @Test("transfers have no rate limit by default")
    func unlimited() {
        #expect(limiter.isUnlimited && limiter.mayMove(task, of: session))
        #expect(!limiter.isLimited(task, of: session))
    }

    @Test("a transfer that has used up its rate limit is paused, and is resumed later")
    func resumes() {
        limiter.setRate(100_000, of: .session(session))
        limiter.moved(200_000, by: task, of: session)
        #expect(!limiter.mayMove(task, of: session))
        #expect(limiter.isWaiting(task))
        runtime.endIteration()
        runtime.advance(milliseconds: 1_000)
        #expect(resumed.isEmpty)
        runtime.advance(milliseconds: 2_000)
        #expect(resumed == [task])
    }

    @Test("a paused transfer resumes when its rate limit is removed")
    func limitTakenAway() {
        limiter.setRate(1_000, of: .engine)
        limiter.moved(1_000_000, by: task, of: session)
        #expect(!limiter.mayMove(task, of: session))
        limiter.setRate(nil, of: .engine)
        runtime.endIteration()
        runtime.advance(milliseconds: 1)
        #expect(resumed == [task])
    }
}
