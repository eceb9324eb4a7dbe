import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulModel
@testable import BackhaulStore

@Suite("Activities")
struct ActivityControllerTests {
    typealias Found = (open: [OpenActivity], next: Int64?)

    /// The facts that the controller gets from other parts of the engine.
    final class Surroundings {
        /// The holds of the activities. Nil: not read yet.
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
            holds: { _, _ in around.holds }, isEnding: { around.isEnding }, unixMilliseconds: { runtime.now })
    }

    /// Returns an activity whose window opens after `milliseconds` and lasts ten seconds.
    private func activity(
        _ number: UInt64 = 1, in milliseconds: Int64 = 0, _ quality: QualityOfService = .utility,
        livingTask: UInt64? = nil
    ) -> OpenActivity {
        OpenActivity(
            id: ActivityID(rawValue: number), session: PartWorld.session, identifier: "sync-\(number)",
            begin: runtime.now + milliseconds, intervalMilliseconds: 3_600_000, toleranceMilliseconds: 10_000,
            repeats: true, qualityOfService: quality, hasRequest: false,
            livingTask: livingTask.map { TaskID(rawValue: $0) })
    }

    private func start() -> ActivityStart? {
        ActivityStart(
            change: Change(
                session: PartWorld.session, application: "org.example", identifier: "photos", newestEvent: .zero))
    }

    /// The store returns these activities to the pending call.
    private func find(_ open: [OpenActivity], next: Int64? = nil) throws {
        try runtime.storeReturns((open: open, next: next) as Found)
    }

    private func isBeingStarted() -> Bool { (try? runtime.storeReturns(start())) != nil }

    private var announcements: Int {
        runtime.takeEffects().count { if case .announce = $0 { true } else { false } }
    }

    private var isIdle: Bool { runtime.takeEffects().contains { if case .mayBeIdle = $0 { true } else { false } } }

    @Test("start when their window is open and no condition holds them")
    func starts() throws {
        activities.look()
        try find([activity()])
        try runtime.storeReturns(start())
        #expect(announcements == 1)
        // The controller reads the next window.
        try find([])
        #expect(isIdle)
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("with a request add their task to its lane")
    func enqueues() throws {
        activities.look()
        try find([activity()])
        var start = start()
        start?.enqueued = EnqueuedTasks(lanes: [PartWorld.lane.id], nextDue: 5, nextLatestStart: 7)
        try runtime.storeReturns(start)
        let effects = runtime.takeEffects()
        #expect(effects.waiting == [[1]])
        #expect(effects.contains { if case .due(5) = $0 { true } else { false } })
        #expect(effects.contains { if case .latestStart(7) = $0 { true } else { false } })
        #expect(!effects.contains { if case .announce = $0 { true } else { false } })
    }

    @Test("wait for the time that the store returns")
    func waitsForWindow() throws {
        activities.look()
        try find([], next: runtime.now + 5_000)
        runtime.advance(milliseconds: 4_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("wait within the window while a condition holds them, and start when it ends")
    func waitsForConditions() throws {
        around.holds = Self.holdsForPower
        activities.look()
        try find([activity()])
        activities.conditionsChanged()
        #expect(runtime.pendingStoreCalls == 0)
        around.holds = []
        activities.conditionsChanged()
        try find([activity()])
        #expect(isBeingStarted())
    }

    @Test("do not start before their conditions are read, and report which are needed")
    func needsConditions() throws {
        around.holds = nil
        activities.look()
        try find([activity()])
        #expect(runtime.pendingStoreCalls == 0)
        #expect(activities.needs == .network)
        let changed = runtime.takeEffects().count { if case .prune = $0 { true } else { false } }
        #expect(changed == 1)
        activities.look()
        try find([])
        #expect(activities.needs.isEmpty)
    }

    @Test("need no conditions when they are user-initiated")
    func urgent() throws {
        around.holds = Self.holdsForPower
        activities.look()
        try find([activity(1, .userInitiated)])
        #expect(isBeingStarted())
        #expect(activities.needs.isEmpty)
    }

    @Test("start at the end of the window even if conditions hold them")
    func startsAtEnd() throws {
        around.holds = Self.holdsForPower
        activities.look()
        let activity = activity()
        try find([activity])
        runtime.advance(milliseconds: 9_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        try find([activity])
        #expect(isBeingStarted())
    }

    @Test("start one after the other, and the store is read again after the last")
    func oneByOne() throws {
        activities.look()
        try find([activity(1), activity(2)])
        #expect(runtime.pendingStoreCalls == 1)
        #expect(isBeingStarted())
        #expect(runtime.pendingStoreCalls == 1)
        #expect(isBeingStarted())
        try find([])
        #expect(announcements == 2)
    }

    @Test("are retried a minute after a failed start, which is logged once")
    func failedStart() throws {
        activities.look()
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
            log.withLock(\.self) == ["the activity sync-1 cannot start: no space; it is tried again"])
    }

    @Test("are retried at once when an activity is set, and a second failure is not logged")
    func setAfterFailure() throws {
        activities.look()
        try find([activity()])
        try runtime.storeReturns(Self.isFull)
        try find([activity()])
        activities.activityChanged()
        try find([activity()])
        try runtime.storeReturns(Self.isFull)
        #expect(log.withLock(\.count) == 1)
    }

    @Test("start even if the start of another has failed")
    func otherFails() throws {
        activities.look()
        try find([activity(1), activity(2)])
        try runtime.storeReturns(Self.isFull)
        #expect(isBeingStarted())
        #expect(announcements == 1)
    }

    @Test("wait until their last task has ended")
    func livingTask() throws {
        activities.look()
        try find([activity(livingTask: 4)])
        #expect(runtime.pendingStoreCalls == 0)
        activities.tasksEnded([TaskID(rawValue: 3)])
        #expect(runtime.pendingStoreCalls == 0)
        activities.tasksEnded([TaskID(rawValue: 3), TaskID(rawValue: 4)])
        try find([activity()])
        #expect(isBeingStarted())
    }

    @Test("are read once more after changes during a read")
    func changesDuringLook() throws {
        activities.look()
        activities.look()
        activities.look()
        #expect(runtime.pendingStoreCalls == 1)
        try find([])
        #expect(runtime.pendingStoreCalls == 1)
        try find([])
        #expect(runtime.pendingStoreCalls == 0)
    }

    @Test("are read again a minute after the store could not be read")
    func storeFails() throws {
        activities.look()
        try runtime.storeReturns(Result<Found, Failure>.failure(Failure(.storeFull, "no memory")))
        runtime.advance(milliseconds: 59_999)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("are read at least once a day, because the calendar may be wrong")
    func longestLook() throws {
        activities.look()
        try find([], next: .max)
        runtime.advance(milliseconds: 86_400_000)
        #expect(runtime.pendingStoreCalls == 1)
    }

    @Test("do not start while the engine stops")
    func ending() {
        around.isEnding = true
        activities.look()
        #expect(runtime.pendingStoreCalls == 0)
    }
}
