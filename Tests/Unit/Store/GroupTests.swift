import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Groups")
struct GroupTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func requests(_ numbers: ClosedRange<Int>, group: String?) -> [Request] {
        numbers.map { .numbered($0) { $0.options.group = group } }
    }

    private func finished(_ events: [Event]) -> [FinishedGroup] {
        events.compactMap { event in if case .groupFinished(let group) = event.kind { group } else { nil } }
    }

    @Test("after all tasks of a group have ended, one event has the counts of their outcomes")
    func finishes() throws {
        let tasks = try store.enqueue(requests(1...3, group: "album"), in: session)
        try store.enqueue([.numbered(9)], in: session)
        try store.end(tasks[0])
        try store.end(tasks[1], Outcome(state: .failed, failure: Failure(.httpStatus, "no")))
        #expect(finished(try store.events(of: session)).isEmpty)
        let change = try #require(try store.end(tasks[2]))
        let events = try store.events(of: session)
        #expect(events.last?.kind == .groupFinished(.init(name: "album", succeeded: 2, failed: 1, cancelled: 0)))
        #expect(events.last?.round == 1)
        #expect(change.newestEvent == events.last?.id)
        #expect(try store.info(session)?.events == 4)
    }

    @Test("the event of a group comes after the event of its last task, and before the event of the round")
    func order() throws {
        let task = try store.enqueue(requests(1...1, group: "album"), in: session)[0]
        let change = try store.run {
            try $0.endings.record(task, Outcome(state: .succeeded), now: 3_000, readsEvents: true)
        }
        let album = FinishedGroup(name: "album", succeeded: 1, failed: 0, cancelled: 0)
        let events = try store.events(of: session)
        #expect(events.map(\.kind).dropFirst() == [.groupFinished(album), .sessionFinished])
        #expect(events.first?.task?.group == "album")
        #expect(change?.events == events)
    }

    @Test("the end of a task without a group makes no group event")
    func none() throws {
        try store.end(try store.enqueue([.numbered(1)], in: session)[0])
        #expect(try store.events(of: session).map(\.kind).dropFirst() == [.sessionFinished])
    }

    @Test("if a group gets new tasks after its end, it makes a second event with new counts")
    func again() throws {
        for number in 1...2 {
            try store.end(try store.enqueue(requests(number...number, group: "album"), in: session)[0])
        }
        let one = FinishedGroup(name: "album", succeeded: 1, failed: 0, cancelled: 0)
        #expect(finished(try store.events(of: session)) == [one, one])
    }

    @Test("if tasks are cancelled, a group ends one time, after the end of its last task")
    func cancel() throws {
        let album = try store.enqueue(requests(1...2, group: "album"), in: session)
        let films = try store.enqueue(requests(3...5, group: "films"), in: session)
        try store.enqueue([.numbered(6)], in: session)
        let change = try store.control(session, .cancel, TaskSelection(group: "album"))
        #expect(change.tasks == album)
        #expect(finished(try store.events(of: session)).map(\.name) == ["album"])
        try store.control(session, .cancel, TaskSelection(ids: [films[0]]))
        #expect(finished(try store.events(of: session)).count == 1)
        try store.control(session, .cancel)
        let last = try store.events(of: session).suffix(2).map(\.kind)
        let finished = FinishedGroup(name: "films", succeeded: 0, failed: 0, cancelled: 3)
        #expect(last == [.groupFinished(finished), .sessionFinished])
    }

    @Test("if a session is invalidated and its tasks are cancelled, its groups end")
    func invalidate() throws {
        try store.enqueue(requests(1...2, group: "album"), in: session)
        let change = try store.run { try $0.sessions.invalidate(session, cancelTasks: true, now: 3_000) }
        #expect(finished(try store.events(of: session)).first?.cancelled == 2)
        #expect(try store.acknowledge(session, .through(change.newestEvent)).sessionRemoved)
    }

    @Test("suspend, resume, priority and rate apply only to the tasks of the selected group")
    func controls() throws {
        let album = try store.enqueue(requests(1...2, group: "album"), in: session)
        let others = try store.enqueue([.numbered(3)] + requests(4...4, group: "films"), in: session)
        let selection = TaskSelection(group: "album")
        for control in [TaskControl.suspend, .resume, .setPriority(7), .setRate(1_000)] {
            #expect(try store.control(session, control, selection).tasks == album)
        }
        #expect(try store.tasks(of: session, selection).map(\.priority) == [7, 7])
        #expect(try store.control(session, .suspend, TaskSelection(ids: others, group: "album")).count == 0)
        #expect(try store.control(session, .suspend, TaskSelection(group: "nobody")).count == 0)
    }

    @Test("a listing by group shows the group's tasks in the requested states")
    func listing() throws {
        let album = try store.enqueue(requests(1...4, group: "album"), in: session)
        try store.enqueue([.numbered(9)], in: session)
        try store.end(album[0])
        try store.control(session, .suspend, TaskSelection(ids: [album[1]]))
        func listed(_ states: TaskStates, _ ids: [TaskID] = []) throws -> [TaskID] {
            try store.tasks(of: session, TaskSelection(ids: ids, states: states, group: "album")).map(\.id)
        }
        #expect(try listed(.all) == album)
        #expect(try listed(TaskStates(.succeeded)) == [album[0]])
        #expect(try listed(TaskStates(.suspended)) == [album[1]])
        #expect(try listed(TaskStates(.waiting)) == [album[2], album[3]])
        #expect(try listed(TaskStates(.running)) == [])
        #expect(try listed(.live, [album[0], album[2]]) == [album[2]])
        #expect(try store.tasks(of: session, TaskSelection(group: "nobody")).isEmpty)
        #expect(try store.tasks(of: session).map(\.group) == ["album", "album", "album", "album", nil])
    }

    @Test("if a task is enqueued again with its key, the task is counted one time, and no new group is made")
    func repeated() throws {
        let request = Request.numbered(1) {
            $0.options.group = "album"
            $0.idempotencyKey = "k"
        }
        try store.enqueue([request], in: session)
        let task = try store.enqueue([request], in: session)[0]
        try store.end(task)
        #expect(finished(try store.events(of: session)).count == 1)
        // Here, the event of the task is acknowledged, but not the event for the end of the round. Until that event is
        // acknowledged, too, the idempotency key of a succeeded task finds the task.
        try store.acknowledge(session, .ids([try store.events(of: session)[0].id]))
        #expect(try store.enqueue([request], in: session) == [task])
        #expect(try groups(of: store) == 0)
    }

    @Test("a group is removed when the end of its last task is acknowledged")
    func removed() throws {
        let tasks = try store.enqueue(requests(1...2, group: "album"), in: session)
        try store.end(tasks[0])
        try store.acknowledge(session, .ids([try store.events(of: session)[0].id]))
        #expect(try groups(of: store) == 1)
        try store.end(tasks[1])
        #expect(finished(try store.events(of: session)).first?.succeeded == 2)
        try store.acknowledge(session, .through(try #require(try store.events(of: session).last).id))
        #expect(try groups(of: store) == 0)
    }

    @Test("group names that look equal but have different bytes are different groups")
    func names() throws {
        let composed = requests(1...1, group: "caf\u{e9}")
        let decomposed = requests(2...2, group: "cafe\u{301}")
        let tasks = try store.enqueue(composed + decomposed, in: session)
        #expect(try store.tasks(of: session, TaskSelection(group: "caf\u{e9}")).map(\.id) == [tasks[0]])
        try store.end(tasks[0])
        #expect(finished(try store.events(of: session)).count == 1)
    }

    private func groups(of store: TestStore) throws -> Int64 {
        try store.run { transaction in
            try transaction.connection.first(Query("SELECT count(*) FROM groups")) { row throws(Failure) in
                row.integer()
            } ?? -1
        }
    }
}
