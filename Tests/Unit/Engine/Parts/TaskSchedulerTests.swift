import BackhaulModel
import BackhaulPlatform
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

/// To *load* a lane is to read its next tasks from the store. A *manual retry* is a command to run waiting tasks now.
@Suite("The scheduler")
struct TaskSchedulerTests {
    let fixture = EngineFixture()
    var scheduler: TaskScheduler { fixture.scheduler }
    var lane: Lane { EngineFixture.lane }

    /// Loads these tasks of the lane.
    private func load(_ numbers: ClosedRange<UInt64>) {
        scheduler.add(lane, reload: false)
        #expect(scheduler.next(room: 100).loaded == [1])
        scheduler.loaded(lane.id, numbers.map { fixture.task($0) }, isAll: true)
    }

    @Test("the scheduler starts tasks in order, up to the session's limit of running tasks for one server")
    func limit() {
        load(1...10)
        let limit = Int(SessionConfiguration(identifier: "a").connectionsPerOrigin)
        #expect(scheduler.next(room: 100).started == Array(1...UInt64(limit)))
        #expect(scheduler.next(room: 100).started.isEmpty)
        scheduler.released(lane.id)
        #expect(scheduler.next(room: 100).started == [UInt64(limit) + 1])
    }

    @Test("after a response over HTTP/1.1, the limit of connections to one server applies to each task again")
    func noLongerMultiplexed() {
        load(1...20)
        let limit = UInt64(SessionConfiguration(identifier: "a").connectionsPerOrigin)
        #expect(scheduler.next(room: 100).started == Array(1...limit))
        scheduler.setMultiplexed(lane.id, true)
        #expect(scheduler.next(room: 2).started == [limit + 1, limit + 2])
        scheduler.setMultiplexed(lane.id, false)
        scheduler.released(lane.id)
        #expect(scheduler.next(room: 100).started.isEmpty)
    }

    @Test("the scheduler starts only as many tasks as there are free slots")
    func room() {
        load(1...3)
        #expect(scheduler.next(room: 0).started.isEmpty)
        #expect(scheduler.next(room: 2).started == [1, 2])
        #expect(scheduler.next(room: 1).started == [3])
    }

    @Test("when a task is added, the scheduler drops the loaded tasks of a lower priority, and loads the lane again")
    func lowerPriority() {
        var lower = fixture.task(2)
        lower.request.priority = -5
        scheduler.add(lane, reload: false)
        #expect(scheduler.next(room: 100).loaded == [1])
        scheduler.loaded(lane.id, [fixture.task(1), lower], isAll: true)
        scheduler.tasksWait(in: [lane.id], reload: false, priority: 0)
        #expect(scheduler.ready.keys.map(\.rawValue) == [1])
        #expect(scheduler.next(room: 100).loaded == [1])
    }

    @Test("after `drop` removes a task from the scheduler, the scheduler does not start this task")
    func dropped() {
        load(1...2)
        #expect(scheduler.drop(TaskID(rawValue: 1))?.id.rawValue == 1)
        #expect(scheduler.drop(TaskID(rawValue: 1)) == nil)
        #expect(scheduler.next(room: 100).started == [2])
    }

    @Test("the scheduler runs one time at the end of a loop iteration, even if two runs are planned")
    func once() {
        scheduler.plan()
        scheduler.plan()
        fixture.runtime.endIteration()
        #expect(fixture.runtime.takeEffects().count { if case .startReadyTasks = $0 { true } else { false } } == 1)
    }

    @Test("the scheduler reads an unknown lane from the store")
    func unknownLane() throws {
        scheduler.tasksWait(in: [lane.id], reload: false)
        try fixture.runtime.storeReturns([lane])
        #expect(scheduler.next(room: 100).loaded == [1])
    }

    /// Returns these lanes to the scheduler as the lanes of released tasks.
    private func dueReturns(_ lanes: Set<LaneID>, complete: [StoredTask] = []) throws {
        try fixture.runtime.storeReturns(
            (
                released: ReleasedTasks(lanes: lanes, complete: complete), overdue: [StoredTask](), next: nil as Int64?
            ))
    }

    @Test("a due task with a complete file runs without a slot, even while its origin is paused")
    func complete() throws {
        scheduler.setOriginWidths([EngineFixture.origin: 0])
        scheduler.releaseDue()
        try dueReturns([], complete: [fixture.task(1)])
        #expect(fixture.runtime.takeEffects().finished == [1])
    }

    @Test("the scheduler releases delayed tasks when they are due, the earliest first")
    func due() throws {
        scheduler.add(lane, reload: false)
        scheduler.due(at: fixture.runtime.now + 5_000)
        scheduler.due(at: fixture.runtime.now + 1_000)
        fixture.runtime.advance(milliseconds: 999)
        #expect(fixture.runtime.pendingStoreCalls == 0)
        fixture.runtime.advance(milliseconds: 1)
        #expect(fixture.runtime.takeEffects().isToReleaseDue)
        scheduler.releaseDue()
        try dueReturns([lane.id])
        fixture.runtime.endIteration()
        #expect(fixture.runtime.takeEffects().isToStart)
    }

    @Test("a second after a call of `reloadLater`, the scheduler starts to load the lane again")
    func reloadsLater() throws {
        load(1...1)
        scheduler.reloadLater([lane.id])
        fixture.runtime.advance(milliseconds: 1_000)
        #expect(fixture.runtime.takeEffects().isToReleaseDue)
        scheduler.releaseDue()
        try dueReturns([])
        fixture.runtime.endIteration()
        #expect(fixture.runtime.takeEffects().isToStart)
    }

    @Test("if there is no route to a server, the scheduler starts no task for this server until a manual retry")
    func unreachable() {
        load(1...1)
        let (_, effects) = fixture.reachability.hold(fixture.task(1))
        #expect(effects.contains { if case .holdChanged = $0 { true } else { false } })
        scheduler.holdChanged(of: [lane.id])
        #expect(scheduler.next(room: 100).started.isEmpty)
        _ = fixture.reachability.retryNow([lane.id])
        scheduler.holdChanged(of: [lane.id])
        #expect(scheduler.next(room: 100).started == [1])
    }
}
