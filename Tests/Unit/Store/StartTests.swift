import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Earliest and latest starts")
struct StartTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func due(_ store: TestStore) throws -> Int64? {
        try store.run { try $0.delays.nextDue() }
    }

    private func reason(_ store: TestStore, _ session: SessionID) throws -> WaitReason? {
        try store.tasks(of: session).first?.reason
    }

    @Test("a task waits for its earliest start, and then for a slot")
    func earliest() throws {
        let made = try store.enqueue(session, earliest: 25_000)
        #expect(made.nextDue == 15_000)
        #expect(try reason(store, session) == .earliestStart)
        #expect(try store.tasks(of: session).first?.earliestStartMilliseconds == 25_000)
        let lanes = try store.run { transaction in
            let early = try transaction.delays.releaseDue(bootMilliseconds: 14_999).lanes
            return (early, try transaction.delays.releaseDue(bootMilliseconds: 15_000).lanes)
        }
        #expect(lanes.0.isEmpty && lanes.1 == made.lanes)
        #expect(try reason(store, session) == .slot)
    }

    @Test("a release and a resume return the highest priority of their tasks")
    func priority() throws {
        for (number, priority) in [1: Int32(-5), 2: 7] {
            _ = try store.enqueue(session, earliest: 25_000, number: number) { $0.priority = priority }
        }
        let released = try store.run { try $0.delays.releaseDue(bootMilliseconds: 15_000) }
        #expect(released.priority == 7)
        try store.control(session, .suspend)
        let resumed = try store.run {
            try $0.control.apply(.resume, to: TaskSelection(), of: session, running: [], now: 30_000)
        }
        #expect(resumed.priority == 7)
    }

    @Test("a task whose earliest start has passed waits only for a slot")
    func come() throws {
        #expect(try store.enqueue(session, earliest: 20_000).nextDue == nil)
        #expect(try reason(store, session) == .slot)
    }

    @Test("an extreme earliest or latest start causes no crash")
    func endOfTime() throws {
        let made = try store.enqueue(session, earliest: .max, latest: .max)
        #expect(try #require(made.nextDue) > 31_557_600_000 * 900)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 99_000, boot: 11_000, bootID: "b")) }
        #expect(try reason(store, session) == .earliestStart)
    }

    @Test("even after a resume, or with the highest priority, a task waits for its earliest start")
    func resume() throws {
        _ = try store.enqueue(session, earliest: 25_000)
        for control in [TaskControl.resume, .setPriority(Limits.priorityNow)] {
            try store.control(session, control)
            #expect(try reason(store, session) == .earliestStart)
        }
    }

    @Test("after a suspended task is resumed, it waits for its earliest start", arguments: [false, true])
    func suspended(fromTheStart: Bool) throws {
        let made = try store.enqueue(session, earliest: 25_000) { $0.startsSuspended = fromTheStart }
        #expect((made.nextDue == nil) == fromTheStart)
        if !fromTheStart { try store.control(session, .suspend) }
        #expect(try due(store) == nil)
        let change = try store.run {
            try $0.control.apply(
                .resume, to: TaskSelection(), of: session, running: [], now: 21_000, bootMilliseconds: 11_000)
        }
        #expect(change.nextDue == 15_000)
        #expect(try reason(store, session) == .earliestStart)
        try store.control(session, .suspend)
        let late = try store.run {
            try $0.control.apply(
                .resume, to: TaskSelection(), of: session, running: [], now: 26_000, bootMilliseconds: 16_000)
        }
        #expect(late.nextDue == nil)
        #expect(try reason(store, session) == .slot)
    }

    @Test("an earliest start keeps its wall-clock time after the clock is set")
    func jump() throws {
        _ = try store.enqueue(session, earliest: 100_000)
        #expect(try due(store) == 90_000)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 61_000, boot: 11_000, bootID: "b")) }
        #expect(try due(store) == 50_000)
    }

    @Test("an earliest start keeps its wall-clock time after a reboot")
    func boot() throws {
        let scratch = Scratch()
        let session: SessionID
        do {
            let store = try TestStore(scratch.path)
            session = try store.session()
            _ = try store.enqueue(session, earliest: 100_000)
            try store.run { try $0.connection.execute("UPDATE meta SET value = 'gone' WHERE key = 'boot_id'") }
            store.close()
        }
        let store = try TestStore(scratch.path)
        #expect(try due(store) == 0)
        try store.run { _ = try $0.delays.adopt(ClockReading(wall: 70_000, boot: 500, bootID: "c")) }
        #expect(try due(store) == 30_500)
        #expect(try reason(store, session) == .earliestStart)
    }

    @Test("a task is marked as past its latest start, even if that time passed before the enqueue")
    func latest() throws {
        let made = try store.enqueue(session, latest: 30_000) { $0.options.policy.constraints.preset = .overnight }
        #expect(made.nextLatestStart == 30_000)
        let task = made.results[0].task
        let early = try store.run { try $0.starts.applyLatestStarts(now: 29_999) }
        #expect(early == RestatedTasks(next: 30_000))
        let moved = try store.run { try $0.starts.applyLatestStarts(now: 30_000) }
        #expect(moved.next == nil)
        #expect(moved.lanes == made.lanes)
        let constraints = try #require(moved.constraints.values.first)
        #expect(constraints.constraints.isPastLatestStart && constraints.constraints.stated.preset == .overnight)
        #expect(moved.tasks == [task: constraints.id])
        #expect(try store.tasks(of: session).first?.latestStartMilliseconds == 30_000)

        let late = try store.enqueue(session, latest: 20_000, number: 2)
        #expect(late.nextLatestStart == nil)
        let stated = try store.constraints(of: late.results.map(\.task))
        #expect(stated.map(\.constraints) == [TaskConstraints(isPastLatestStart: true)])
    }

    @Test("many latest starts at the same time are handled in batches")
    func batches() throws {
        let requests = (0..<5_000).map { Request.numbered($0) { $0.options.latestStartMilliseconds = 9_000 } }
        try store.enqueue(requests, in: session)
        let first = try store.run { try $0.starts.applyLatestStarts(now: 9_000) }
        #expect(first.tasks.count == 4_096)
        #expect(first.next == 9_000)
        let second = try store.run { try $0.starts.applyLatestStarts(now: 9_000) }
        #expect(second.tasks.count == 5_000 - 4_096)
        #expect(second.next == nil && second.constraints == first.constraints)
    }

    @Test("tasks that wait for a budget are checked in order and in batches")
    func evaluatedInBatches() throws {
        let ids = try store.enqueue((0..<5_000).map { .numbered($0) }, in: session)
        func evaluate(after last: DelayedTask?, _ due: Int64?) throws -> EvaluatedDelays {
            try store.run { transaction in
                try transaction.delays.evaluate(for: .budget, after: last) { $0.task == ids[4_999] ? 70 : due }
            }
        }
        func delayed() throws -> [DelayedTask] {
            try store.run { try $0.delays.tasks(for: .budget) }
        }
        try store.run { try $0.delays.begin(ids, until: 50, for: .budget) }
        var batches = 0
        var last: DelayedTask?
        repeat {
            last = try evaluate(after: last, 60).last
            batches += 1
        } while last != nil && batches < 9
        #expect(last == nil)
        #expect(try delayed().map(\.due) == Array(repeating: 60, count: 4_999) + [70])
        let first = try evaluate(after: nil, nil)
        #expect(first.lanes.count == 1 && first.next == nil && first.last?.task == ids[4_095])
        let second = try evaluate(after: first.last, nil)
        #expect(second.next == 70 && second.last == nil)
        #expect(try delayed().map(\.task) == [ids[4_999]])
    }

    @Test("overdue tasks are ordered by deadline; a longer time-out or a suspension makes a task's deadline later")
    func overdue() throws {
        var configuration = SessionConfiguration(identifier: "gallery")
        configuration.resourceTimeoutMilliseconds = 100_000
        let made = configuration
        try store.run { try $0.sessions.update(session, made) }
        func enqueue(_ number: Int, at now: Int64, timeout: UInt64? = nil) throws -> TaskID {
            let request = Request.numbered(number) { $0.options.policy.resourceTimeoutMilliseconds = timeout }
            return try store.run { try $0.tasks.enqueue([(request, .example)], in: session, now: now).results[0].task }
        }
        let first = try enqueue(1, at: 1_000)
        let second = try enqueue(2, at: 2_000)
        let own = try enqueue(3, at: 3_000, timeout: 50_000)
        func over(_ now: Int64) throws -> [TaskID] {
            try store.run { try $0.tasks.overdue(of: session, limit: 9, now: now).map(\.id) }
        }
        func next() throws -> Int64? {
            try store.run { try $0.tasks.nextTimeoutEnd(of: session) }
        }
        #expect(try next() == 53_000)
        for (control, now) in [(TaskControl.suspend, Int64(4_000)), (.resume, 14_000)] {
            try store.run { transaction in
                let selection = TaskSelection(ids: [first, own])
                _ = try transaction.control.apply(control, to: selection, of: session, running: [], now: now)
            }
        }
        #expect(try next() == 63_000)
        #expect(try over(62_999).isEmpty)
        #expect(try over(63_000) == [own])
        try store.end(own)
        #expect(try next() == 102_000)
        #expect(try over(105_000) == [second])
        #expect(try over(111_000) == [second, first])
        try store.end(first)
        try store.end(second)
        #expect(try next() == nil)
    }
}
