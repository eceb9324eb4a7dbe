import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("The history of acknowledged tasks")
struct HistoryTests {
    let store: TestStore
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
    }

    private func session(_ store: TestStore, limit: UInt32?, _ identifier: String = "gallery") throws -> SessionID {
        var configuration = SessionConfiguration(identifier: identifier)
        configuration.historyLimit = limit
        let made = configuration
        return try store.run {
            try $0.sessions.create(
                application: "org.example", configuration: made, role: .produce, consumer: .of(1), now: 1_000
            ).id
        }
    }

    /// Enqueues, ends and acknowledges tasks with one attempt each.
    @discardableResult
    private func pass(_ store: TestStore, _ session: SessionID, _ numbers: Range<Int>) throws -> [TaskID] {
        let tasks = try store.enqueue(numbers.map { .numbered($0) }, in: session)
        try store.run { transaction in
            for (index, task) in tasks.enumerated() {
                _ = try transaction.endings.record(
                    task, Outcome(state: .succeeded), now: 10_000 + Int64(numbers.lowerBound + index),
                    attempt: Attempt(task: task, number: 1, next: .end))
            }
        }
        let newest = try #require(try store.info(session)).newestEvent
        try store.acknowledge(session, .through(newest))
        return tasks
    }

    private func history(_ store: TestStore, _ session: SessionID, after: TaskID = .zero) throws -> [TaskInfo] {
        try store.run { try $0.history.tasks(of: session, after: after, maximum: 10_000).tasks }
    }

    private func count(_ store: TestStore, _ table: String) throws -> Int64 {
        try store.run { transaction in
            try transaction.connection.first(Query("SELECT count(*) FROM \(table)")) { row throws(Failure) in
                row.integer()
            } ?? 0
        }
    }

    @Test("a task in the history is listed with the same fields as before its acknowledgement")
    func same() throws {
        let session = try session(store, limit: 10)
        let task = try store.enqueue(
            [
                .numbered(1) {
                    $0.userData = [1, 2]
                    $0.idempotencyKey = "k"
                    $0.priority = 4
                }
            ], in: session)[0]
        var outcome = Outcome(state: .failed, failure: Failure(.httpStatus, "404", domain: .http, detail: 404))
        outcome.response.httpStatus = 404
        outcome.attempts = 3
        try store.end(task, outcome)
        let before = try store.tasks(of: session)[0]
        try store.acknowledge(session, .through(EventID(rawValue: 1)))
        #expect(try store.tasks(of: session).isEmpty)
        var after = try #require(try history(store, session).first)
        #expect(after.endedMilliseconds == 3_000)
        after.endedMilliseconds = before.endedMilliseconds
        #expect((after.offset, after.size) == (0, 0))
        (after.offset, after.size) = (before.offset, before.size)
        #expect(after == before)
    }

    @Test("the history keeps the newest tasks up to its limit")
    func limited() throws {
        let session = try session(store, limit: 10)
        var all: [TaskID] = []
        for part in 0..<40 { all += try pass(store, session, part * 5..<part * 5 + 5) }
        #expect(try count(store, "history") <= 10 + 64 + 5)
        #expect(try history(store, session).map(\.id) == all.suffix(10))
        #expect(try count(store, "history") == 10)
        #expect(try count(store, "attempts") == 10)
    }

    @Test("if more tasks are acknowledged at once than the history may have, the newest tasks are kept")
    func large() throws {
        let session = try session(store, limit: 10)
        let all = try pass(store, session, 0..<500)
        #expect(try count(store, "history") == 10)
        #expect(try count(store, "attempts") == 10)
        #expect(try history(store, session).map(\.id) == all.suffix(10))
    }

    @Test("the history keeps a task that has ended late, even if the task has a low id")
    func lateEnd() throws {
        let session = try session(store, limit: 10)
        let late = try store.enqueue([.numbered(1_000)], in: session)[0]
        try pass(store, session, 0..<200)
        try store.run { _ = try $0.endings.record(late, Outcome(state: .succeeded), now: 50_000) }
        try store.acknowledge(session, .through(try #require(try store.info(session)).newestEvent))
        let ids = try history(store, session).map(\.id)
        #expect(ids.first == late && ids.count == 10)
    }

    @Test("a session whose history is switched off keeps no acknowledged task and no attempt")
    func none() throws {
        let session = try session(store, limit: nil)
        try pass(store, session, 0..<20)
        #expect(try history(store, session).isEmpty)
        #expect(try count(store, "attempts") == 0)
    }

    @Test(
        "the history is trimmed when its limit is lowered, and emptied when it is switched off",
        arguments: [(3, 3), (nil, 0)] as [(UInt32?, Int)])
    func updated(_ limit: UInt32?, _ left: Int) throws {
        let session = try session(store, limit: 10)
        try pass(store, session, 0..<10)
        var configuration = SessionConfiguration(identifier: "gallery")
        configuration.historyLimit = limit
        let made = configuration
        try store.run { try $0.sessions.update(session, made) }
        #expect(try count(store, "history") == left)
        #expect(try count(store, "attempts") == left)
    }

    @Test("a removed session loses its history, but other sessions keep their history")
    func removed() throws {
        let session = try session(store, limit: 10)
        let other = try self.session(store, limit: 10, "other")
        try pass(store, session, 0..<5)
        try pass(store, other, 10..<13)
        let change = try store.run { try $0.sessions.invalidate(session, cancelTasks: true, now: 5) }
        #expect(change.sessionRemoved)
        #expect(try count(store, "history") == 3)
        #expect(try count(store, "attempts") == 3)
        #expect(try history(store, other).count == 3)
    }

    @Test("the history is read in pages, ordered by id")
    func pages() throws {
        let session = try session(store, limit: 100)
        let all = try pass(store, session, 0..<30)
        let (page, more) = try store.run { try $0.history.tasks(of: session, after: all[9], maximum: 15) }
        #expect(page.map(\.id) == Array(all[10..<25]) && more)
        let (rest, isMore) = try store.run { try $0.history.tasks(of: session, after: all[24], maximum: 15) }
        #expect(rest.map(\.id) == Array(all[25...]) && !isMore)
    }
}
