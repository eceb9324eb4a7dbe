import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// A *ready* task waits only for the right to run. To *load* a lane is to read its next tasks from the database.
@Suite("Deadlines of waiting tasks")
struct DeadlineControllerTests {
    let fixture = ConditionsFixture()
    var deadlines: DeadlineController { fixture.deadlines }
    var calendar: CalendarWatch { fixture.base.calendar }

    private func overdueTask() -> StoredTask {
        var task = fixture.base.task(1)
        task.request.options.policy.resourceTimeoutMilliseconds = 1_000
        task.enqueuedMilliseconds = calendar.milliseconds - 2_000
        return task
    }

    @Test("every five seconds, the controller ends ready tasks whose deadline has passed")
    func ready() {
        fixture.makeReady(overdueTask(), fixture.base.task(2))
        #expect(deadlines.checkReadyTasks().overdue == [1])
        #expect(deadlines.checkReadyTasks().isEmpty)
        fixture.runtime.advance(milliseconds: 5_000)
        #expect(deadlines.checkReadyTasks().overdue == [1])
    }

    @Test("the next deadline of held tasks is read once, and the overdue tasks end at that deadline")
    func held() throws {
        deadlines.tasksHeld(of: EngineFixture.session)
        deadlines.tasksHeld(of: EngineFixture.session)
        fixture.runtime.endIteration()
        #expect(fixture.runtime.pendingStoreCalls == 1)
        try fixture.runtime.storeReturns(Int64?.some(calendar.milliseconds - 1))
        #expect(fixture.runtime.takeEffects().has(\.isScheduleCheck))
        #expect(deadlines.untilNext ?? .max <= 0)
        deadlines.check()
        try fixture.runtime.storeReturns([overdueTask()])
        #expect(fixture.runtime.takeEffects().overdue == [1])
    }

    @Test("an overdue task that runs until its disk is done does not cause more than one check in a second")
    func finishing() throws {
        for _ in 0..<2 {
            deadlines.tasksHeld(of: EngineFixture.session)
            fixture.runtime.endIteration()
            try fixture.runtime.storeReturns(Int64?.some(calendar.milliseconds - 1))
            deadlines.check()
            if fixture.runtime.pendingStoreCalls > 0 { try fixture.runtime.storeReturns([overdueTask()]) }
        }
        #expect(deadlines.untilNext == 1_000)
    }

    @Test("when tasks begin to wait for a paused origin, the next deadline of their session is read")
    func pausedOrigin() throws {
        fixture.scheduler.setOriginWidths([ConditionsFixture.lane.origin: 0])
        fixture.scheduler.tasksWait(in: [ConditionsFixture.lane.id], reload: false)
        fixture.runtime.endIteration()
        let held: [SessionID] = fixture.runtime.takeEffects().compactMap {
            if case .tasksHeld(let session) = $0 { session } else { nil }
        }
        #expect(held == [EngineFixture.session])
        #expect(fixture.scheduler.pausedLanes.map(\.id) == [ConditionsFixture.lane.id])
        fixture.scheduler.setOriginWidths([ConditionsFixture.lane.origin: 1])
        #expect(fixture.scheduler.pausedLanes.isEmpty)
    }

    @Test("while a lane stays paused, the next deadline of its session is read once")
    func staysPaused() {
        for lanes in [[ConditionsFixture.lane], [ConditionsFixture.lane], [], [ConditionsFixture.lane]] {
            deadlines.tasksArePaused(in: lanes)
            fixture.runtime.endIteration()
        }
        #expect(fixture.runtime.pendingStoreCalls == 2)
    }

    @Test("a task is not overdue any more if the time-out of its session became longer")
    func prolonged() throws {
        var task = overdueTask()
        task.request.options.policy.resourceTimeoutMilliseconds = nil
        fixture.configure { $0.resourceTimeoutMilliseconds = 1_000 }
        #expect(deadlines.isOverdue(task))
        fixture.configure { $0.resourceTimeoutMilliseconds = 60_000 }
        #expect(!deadlines.isOverdue(task))
    }

    @Test("a clock step moves the deadlines")
    func moved() throws {
        deadlines.tasksHeld(of: EngineFixture.session)
        fixture.runtime.endIteration()
        try fixture.runtime.storeReturns(Int64?.some(calendar.milliseconds + 60_000))
        #expect(deadlines.calendarStepped(by: -7_200_000).has(\.isScheduleCheck))
        #expect(deadlines.untilNext ?? .max <= 60_000 - 7_200_000)
    }

    @Test("the deadlines of a removed session are dropped")
    func forgotten() throws {
        deadlines.tasksHeld(of: EngineFixture.session)
        fixture.runtime.endIteration()
        try fixture.runtime.storeReturns(Int64?.some(calendar.milliseconds + 1_000))
        #expect(deadlines.untilNext != nil)
        deadlines.forget(EngineFixture.session)
        #expect(deadlines.untilNext == nil)
    }

    @Test("after a clock step, stored times are moved before they are compared with the calendar")
    func step() {
        _ = deadlines.latestStart(at: fixture.runtime.clocks.wallMilliseconds - 1)
        let now = fixture.runtime.clocks.reading
        calendar.begin(ClockReading(wall: now.wall - 3_600_000, boot: now.boot, bootID: now.bootID))
        for effect in fixture.conditions.clockWasSet() {
            if case .checkCalendar = effect { calendar.check() }
            if case .checkDeadlines = effect { deadlines.check() }
        }
        #expect(fixture.runtime.pendingStoreCalls == 2)
        #expect(fixture.runtime.storeAwaits(Int64.self))
    }

    @Test("of several latest starts, the controller plans the one that is due first")
    func earliest() {
        let now = fixture.runtime.clocks.wallMilliseconds
        #expect(deadlines.latestStart(at: now + 60_000).count == 1)
        #expect(deadlines.latestStart(at: now + 90_000).isEmpty)
        #expect(deadlines.latestStart(at: nil).isEmpty)
        #expect(deadlines.untilNext.map { $0 <= 60_000 } == true)
    }

    @Test("at the latest start of a task, the task's lane is loaded again and the next latest start is planned")
    func passed() throws {
        _ = deadlines.latestStart(at: fixture.runtime.clocks.wallMilliseconds - 1)
        deadlines.check()
        var moved = RestatedTasks()
        moved.lanes = [ConditionsFixture.lane.id]
        moved.next = fixture.runtime.clocks.wallMilliseconds + 60_000
        try fixture.runtime.storeReturns(moved)
        #expect(fixture.runtime.takeEffects().waiting == [[1]])
        #expect(deadlines.untilNext != nil)
    }

    @Test("if the transaction at a latest start fails, it is repeated after a second")
    func failed() throws {
        _ = deadlines.latestStart(at: fixture.runtime.clocks.wallMilliseconds - 1)
        deadlines.check()
        try fixture.runtime.storeReturns(Result<RestatedTasks, Failure>.failure(Failure(.storeFull, "full")))
        #expect(deadlines.untilNext.map { (1...1_000).contains($0) } == true)
    }
}
