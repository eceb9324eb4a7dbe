import BackhaulModel
import Testing

@testable import BackhaulStore

/// An *attempt* is one run of a *task*, which is an upload or download. A host (a program that uses the library)
/// *acknowledges* an event when it has processed the event. The event is then deleted. The *history* lists the tasks
/// whose end was acknowledged.
@Suite("Attempts in the store")
struct AttemptTests {
    let scratch = Scratch()

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
        try store.run { (transaction) throws(Failure) in try transaction.attempts.record(task, written) }
    }

    private func end(_ store: TestStore, _ task: TaskID, _ number: UInt32) throws {
        var outcome = Outcome(state: .succeeded)
        outcome.attempts = number
        let (final, last) = (outcome, attempt(task, number, .end))
        try store.run { (transaction) throws(Failure) in
            _ = try transaction.endings.record(task, final, now: 3_000, attempt: last)
        }
    }

    private func attempts(_ store: TestStore, _ task: TaskID, _ session: SessionID) throws -> [Attempt] {
        try store.run { (transaction) throws(Failure) in try transaction.attempts.all(of: task, in: session) }
    }

    @Test("attempts are listed as recorded, oldest first; an attempt without a URL gets the request's URL")
    func listed() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try fail(store, task, 1)
        try fail(store, task, 2)
        try end(store, task, 3)
        var expected = [attempt(task, 1), attempt(task, 2), attempt(task, 3, .end)]
        for index in expected.indices { expected[index].metrics.url = "https://example.org/files/1" }
        #expect(try attempts(store, task, session) == expected)
        #expect(try store.tasks(of: session)[0].attempts == 3)
    }

    @Test("at most 100 attempts of a task are kept: the first attempt and the 99 newest attempts")
    func many() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        for number in 1...250 { try fail(store, task, UInt32(number)) }
        let numbers = try attempts(store, task, session).map(\.number)
        #expect(numbers == [1] + Array(152...250))
        #expect(try store.tasks(of: session)[0].attempts == 250)
    }

    @Test("the record of an attempt in progress is replaced when the attempt ends")
    func replaced() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        let checkpoint = Checkpoint(
            validator: Validator(entityTag: "\"a\""), finalURL: "u", size: 100, syncedOffset: 15, bootID: "b")
        let underWay = attempt(task, 1, .stopped)
        try store.run { (transaction) throws(Failure) in
            try transaction.attempts.recordCheckpoint(
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
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try store.control(session, .cancel)
        try fail(store, task, 1)
        #expect(try attempts(store, task, session).isEmpty)
    }

    @Test("if a task is unknown or belongs to another session, listing its attempts fails")
    func notFound() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let other = try store.session("other")
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        #expect(throws: Failure.self) { try attempts(store, task, other) }
        #expect(throws: Failure.self) { try attempts(store, TaskID(rawValue: 99), session) }
    }

    @Test("after the acknowledgement of a task's end, its attempts are kept while the task is in the history")
    func acknowledged() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let task = try store.enqueue([.numbered(1)], in: session)[0]
        try fail(store, task, 1)
        try end(store, task, 2)
        try store.acknowledge(session, .through(EventID(rawValue: 1)))
        let kept = try attempts(store, task, session)
        #expect(kept.map(\.number) == [1, 2])
        #expect(kept.allSatisfy { $0.metrics.url == "https://example.org/files/1" })
    }
}
