import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("Deadlines of waiting tasks")
struct DeadlineControllerTests {
    let world = ConditionWorld()
    var deadlines: DeadlineController { world.deadlines }
    var calendar: CalendarWatch { world.below.calendar }

    private func overdueTask() -> StoredTask {
        var task = world.below.task(1)
        task.request.options.policy.resourceTimeoutMilliseconds = 1_000
        task.enqueuedMilliseconds = calendar.milliseconds - 2_000
        return task
    }

    @Test("ready tasks past their deadline are ended, checked every five seconds")
    func ready() {
        world.makeReady(overdueTask(), world.below.task(2))
        #expect(deadlines.endOverdueReadyTasks().overdue == [1])
        #expect(deadlines.endOverdueReadyTasks().isEmpty)
        world.runtime.advance(milliseconds: 5_000)
        #expect(deadlines.endOverdueReadyTasks().overdue == [1])
    }

    @Test("the next deadline of held tasks is read once, and its tasks end then")
    func held() throws {
        deadlines.tasksAreHeld(of: PartWorld.session)
        deadlines.tasksAreHeld(of: PartWorld.session)
        world.runtime.endTurn()
        #expect(world.runtime.pendingStoreCalls == 1)
        try world.runtime.storeReturns(Int64?.some(calendar.milliseconds - 1))
        #expect(world.runtime.takeEffects().has(\.isPlanLook))
        #expect(deadlines.untilNext ?? .max <= 0)
        deadlines.look()
        try world.runtime.storeReturns([overdueTask()])
        #expect(world.runtime.takeEffects().overdue == [1])
    }

    @Test("deadlines move with a clock step")
    func moved() throws {
        deadlines.tasksAreHeld(of: PartWorld.session)
        world.runtime.endTurn()
        try world.runtime.storeReturns(Int64?.some(calendar.milliseconds + 60_000))
        #expect(deadlines.calendarStepped(by: -7_200_000).has(\.isPlanLook))
        #expect(deadlines.untilNext ?? .max <= 60_000 - 7_200_000)
    }

    @Test("deadlines of sessions without held tasks are dropped")
    func forgotten() throws {
        deadlines.tasksAreHeld(of: PartWorld.session)
        world.runtime.endTurn()
        try world.runtime.storeReturns(Int64?.some(calendar.milliseconds + 1_000))
        deadlines.forgetEnds(except: [PartWorld.session])
        #expect(deadlines.untilNext != nil)
        deadlines.forgetEnds(except: [])
        #expect(deadlines.untilNext == nil)
    }

    @Test("after a clock step the store's times are moved before they are compared")
    func step() {
        _ = deadlines.latestStart(at: Clock.wallMilliseconds - 1)
        let now = CalendarWatch.readClock()
        calendar.begin(ClockReading(wall: now.wall - 3_600_000, boot: now.boot, bootID: now.bootID))
        deadlines.look()
        #expect(world.runtime.pendingStoreCalls == 2)
        #expect(world.runtime.storeAwaits(Int64.self))
    }

    @Test("the earliest of several latest starts is the next one")
    func earliest() {
        let now = Clock.wallMilliseconds
        #expect(deadlines.latestStart(at: now + 60_000).count == 1)
        #expect(deadlines.latestStart(at: now + 90_000).isEmpty)
        #expect(deadlines.latestStart(at: nil).isEmpty)
        #expect(deadlines.untilNext.map { $0 <= 60_000 } == true)
    }

    @Test("at a latest start its lane is loaded again, and the next latest start is planned")
    func passed() throws {
        _ = deadlines.latestStart(at: Clock.wallMilliseconds - 1)
        deadlines.look()
        var moved = RestatedTasks()
        moved.lanes = [ConditionWorld.lane.id]
        moved.next = Clock.wallMilliseconds + 60_000
        try world.runtime.storeReturns(moved)
        #expect(world.runtime.takeEffects().waiting == [[1]])
        #expect(deadlines.untilNext != nil)
    }

    @Test("a failed transaction is repeated a second later")
    func failed() throws {
        _ = deadlines.latestStart(at: Clock.wallMilliseconds - 1)
        deadlines.look()
        try world.runtime.storeReturns(Result<RestatedTasks, Failure>.failure(Failure(.storeFull, "full")))
        #expect(deadlines.untilNext.map { (1...1_000).contains($0) } == true)
    }
}
