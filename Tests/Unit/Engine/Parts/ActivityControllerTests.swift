import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulModel
@testable import BackhaulStore

@Suite("The controller of activities")
struct ActivityControllerTests {
    typealias Found = (open: [OpenActivity], next: Int64?)

    /// The facts that the controller gets from other parts of the engine.
    final class Surroundings {
        /// The holds of the activities, or nil until the conditions are read.
        var holds: [Hold]? = []
        var isEnding = false
    }

    let runtime = FakeRuntime()
    let around = Surroundings()
    let log = Lock<[String]>([])
    let activities: ActivityController
    static let holdsForPower = [Hold(.power, "on battery")]
    static let isFull = Result<ActivityStart?, Failure>.failure(Failure(.storeFull, "no space"))

    init() {
        let (runtime, around, log) = (runtime, around, log)
        activities = ActivityController(
            runtime, CalendarWatch(runtime), log: { entry in log.withLock { $0.append(entry.message) } },
            holds: { _, _ in around.holds }, isEnding: { around.isEnding })
    }

    /// Returns an activity whose window opens after `milliseconds` and lasts ten seconds.
    private func activity(
        _ number: UInt64 = 1, in milliseconds: Int64 = 0, _ quality: QualityOfService = .utility,
        livingTask: UInt64? = nil
    ) -> OpenActivity {
        OpenActivity(
            id: ActivityID(rawValue: number), session: EngineFixture.session, identifier: "sync-\(number)",
            begin: runtime.clocks.wallMilliseconds + milliseconds, intervalMilliseconds: 3_600_000,
            toleranceMilliseconds: 10_000, repeats: true, qualityOfService: quality, hasRequest: false,
            livingTask: livingTask.map { TaskID(rawValue: $0) })
    }

    private func start() -> ActivityStart? {
        ActivityStart(
            change: Change(
                session: EngineFixture.session, application: "org.example", identifier: "photos", newestEvent: .zero))
    }

    /// Makes the pending call to the store return these activities.
    private func find(_ open: [OpenActivity], next: Int64? = nil) throws {
        try runtime.storeReturns((open: open, next: next) as Found)
    }

    private func isBeingStarted() -> Bool { (try? runtime.storeReturns(start())) != nil }

    private var announcements: Int {
        runtime.takeEffects().count { if case .announce = $0 { true } else { false } }
    }

    /// The conditions that the controller has reported last as needed.
    private var needs: ConditionSet? {
        runtime.takeEffects().compactMap { if case .activitiesNeed(let needs) = $0 { needs } else { nil } }.last
    }

    private var isIdle: Bool { runtime.takeEffects().contains { if case .mayBeIdle = $0 { true } else { false } } }

    @Test("an activity starts when its window is open and no condition holds it")
    func starts() throws {
        activities.check()
        try find([activity()])
        try runtime.storeReturns(start())
        #expect(announcements == 1)
        // After the start, the controller reads the next window.
        try find([])
        #expect(isIdle)
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("if an activity has a request, its start adds a task, and the scheduler and clients are notified")
    func enqueues() throws {
        activities.check()
        try find([activity()])
        var start = start()
        start?.enqueued = EnqueuedTasks(lanes: [EngineFixture.lane.id], nextDue: 5, nextLatestStart: 7)
        start?.change.withdrawsEnd = true
        try runtime.storeReturns(start)
        let effects = runtime.takeEffects()
        #expect(effects.waiting == [[1]])
        #expect(effects.contains { if case .due(5) = $0 { true } else { false } })
        #expect(effects.contains { if case .latestStart(7) = $0 { true } else { false } })
        #expect(effects.contains { if case .announce(let change) = $0 { change.withdrawsEnd } else { false } })
    }

    @Test("the activities are read again at the time that the store has returned")
    func waitsForWindow() throws {
        activities.check()
        try find([], next: runtime.clocks.wallMilliseconds + 5_000)
        runtime.advance(milliseconds: 4_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("an activity in its window waits while a condition holds it, and starts when the hold ends")
    func waitsForConditions() throws {
        around.holds = Self.holdsForPower
        activities.check()
        try find([activity()])
        activities.conditionsChanged()
        #expect(runtime.pendingStoreCalls == 0)
        around.holds = []
        activities.conditionsChanged()
        try find([activity()])
        #expect(isBeingStarted())
    }

    @Test("an activity does not start before its conditions are read, and until then it needs these conditions")
    func needsConditions() throws {
        around.holds = nil
        activities.check()
        try find([activity()])
        #expect(runtime.pendingStoreCalls == 0)
        #expect(needs == .network)
        activities.check()
        try find([])
        #expect(needs == [])
    }

    @Test("a user-initiated activity starts under any conditions, and needs none")
    func urgent() throws {
        around.holds = Self.holdsForPower
        activities.check()
        try find([activity(1, .userInitiated)])
        #expect(isBeingStarted())
        #expect(needs == [])
    }

    @Test("an activity starts at the end of its window even if conditions hold it")
    func startsAtEnd() throws {
        around.holds = Self.holdsForPower
        activities.check()
        let activity = activity()
        try find([activity])
        runtime.advance(milliseconds: 9_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        try find([activity])
        #expect(isBeingStarted())
    }

    @Test("activities start one after the other, and the store is read again after the last start")
    func oneByOne() throws {
        activities.check()
        try find([activity(1), activity(2)])
        #expect(runtime.pendingStoreCalls == 1)
        #expect(isBeingStarted())
        #expect(runtime.pendingStoreCalls == 1)
        #expect(isBeingStarted())
        try find([])
        #expect(announcements == 2)
    }

    @Test("a failed start of an activity is retried after a minute, and the failure is logged once")
    func failedStart() throws {
        activities.check()
        for _ in 1...3 {
            try find([activity()])
            try runtime.storeReturns(Self.isFull)
            try find([activity()])
            #expect(runtime.pendingStoreCalls == 0)
            runtime.advance(milliseconds: 59_999)
            #expect(runtime.pendingStoreCalls == 0)
            runtime.advance(milliseconds: 1)
        }
        #expect(
            log.withLock(\.self) == ["the activity sync-1 cannot start: no space; it is retried"])
    }

    @Test("after a command sets an activity, failed starts are retried immediately, and a second failure is not logged")
    func setAfterFailure() throws {
        activities.check()
        try find([activity()])
        try runtime.storeReturns(Self.isFull)
        try find([activity()])
        activities.activityChanged()
        try find([activity()])
        try runtime.storeReturns(Self.isFull)
        #expect(log.withLock(\.count) == 1)
    }

    @Test("an activity starts even if the start of another activity has failed")
    func otherFails() throws {
        activities.check()
        try find([activity(1), activity(2)])
        try runtime.storeReturns(Self.isFull)
        #expect(isBeingStarted())
        #expect(announcements == 1)
    }

    @Test("an activity waits until the task of its last start has ended")
    func livingTask() throws {
        activities.check()
        try find([activity(livingTask: 4)])
        #expect(runtime.pendingStoreCalls == 0)
        activities.tasksEnded([TaskID(rawValue: 3)])
        #expect(runtime.pendingStoreCalls == 0)
        activities.tasksEnded([TaskID(rawValue: 3), TaskID(rawValue: 4)])
        try find([activity()])
        #expect(isBeingStarted())
    }

    @Test("changes during a read of the activities cause one more read")
    func changesDuringLook() throws {
        activities.check()
        activities.check()
        activities.check()
        #expect(runtime.pendingStoreCalls == 1)
        try find([])
        #expect(runtime.pendingStoreCalls == 1)
        try find([])
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("if the store cannot be read, the activities are read again after a minute")
    func storeFails() throws {
        activities.check()
        try runtime.storeReturns(Result<Found, Failure>.failure(Failure(.storeFull, "no memory")))
        runtime.advance(milliseconds: 59_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("the activities are read at least once a day, so an error of the clock has an effect for one day at most")
    func longestCheckInterval() throws {
        activities.check()
        try find([], next: .max)
        runtime.advance(milliseconds: 86_400_000)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("no activity starts while the engine stops")
    func ending() {
        around.isEnding = true
        activities.check()
        #expect(runtime.pendingStoreCalls == 0)
    }
}
