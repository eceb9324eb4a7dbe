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

    @Test("ready tasks whose time is over are ended, looked for every five seconds")
    func ready() {
        world.makeReady(overdueTask(), world.below.task(2))
        #expect(deadlines.endOverdueReadyTasks().overdue == [1])
        #expect(deadlines.endOverdueReadyTasks().isEmpty)
        world.runtime.advance(milliseconds: 5_000)
        #expect(deadlines.endOverdueReadyTasks().overdue == [1])
    }

    @Test("the next end in a session with held tasks is read once, and its tasks are ended then")
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

    @Test("ends move with the calendar when it is set")
    func moved() throws {
        deadlines.tasksAreHeld(of: PartWorld.session)
        world.runtime.endTurn()
        try world.runtime.storeReturns(Int64?.some(calendar.milliseconds + 60_000))
        #expect(deadlines.calendarStepped(by: -7_200_000).has(\.isPlanLook))
        #expect(deadlines.untilNext ?? .max <= 60_000 - 7_200_000)
    }

    @Test("ends are forgotten where nothing is held any more")
    func forgotten() throws {
        deadlines.tasksAreHeld(of: PartWorld.session)
        world.runtime.endTurn()
        try world.runtime.storeReturns(Int64?.some(calendar.milliseconds + 1_000))
        deadlines.forgetEnds(except: [PartWorld.session])
        #expect(deadlines.untilNext != nil)
        deadlines.forgetEnds(except: [])
        #expect(deadlines.untilNext == nil)
    }

    @Test("a clock step moves the times in the store before any is judged by the new time")
    func step() {
        _ = deadlines.latestStart(at: Clock.wallMilliseconds - 1)
        let now = CalendarWatch.readClock()
        calendar.begin(ClockReading(wall: now.wall - 3_600_000, boot: now.boot, bootID: now.bootID))
        deadlines.look()
        #expect(world.runtime.pendingStoreCalls == 2)
        #expect(world.runtime.storeAwaits(Int64.self))
    }

    @Test("the earliest of several latest starts counts")
    func earliest() {
        let now = Clock.wallMilliseconds
        #expect(deadlines.latestStart(at: now + 60_000).count == 1)
        #expect(deadlines.latestStart(at: now + 90_000).isEmpty)
        #expect(deadlines.latestStart(at: nil).isEmpty)
        #expect(deadlines.untilNext.map { $0 <= 60_000 } == true)
    }

    @Test("after a latest start its tasks are restated, and the next one is waited for")
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

    @Test("a store that cannot commit is asked again a second later")
    func failed() throws {
        _ = deadlines.latestStart(at: Clock.wallMilliseconds - 1)
        deadlines.look()
        try world.runtime.storeReturns(Result<RestatedTasks, Failure>.failure(Failure(.storeFull, "full")))
        #expect(deadlines.untilNext.map { (1...1_000).contains($0) } == true)
    }
}
