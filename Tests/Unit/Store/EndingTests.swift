import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Tasks that end together")
struct EndingTests {
    let scratch = Scratch()

    private func end(_ tasks: [TaskID], in store: TestStore) throws -> Change? {
        try store.run { transaction in
            try transaction.endings.record(
                tasks.map { TaskEnd($0, Outcome(state: .succeeded)) }, now: 3_000, readsEvents: true)
        }
    }

    @Test("if tasks end together, each task makes one event, in the given order, and the round ends one time")
    func order() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let tasks = try store.enqueue((0..<3).map { .numbered($0) }, in: session)
        let change = try #require(try end([tasks[1], tasks[2], tasks[0]], in: store))
        let events = try store.events(of: session)
        #expect(events.map(\.task?.id) == [tasks[1], tasks[2], tasks[0], nil])
        #expect(change.events == events)
        #expect(change.newestEvent == events.last?.id)
        #expect(change.tasks == [tasks[1], tasks[2], tasks[0]] && change.count == 3 && change.needsHost)
        #expect(try store.info(session)?.events == 4)
    }

    @Test("when several tasks end together, tasks that have already ended are skipped")
    func ended() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let tasks = try store.enqueue((0..<3).map { .numbered($0) }, in: session)
        try store.end(tasks[0])
        let change = try #require(try end([tasks[1], tasks[0]], in: store))
        #expect(change.tasks == [tasks[1]] && change.count == 1 && !change.needsHost)
        #expect(change.events.map(\.task?.id) == [tasks[1]])
        #expect(try end([tasks[0], tasks[1]], in: store) == nil)
        #expect(try store.info(session)?.events == 2)
    }

    @Test("the events of ended groups come after all events of tasks, and before the event of the round")
    func groups() throws {
        let store = try TestStore(scratch.path)
        let session = try store.session()
        let album = try store.enqueue((0..<2).map { .numbered($0) { $0.options.group = "album" } }, in: session)
        let cover = try store.enqueue([.numbered(9) { $0.options.group = "cover" }], in: session)
        let change = try #require(try end([album[0], cover[0], album[1]], in: store))
        #expect(
            change.events.dropFirst(3).map(\.kind) == [
                .groupFinished(.init(name: "cover", succeeded: 1, failed: 0, cancelled: 0)),
                .groupFinished(.init(name: "album", succeeded: 2, failed: 0, cancelled: 0)), .sessionFinished,
            ])
        #expect(change.events == (try store.events(of: session)))
    }

    @Test("a call that ends tasks of two sessions is refused, and none of the tasks ends")
    func sessions() throws {
        let store = try TestStore(scratch.path)
        let (first, second) = (try store.session("first"), try store.session("second"))
        let task = try store.enqueue([.numbered(1)], in: first)[0]
        let other = try store.enqueue([.numbered(2)], in: second)[0]
        #expect(throws: Failure.self) { try end([task, other], in: store) }
        #expect(try store.events(of: first).isEmpty)
    }
}
