import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Attempts in the store")
struct AttemptTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func attempt(_ task: TaskID, _ number: UInt32, _ next: AttemptNext = .retry) -> Attempt {
        var attempt = Attempt(task: task, number: number, next: next)
        attempt.failure = next == .end ? nil : Failure(.connectionLost, "broken \(number)", domain: .curl, detail: 18)
        attempt.nextAttemptMilliseconds = next == .retry ? 5_000 + Int64(number) : 0
        attempt.offset = UInt64(number) * 10
        attempt.endOffset = UInt64(number) * 10 + 5
        attempt.httpStatus = 206
        attempt.metrics.startedMilliseconds = 7_000
        attempt.metrics.domainLookup = 11
        attempt.metrics.connect = 0
        attempt.metrics.networkProtocol = "h2"
        attempt.metrics.reusedConnection = true
        attempt.metrics.remoteAddress = "192.0.2.1"
        attempt.metrics.remotePort = 443
        attempt.metrics.responseBodyBytes = 5
        return attempt
    }

    private func fail(_ store: TestStore, _ task: TaskID, _ number: UInt32) throws {
        var record = AttemptRecord(
            attempts: number, attemptsWithoutProgress: number, bytesReceived: 0, nextAttempt: 1, reason: .retry)
        record.attempt = attempt(task, number)
        let written = record
        try store.run { try $0.attempts.record(task, written) }
    }

    private func end(_ store: TestStore, _ task: TaskID, _ number: UInt32) throws {
        var outcome = Outcome(state: .succeeded)
        outcome.attempts = number
        let (final, last) = (outcome, attempt(task, number, .end))
        try store.run { _ = try $0.endings.record(task, final, now: 3_000, attempt: last) }
    }

    private func attempts(_ store: TestStore, _ task: TaskID, _ session: SessionID) throws -> [Attempt] {
        try store.run { try $0.attempts.all(of: task, in: session) }
    }

    @Test("attempts are listed as recorded, oldest first; an attempt without a URL gets the request's URL")
    func listed() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try fail(store, task, 1)
        try fail(store, task, 2)
        try end(store, task, 3)
        var expected = [attempt(task, 1), attempt(task, 2), attempt(task, 3, .end)]
        for index in expected.indices { expected[index].metrics.url = "https://example.org/files/1" }
        #expect(try attempts(store, task, session) == expected)
        #expect(try store.tasks(of: session)[0].attempts == 3)
    }

    @Test("the attempts of several tasks are listed as those of each task, and missing tasks are left out")
    func several() throws {
        let tasks = try store.enqueue((1...4).map { .numbered($0) }, in: session)
        for (task, count) in zip(tasks, [2, 0, 1, 3]) {
            for number in 0..<count { try fail(store, task, UInt32(number) + 1) }
        }
        let ids = [tasks[3], TaskID(rawValue: 99), tasks[0], tasks[1], tasks[0]]
        let listed = try store.run { [session] in try $0.attempts.all(of: ids, in: session) }
        let expected = try attempts(store, tasks[0], session) + attempts(store, tasks[3], session)
        #expect(listed.attempts == expected)
        #expect(!listed.more)
        let other = try store.session("other")
        #expect(try store.run { try $0.attempts.all(of: tasks, in: other) }.attempts.isEmpty)
    }

    @Test("a large list of attempts ends early, after all attempts of a task")
    func parts() throws {
        let tasks = try store.enqueue((1...60).map { .numbered($0) }, in: session)
        try store.run { transaction in
            for task in tasks {
                for number: UInt32 in 1...100 { try transaction.attempts.write(attempt(task, number)) }
            }
        }
        var rest = tasks
        var sizes: [Int] = []
        while !rest.isEmpty {
            let ids = rest
            let listed = try store.run { [session] in try $0.attempts.all(of: ids, in: session) }
            sizes.append(listed.attempts.count)
            #expect(listed.attempts.count.isMultiple(of: 100))
            rest = listed.more ? rest.filter { $0 > listed.attempts[listed.attempts.count - 1].task } : []
        }
        #expect(sizes.count > 1 && sizes.reduce(0, +) == 6000, "\(sizes)")
    }

    @Test("at most 100 attempts of a task are kept: the first attempt and the 99 newest attempts")
    func many() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        for number in 1...250 { try fail(store, task, UInt32(number)) }
        let numbers = try attempts(store, task, session).map(\.number)
        #expect(numbers == [1] + Array(152...250))
        #expect(try store.tasks(of: session)[0].attempts == 250)
    }

    @Test("the list of attempts also has the first and the newest attempt if the task has had millions of attempts")
    func millions() throws {
        let tasks = try store.enqueue([.numbered(1), .numbered(2)], in: session)
        try fail(store, tasks[0], 1)
        try fail(store, tasks[1], 1)
        let mebi: UInt32 = 1 << 20
        for number in [mebi - 1, mebi, mebi + 1_000, .max] { try fail(store, tasks[0], number) }
        let found = try attempts(store, tasks[0], session)
        #expect(found.map(\.number) == [1, mebi - 1])
        #expect(found.last?.failure?.message == "broken \(UInt32.max)")
        #expect(try attempts(store, tasks[1], session).map(\.number) == [1])
        #expect(try store.tasks(of: session)[0].attempts == .max)
    }

    // MARK: Finish intents

    // A finish intent is a record that is written before the file of a download gets its final name.

    /// Records a finish intent, as the third attempt of the task does.
    private func recordIntent(_ store: TestStore, _ task: TaskID) throws {
        var response = ResponseSummary()
        response.httpStatus = 206
        let recorded = response
        try store.run { transaction in
            let isLive = try transaction.attempts.recordIntent(
                task, FinishIntent(device: 1, inode: 2, size: 3), response: recorded, attempts: 3, bytesReceived: 70)
            #expect(isLive)
        }
    }

    @Test("a task with a finish intent has the counters of the attempt that recorded the intent")
    func intent() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try fail(store, task, 2)
        try recordIntent(store, task)
        let info = try store.tasks(of: session)[0]
        #expect((info.attempts, info.httpStatus) == (3, 206))
        let stored = try store.run { try $0.tasks.withIntent() }
        #expect(stored.map(\.attempts) == [3] && stored.map(\.bytesReceived) == [70])
    }

    @Test("if the file of a finish intent is given up, the task keeps the counters of that attempt")
    func forgottenIntent() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try recordIntent(store, task)
        try store.run { try $0.attempts.forgetProgress(task) }
        let info = try store.tasks(of: session)[0]
        #expect((info.attempts, info.httpStatus) == (3, 206))
        let found = try store.run { try $0.tasks.find(task) }
        #expect(found?.task.bytesReceived == 70 && found?.task.intent == nil)
    }

    @Test("a task that ends without a response keeps the HTTP status of its finish intent")
    func endAfterIntent() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try recordIntent(store, task)
        try store.end(task)
        #expect(try store.tasks(of: session)[0].httpStatus == 206)
    }

    // MARK: -

    @Test("the record of an attempt in progress is replaced when the attempt ends")
    func replaced() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        let checkpoint = Checkpoint(
            validator: Validator(entityTag: "\"a\""), finalURL: "u", size: 100, syncedOffset: 15, bootID: "b")
        let underWay = attempt(task, 1, .stopped)
        try store.run {
            try $0.attempts.recordCheckpoint(
                task, checkpoint,
                AttemptProgress(
                    attempts: 1, bytesReceived: 5, furthestOffset: 15, madeProgress: true, attempt: underWay))
        }
        #expect(try attempts(store, task, session).map(\.next) == [.stopped])
        #expect(try store.tasks(of: session)[0].attempts == 1)
        try end(store, task, 1)
        #expect(try attempts(store, task, session).map(\.next) == [.end])
    }

    @Test("no attempt is recorded for a task that has ended")
    func ended() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try store.control(session, .cancel)
        try fail(store, task, 1)
        #expect(try attempts(store, task, session).isEmpty)
    }

    @Test("if a task is unknown or belongs to another session, listing its attempts fails")
    func notFound() throws {
        let other = try store.session("other")
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        #expect(throws: Failure.self) { try attempts(store, task, other) }
        #expect(throws: Failure.self) { try attempts(store, TaskID(rawValue: 99), session) }
    }

    @Test("after the acknowledgement of a task's end, its attempts are kept while the task is in the history")
    func acknowledged() throws {
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try fail(store, task, 1)
        try end(store, task, 2)
        try store.acknowledge(session, .through(EventID(rawValue: 1)))
        let kept = try attempts(store, task, session)
        #expect(kept.map(\.number) == [1, 2])
        #expect(kept.allSatisfy { $0.metrics.url == "https://example.org/files/1" })
    }
}
