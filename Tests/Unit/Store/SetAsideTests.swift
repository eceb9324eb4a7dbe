import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Tasks that are set aside")
struct SetAsideTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func requests(_ numbers: ClosedRange<Int>) -> [Request] {
        numbers.map { .numbered($0) { $0.options.group = "album" } }
    }

    private func control(
        _ store: TestStore, _ session: SessionID, _ control: TaskControl, _ task: TaskID
    ) throws -> UInt64 {
        try store.run {
            try $0.control.apply(
                control, to: TaskSelection(ids: [task]), of: session, running: [], now: 30_000,
                bootMilliseconds: 20_000)
        }.count
    }

    /// Returns the rounds of the session's events: positive for the end of a task or a group, negative for the end of
    /// the round.
    private func rounds(_ store: TestStore, _ session: SessionID) throws -> [Int] {
        try store.events(of: session).map { $0.kind == .sessionFinished ? -Int($0.round) : Int($0.round) }
    }

    private func canStart(_ store: TestStore) throws -> Bool {
        try store.run { try $0.lanes.anyStarts() }
    }

    private func overdue(_ store: TestStore, at boot: Int64) throws -> [TaskID] {
        try store.run { transaction in
            let released = try transaction.delays.releaseDue(bootMilliseconds: boot)
            guard released.lanes.isEmpty else { throw Failure(.internal, "a task was released") }
            return try transaction.delays.overdueAside(bootMilliseconds: boot).map(\.id)
        }
    }

    @Test("a task that is set aside is waiting and not running, even while its transfer stops")
    func stopping() throws {
        let task = try store.enqueue(requests(1...1), in: session)[0]
        #expect(try control(store, session, .setAside, task) == 1)
        for states: TaskStates in [TaskStates(.running), TaskStates(.waiting), .live] {
            let listed = try store.run {
                try $0.listing.tasks(
                    of: session, TaskSelection(states: states), after: TaskID(rawValue: 0), maximum: 9, running: [task],
                    bootMilliseconds: 0, now: 0
                ).tasks.map(\.state)
            }
            #expect(listed == (states == TaskStates(.running) ? [] : [TaskState.waiting]))
        }
        let cancelled = try store.run {
            try $0.control.apply(
                .cancel, to: TaskSelection(states: TaskStates(.running)), of: session, running: [task], now: 30_000)
        }
        #expect(cancelled.count == 0)
    }

    @Test("a task that is set aside is found as waiting if its request is enqueued again while its transfer stops")
    func enqueuedAgain() throws {
        let request = Request.numbered(1) { $0.idempotencyKey = "a" }
        let task = try store.enqueue([request], in: session)[0]
        #expect(try control(store, session, .setAside, task) == 1)
        let found = try store.run {
            try $0.tasks.enqueue([(request, .example)], in: session, now: 2_000, running: [task]).results
        }
        #expect(found.map(\.state) == [.waiting])
    }

    @Test("a round and a group end without a task that is set aside, and the task stays unfinished")
    func endsWithout() throws {
        let tasks = try store.enqueue(requests(1...2), in: session)
        #expect(try control(store, session, .setAside, tasks[0]) == 1)
        #expect(try control(store, session, .setAside, tasks[0]) == 0)
        #expect(try control(store, session, .suspend, tasks[0]) == 0)
        #expect(try rounds(store, session) == [] && canStart(store))
        try store.end(tasks[1])
        #expect(try rounds(store, session) == [1, 1, -1] && !canStart(store))
        let info = try #require(try store.tasks(of: session).first)
        #expect(info.state == .waiting && info.reason == .suspended && info.nextAttemptMilliseconds == 0)
        #expect(try store.info(session)?.liveTasks == 1)
    }

    @Test("if the last running or suspended task is set aside, its group and its round end", arguments: [false, true])
    func lastTask(isSuspended: Bool) throws {
        let tasks = try store.enqueue(requests(1...2), in: session)
        try store.end(tasks[0])
        if isSuspended { _ = try control(store, session, .suspend, tasks[1]) }
        #expect(try control(store, session, .setAside, tasks[1]) == 1)
        #expect(try rounds(store, session) == [1, 1, -1])
    }

    @Test("a resumed task counts for the open round or the next one, and for its group", arguments: [false, true])
    func resumed(isOpen: Bool) throws {
        let tasks = try store.enqueue(requests(1...2), in: session)
        _ = try control(store, session, .setAside, tasks[0])
        if !isOpen { try store.end(tasks[1]) }
        #expect(try control(store, session, .resume, tasks[0]) == 1)
        #expect(try canStart(store) && store.tasks(of: session)[0].reason == .slot)
        if isOpen { try store.end(tasks[1]) }
        try store.end(tasks[0])
        #expect(try rounds(store, session) == (isOpen ? [1, 1, 1, -1] : [1, 1, 2, 2, -2]))
    }

    @Test("the end of a task that is set aside ends no round", arguments: [false, true], [false, true])
    func ended(isCancelled: Bool, isOpen: Bool) throws {
        let tasks = try store.enqueue(requests(1...2), in: session)
        _ = try control(store, session, .setAside, tasks[0])
        if !isOpen { try store.end(tasks[1]) }
        if isCancelled {
            #expect(try control(store, session, .cancel, tasks[0]) == 1)
        } else {
            try store.end(tasks[0], Outcome(state: .failed, failure: Failure(.timeout, "late")))
        }
        if isOpen { try store.end(tasks[1]) }
        #expect(try rounds(store, session) == (isOpen ? [1, 1, 1, -1] : [1, 1, -1, 1]))
        #expect(try store.info(session)?.liveTasks == 0)
    }

    @Test("a task that is set aside is overdue at the end of its resource time-out, also after a reboot")
    func overdue() throws {
        let request = Request.numbered(1) { $0.options.policy.resourceTimeoutMilliseconds = 100_000 }
        let task = try store.enqueue([request], in: session)[0]
        _ = try control(store, session, .setAside, task)
        // The task was enqueued at 2,000 ms, so it ends at 102,000 ms. At this time the boot clock shows 92,000 ms.
        #expect(try overdue(store, at: 91_999) == [])
        #expect(try overdue(store, at: 92_000) == [task])
        #expect(try overdue(store, at: 92_000) == [])
        try store.run { transaction in
            try transaction.tables.delays.clearAfterBoot()
            try transaction.challenges.rescheduleParked(bootMilliseconds: 1_000, now: 50_000)
        }
        #expect(try overdue(store, at: 52_999) == [])
        #expect(try overdue(store, at: 53_000) == [task])
    }

    @Test("a new resource time-out of the session applies to a task that is set aside")
    func prolonged() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        _ = try control(store, session, .setAside, task)
        try store.run { transaction in
            var configuration = try transaction.sessions.configuration(of: session)
            configuration.resourceTimeoutMilliseconds = 100_000
            try transaction.sessions.update(session, configuration)
            try transaction.challenges.rescheduleParked(of: session, bootMilliseconds: 20_000, now: 30_000)
        }
        #expect(try overdue(store, at: 91_999) == [])
        #expect(try overdue(store, at: 92_000) == [task])
    }

    @Test("an attempt that ends after its task was set aside does not change this")
    func lateAttempt() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        _ = try control(store, session, .setAside, task)
        try store.run { try $0.tables.delays.delay(task, until: 25_000, for: .retry) }
        #expect(try store.tasks(of: session)[0].reason == .suspended)
        #expect(try rounds(store, session) == [-1])
    }

    @Test("an invalidated session stays until the task that is set aside has ended")
    func invalidated() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        _ = try control(store, session, .setAside, task)
        let change = try store.run { try $0.sessions.invalidate(session, cancelTasks: false, now: 30_000) }
        #expect(try !store.acknowledge(session, .through(change.newestEvent)).sessionRemoved)
        let end = try #require(try store.end(task))
        #expect(try store.acknowledge(session, .through(end.newestEvent)).sessionRemoved)
    }
}
