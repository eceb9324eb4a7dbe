import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Rescheduled start times")
struct RescheduleTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func enqueue(
        _ store: TestStore, _ session: SessionID, earliest: Int64? = nil, latest: Int64? = nil, number: Int = 1,
        _ change: (inout Request) -> Void = { _ in }
    ) throws -> TaskID {
        try store.enqueue(session, earliest: earliest, latest: latest, number: number, change).results[0].task
    }

    @discardableResult
    private func reschedule(
        _ store: TestStore, _ session: SessionID, _ rescheduling: Rescheduling, at now: Int64 = 21_000,
        running: Set<TaskID> = []
    ) throws -> Change {
        try store.run {
            try $0.control.apply(
                .reschedule(rescheduling), to: TaskSelection(), of: session, running: running, now: now,
                bootMilliseconds: now - 10_000)
        }
    }

    private func control(_ store: TestStore, _ session: SessionID, _ control: TaskControl, at now: Int64) throws {
        _ = try store.run {
            try $0.control.apply(
                control, to: TaskSelection(), of: session, running: [], now: now, bootMilliseconds: now - 10_000)
        }
    }

    private func task(_ store: TestStore, _ session: SessionID) throws -> TaskInfo {
        try #require(try store.tasks(of: session).first)
    }

    private func waits(_ store: TestStore, _ session: SessionID, _ task: TaskID, now: Int64) throws -> [String]? {
        try store.run {
            try $0.waits.all(of: task, in: session, now: now)
        }?.map { "\($0.reason) \($0.beganMilliseconds)-\($0.endedMilliseconds.map(String.init) ?? "")" }
    }

    private func release(_ store: TestStore, at boot: Int64) throws {
        _ = try store.run { try $0.delays.releaseDue(bootMilliseconds: boot) }
    }

    /// Returns the tasks that the engine would start at this time.
    private func startable(_ store: TestStore, at now: Int64) throws -> [TaskID] {
        try store.run { transaction in
            guard let lane = try transaction.lanes.ready().first?.id else { return [] }
            let tasks = try transaction.lanes.waitingTasks(of: lane, limit: 9)
            let clock = StartClock(wall: now, boot: now - 10_000, calendar: now)
            return try transaction.starts.startable(tasks, clock).map(\.id)
        }
    }

    @Test("a task whose earliest start is removed becomes ready, and its wait record ends")
    func sooner() throws {
        let id = try enqueue(store, session, earliest: 90_000)
        let change = try reschedule(store, session, Rescheduling(earliest: .to(nil)), at: 30_000)
        #expect(change.tasks == [id] && change.count == 1 && change.lanes.count == 1)
        #expect(try task(store, session).reason == .slot)
        #expect(try task(store, session).earliestStartMilliseconds == nil)
        #expect(try waits(store, session, id, now: 40_000) == ["earliestStart 20000-30000"])
        #expect(try startable(store, at: 30_000) == [id])
    }

    @Test("a ready task that gets an earliest start waits until that time")
    func later() throws {
        let id = try enqueue(store, session)
        let change = try reschedule(store, session, Rescheduling(earliest: .to(90_000)), at: 30_000)
        #expect(change.nextDue == 80_000)
        let info = try task(store, session)
        #expect(info.reason == .earliestStart && info.earliestStartMilliseconds == 90_000)
        #expect(try startable(store, at: 30_000).isEmpty)
        #expect(try waits(store, session, id, now: 40_000) == ["earliestStart 30000-"])
        try release(store, at: 80_000)
        #expect(try startable(store, at: 90_000) == [id])
        #expect(try waits(store, session, id, now: 95_000) == ["earliestStart 30000-90000"])
    }

    @Test("a waiting task whose earliest start changes keeps its wait record")
    func moved() throws {
        let id = try enqueue(store, session, earliest: 90_000)
        try reschedule(store, session, Rescheduling(earliest: .to(70_000)), at: 30_000)
        #expect(try waits(store, session, id, now: 40_000) == ["earliestStart 20000-"])
        try release(store, at: 60_000)
        #expect(try waits(store, session, id, now: 80_000) == ["earliestStart 20000-70000"])
    }

    @Test("if a later time replaces an earliest start that has passed, the task has two wait records")
    func again() throws {
        let id = try enqueue(store, session, earliest: 25_000)
        try release(store, at: 15_000)
        try reschedule(store, session, Rescheduling(earliest: .to(90_000)), at: 40_000)
        #expect(try waits(store, session, id, now: 50_000) == ["earliestStart 20000-25000", "earliestStart 40000-"])
    }

    @Test("a running task that gets an earliest start continues, and its next attempt waits")
    func running() throws {
        let id = try enqueue(store, session)
        let change = try reschedule(store, session, Rescheduling(earliest: .to(90_000)), at: 30_000, running: [id])
        #expect(change.count == 1 && change.nextDue == nil)
        #expect(try waits(store, session, id, now: 31_000) == [])
        // From here on, the task does not run, because its attempt was stopped or has failed.
        #expect(try startable(store, at: 40_000).isEmpty)
        #expect(try task(store, session).reason == .earliestStart)
        #expect(try waits(store, session, id, now: 41_000) == ["earliestStart 40000-"])
        try release(store, at: 80_000)
        #expect(try startable(store, at: 90_000) == [id])
    }

    @Test(
        "a task with a retry delay and an earliest start waits for the later time, with one reason at a time",
        arguments: [WaitReason.retry, .origin])
    func retried(_ reason: WaitReason) throws {
        let id = try enqueue(store, session)
        var attempt = Attempt(task: id, number: 1, next: .retry)
        attempt.metrics.startedMilliseconds = 21_000
        attempt.nextAttemptMilliseconds = 60_000
        let record = AttemptRecord(
            attempts: 1, attemptsWithoutProgress: 1, bytesReceived: 0, nextAttempt: 50_000, reason: reason,
            attempt: attempt)
        try store.run { try $0.attempts.record(id, record) }
        try reschedule(store, session, Rescheduling(earliest: .to(55_000)), at: 30_000)
        #expect(try task(store, session).reason == reason)
        #expect(try waits(store, session, id, now: 31_000) == ["\(reason) 21000-"])
        let change = try reschedule(store, session, Rescheduling(earliest: .to(90_000)), at: 40_000)
        #expect(change.nextDue == 80_000)
        #expect(try task(store, session).reason == .earliestStart)
        #expect(try waits(store, session, id, now: 50_000) == ["retry 21000-40000", "earliestStart 40000-"])
    }

    @Test("if a suspended task gets an earliest start and is then resumed, the task waits until that time")
    func suspended() throws {
        let id = try enqueue(store, session)
        try control(store, session, .suspend, at: 21_000)
        try reschedule(store, session, Rescheduling(earliest: .to(90_000)), at: 30_000)
        #expect(try task(store, session).reason == .suspended)
        try control(store, session, .resume, at: 40_000)
        #expect(try task(store, session).reason == .earliestStart)
        #expect(try waits(store, session, id, now: 50_000) == ["suspended 21000-40000", "earliestStart 40000-"])
    }

    @Test("if a latest start is before the earliest start, the refusal names the task, and no task changes")
    func refused() throws {
        _ = try enqueue(store, session)
        let second = try enqueue(store, session, latest: 50_000, number: 2)
        let failure = #expect(throws: Failure.self) {
            try reschedule(store, session, Rescheduling(earliest: .to(60_000)))
        }
        #expect(failure?.message.contains("task \(second.rawValue) ") == true, "\(failure?.message ?? "")")
        #expect(try store.tasks(of: session).allSatisfy { $0.reason == .slot && $0.earliestStartMilliseconds == nil })
        try reschedule(store, session, Rescheduling(earliest: .to(60_000), latest: .to(nil)))
        #expect(try store.tasks(of: session).allSatisfy { $0.latestStartMilliseconds == nil })
    }

    @Test("a task loses its preset at its latest start, and regains the preset if that time is postponed")
    func latest() throws {
        let id = try enqueue(store, session) { $0.options.policy.constraints.preset = .overnight }
        let past = try reschedule(store, session, Rescheduling(latest: .to(21_000)))
        let stated = try #require(past.restated.constraints.values.first)
        #expect(stated.constraints.isPastLatestStart && stated.constraints.stated.preset == .overnight)
        #expect(past.restated.tasks == [id: stated.id] && past.restated.next == nil)
        let ahead = try reschedule(store, session, Rescheduling(latest: .to(40_000)))
        #expect(ahead.restated.next == 40_000)
        #expect(try #require(ahead.restated.tasks[id]) != stated.id)
        let moved = try store.run { try $0.starts.applyLatestStarts(now: 40_000) }
        #expect(moved.tasks == [id: stated.id])
    }

    @Test("a changed earliest start survives a reboot, and its wait record is listed even after the task has ended")
    func lasting() throws {
        let scratch = Scratch()
        let session: SessionID
        let id: TaskID
        do {
            let store = try TestStore(scratch.path)
            session = try store.session()
            id = try enqueue(store, session)
            try reschedule(store, session, Rescheduling(earliest: .to(90_000)), at: 30_000)
            try store.run { try $0.connection.execute("UPDATE meta SET value = 'gone' WHERE key = 'boot_id'") }
            store.close()
        }
        let store = try TestStore(scratch.path)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 70_000, boot: 500, bootID: "c")) }
        #expect(try store.run { try $0.delays.nextDue() } == 20_500)
        try release(store, at: 20_500)
        try store.run { transaction in
            _ = try transaction.endings.record(id, Outcome(state: .succeeded), now: 95_000)
            let newest = try transaction.sessions.info(of: session)?.info.newestEvent ?? .zero
            _ = try transaction.events.acknowledge(session, .through(newest))
        }
        #expect(try waits(store, session, id, now: 99_000) == ["earliestStart 30000-90000"])
    }
}
