import BackhaulModel
import Testing

@testable import BackhaulStore

/// The URL of a download may expire for good. Then the download fails, and its part file stays for some time, for a
/// later task with another URL.
@Suite("Part files that a later task continues")
struct ContinuedPartTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func request(key: String = "k", at number: Int = 0, _ change: (inout Request) -> Void = { _ in }) -> Request
    {
        .numbered(number) {
            $0.idempotencyKey = key
            change(&$0)
        }
    }

    /// Enqueues a task, which then fails. Its part file stays until the time 10,000.
    private func failed(_ request: Request, tag: String? = "\"a\"") throws -> StoredTask {
        let id = try store.enqueue([request], in: session)[0]
        let task = try stored(id)
        try store.run { transaction in
            try transaction.attempts.recordCheckpoint(
                id,
                Checkpoint(
                    validator: Validator(entityTag: tag, lastModified: nil), finalURL: "https://a/", size: 9,
                    syncedOffset: 5, bootID: "b"))
            try transaction.leftovers.retainPart(of: id, until: 10_000)
            _ = try transaction.endings.record(id, Outcome(state: .failed), now: 10)
        }
        let events = try store.events(of: session)
        _ = try store.acknowledge(session, .through(events[events.count - 1].id))
        return task
    }

    private func stored(_ task: TaskID) throws -> StoredTask {
        try #require(try store.run { try $0.tasks.find(task)?.task })
    }

    private func leftovers(now: Int64) throws -> [Leftover] {
        try store.run { try $0.leftovers.page(now: now, limit: 10).files }
    }

    @Test("a later task with the same destination and key continues the part file, under another URL")
    func continued() throws {
        let first = try failed(request())
        let second = try stored(try store.enqueue([request { $0.url = "https://example.org/new" }], in: session)[0])
        #expect(second.part == first.part && second.id != first.id)
        #expect(second.checkpoint?.syncedOffset == 5)
        #expect(second.checkpoint?.finalURL == "")
        #expect(try leftovers(now: .max).isEmpty)
    }

    @Test("a task with another key or destination does not continue the part file")
    func others() throws {
        let first = try failed(request())
        for other in try store.enqueue([request(key: "x", at: 1), request(key: "k", at: 2)], in: session) {
            #expect(try stored(other).part != first.part)
            #expect(try stored(other).checkpoint == nil)
        }
    }

    @Test("if nothing proves that another URL has the same file, the later task starts over")
    func unprovable() throws {
        let first = try failed(request(), tag: nil)
        let second = try stored(try store.enqueue([request()], in: session)[0])
        #expect(second.part == first.part)
        #expect(second.checkpoint == nil)
    }

    @Test("a part file that no task has continued is removed after its time, or with its session")
    func removed() throws {
        let first = try failed(request())
        #expect(try leftovers(now: 9_999).isEmpty)
        let expired = try leftovers(now: 10_000)
        #expect(expired.map(\.task) == [first.id])
        try store.run { try $0.leftovers.forget(expired) }
        #expect(try store.run { try $0.connection.pragma("SELECT count(*) FROM checkpoints") } == "0")

        _ = try failed(request())
        try store.run { try $0.connection.execute("DELETE FROM sessions") }
        #expect(try leftovers(now: 0).count == 1)
    }
}
