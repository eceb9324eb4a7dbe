import BackhaulModel
import Testing

@testable import BackhaulStore

@Suite("Enqueue")
struct EnqueueTests {
    let store: TestStore
    let session: SessionID
    let scratch = Scratch()

    init() throws {
        store = try TestStore(scratch.path)
        session = try store.session()
    }

    private func everything(_ number: Int = 1) -> Request {
        .numbered(number) { request in
            request.idempotencyKey = "key \(number)"
            request.headers = [HeaderField("Accept", "text/plain"), HeaderField("X-Empty", "")]
            request.userData = [0, 1, 255]
            request.ifExists = .replace
            request.priority = -7
            request.mode = 0o600
        }
    }

    @Test("a task that is read from the store equals the enqueued task")
    func roundTrip() throws {
        let request = everything()
        let id = try store.enqueue([request], in: session)[0]
        let record = try #require(try store.run { try $0.tasks.find(id) })
        #expect(record.task.request == request)
        #expect(record.task.origin == .example)
        #expect(record.task.round == 1)
        #expect(record.task.enqueuedMilliseconds == 2_000)
        #expect(record.state == .waiting)
        #expect(record.outcome == nil)
        #expect(record.task.checkpoint == nil)
        #expect(record.task.intent == nil)
    }

    @Test("if the destination file exists, a new task is refused, but a known idempotency key is accepted")
    func occupiedDestination() throws {
        let request = Request.numbered(1) { $0.idempotencyKey = "1" }
        let id = try store.enqueue([request], in: session)[0]
        var again = request
        again.destination?.fileExists = true
        #expect(try store.enqueue([again], in: session) == [id])

        var other = Request.numbered(2) { $0.idempotencyKey = "2" }
        other.destination?.fileExists = true
        let failure = #expect(throws: Failure.self) { try store.enqueue([.numbered(3), other], in: session) }
        #expect(failure?.status == .destinationExists)
        #expect(failure?.index == 1)
        other.ifExists = .replace
        #expect(try store.enqueue([other], in: session).count == 1)
    }

    @Test("if the destination directory is absent, a new task is refused, but a known idempotency key is accepted")
    func absentDirectory() throws {
        let request = Request.numbered(1) { $0.idempotencyKey = "1" }
        let ids = try store.enqueue([request], in: session)
        func absent(_ request: Request) -> Request {
            var request = request
            request.destination?.directoryDevice = 0
            request.destination?.directoryInode = 0
            return request
        }
        #expect(try store.enqueue([absent(request)], in: session) == ids)
        let failure = #expect(throws: Failure.self) {
            try store.enqueue([.numbered(3), absent(.numbered(2))], in: session)
        }
        #expect(failure?.status == .destinationUnavailable && failure?.index == 1)
    }

    @Test("tasks survive closing and reopening the store")
    func reopened() throws {
        let scratch = Scratch()
        let session: SessionID
        do {
            let store = try TestStore(scratch.path)
            session = try store.session()
            try store.enqueue((0..<10).map { .numbered($0) }, in: session)
            store.close()
        }
        let store = try TestStore(scratch.path)
        #expect(try store.tasks(of: session).map(\.url) == (0..<10).map { "https://example.org/files/\($0)" })
        #expect(try store.info(session)?.liveTasks == 10)
    }

    @Test("the same idempotency key with the same request finds the existing task")
    func sameKey() throws {
        let first = try store.enqueue([everything()], in: session)
        let results = try store.run {
            try $0.tasks.enqueue(
                [(everything(), .example), (everything(2), .example)], in: session, now: 9
            ).results
        }
        #expect(results.map(\.disposition) == [.existing, .new])
        #expect(results[0].task == first[0])
        #expect(try store.info(session)?.liveTasks == 2)
    }

    @Test("an enqueue with a known key returns the existing task's state and the unacknowledged event of its end")
    func standing() throws {
        let (one, other) = (everything(), everything(2))
        let ids = try store.enqueue([one, other], in: session)
        func found(running: Set<TaskID> = []) throws -> Enqueued {
            try store.run { try $0.tasks.enqueue([(one, .example)], in: session, now: 9, running: running).results[0] }
        }
        func existing(_ state: TaskState, _ end: EventID = .zero) -> Enqueued {
            Enqueued(task: ids[0], disposition: .existing, state: state, end: end)
        }
        #expect(try found() == existing(.waiting))
        #expect(try found(running: [ids[0]]) == existing(.running))
        try store.end(ids[0])
        let end = try store.events(of: session)[0].id
        #expect(try found(running: [ids[0]]) == existing(.succeeded, end))
        try store.acknowledge(session, .ids([end]))
        #expect(try found() == existing(.succeeded))
    }

    @Test(
        "if a request with a known idempotency key has a changed field, the refusal names this field",
        arguments: [
            "url", "destination", "if_exists", "mode", "headers", "user_data",
        ])
    func keyConflict(field: String) throws {
        try store.enqueue([everything()], in: session)
        var other = everything()
        switch field {
        case "url": other.url += "?"
        case "destination": other.destination?.path += "x"
        case "if_exists": other.ifExists = .fail
        case "mode": other.mode = 0o644
        case "headers": other.headers.removeLast()
        default: other.userData = nil
        }
        let failure = #expect(throws: Failure.self) { try store.enqueue([.numbered(7), other], in: session) }
        #expect(failure?.status == .keyConflict)
        #expect(failure?.index == 1)
        #expect(failure?.message.contains("another \(field);") == true)
        #expect(try store.info(session)?.liveTasks == 1)
    }

    @Test("a request without a mode finds the task of its idempotency key under another umask")
    func keyUnderAnotherUmask() throws {
        var request = everything()
        request.mode = .default(umask: 0o022)
        let ids = try store.enqueue([request], in: session)
        request.mode = .default(umask: 0o077)
        #expect(try store.enqueue([request], in: session) == ids)
        request.mode = 0o600
        #expect(throws: Failure.self) { try store.enqueue([request], in: session) }
    }

    @Test("until a task's end is acknowledged, its key finds it, even with another priority or another start state")
    func keyOfEnded() throws {
        let id = try store.enqueue([everything()], in: session)[0]
        try store.control(session, .setPriority(50))
        #expect(try store.enqueue([everything()], in: session) == [id])
        var other = everything()
        other.priority = 0
        #expect(try store.enqueue([other], in: session) == [id])
        other.startsSuspended.toggle()
        #expect(try store.enqueue([other], in: session) == [id])
        try store.end(id)
        #expect(try store.enqueue([everything()], in: session) == [id])
        try store.acknowledge(session, .through(try store.events(of: session).last!.id))
        let next = try store.enqueue([everything()], in: session)[0]
        #expect(next > id)
    }

    @Test("in the whole store, two unfinished tasks cannot have the same destination")
    func destination() throws {
        let other = try store.session("other")
        let id = try store.enqueue([.numbered(1)], in: session)[0]
        let failure = #expect(throws: Failure.self) {
            try store.enqueue([.numbered(0), .numbered(2), .numbered(1)], in: other)
        }
        #expect(failure?.status == .destinationInUse)
        #expect(failure?.index == 2)
        #expect(failure?.message.contains("task \(id.rawValue) ") == true)
        #expect(try store.info(other)?.liveTasks == 0)
        try store.end(id)
        #expect(try store.enqueue([.numbered(1)], in: other).count == 1)
    }

    @Test("if two requests of a chunk have the same destination, the whole chunk is refused")
    func twice() throws {
        let failure = #expect(throws: Failure.self) {
            try store.enqueue([.numbered(1), .numbered(2), .numbered(1)], in: session)
        }
        #expect(failure?.status == .destinationInUse)
        #expect(failure?.index == 2)
        #expect(try store.tasks(of: session).isEmpty)
    }

    @Test("an enqueue into an invalidated or unknown session is refused")
    func refused() throws {
        try store.enqueue([.numbered(1)], in: session)
        try store.run { try $0.sessions.invalidate(session, cancelTasks: false, now: 5) }
        let late = #expect(throws: Failure.self) { try store.enqueue([.numbered(2)], in: session) }
        #expect(late?.status == .invalidated)
        for unknown in [0, 99, UInt64.max] {
            let failure = #expect(throws: Failure.self) {
                try store.enqueue([.numbered(2)], in: SessionID(rawValue: unknown))
            }
            #expect(failure?.status == .notFound)
        }
    }

    @Test("each origin has its own lane, and an enqueue returns only lanes with tasks that can start")
    func lanes() throws {
        let other = Origin(scheme: "http", server: "[::1]", port: 8080)
        let lanes = try store.run { transaction in
            try transaction.tasks.enqueue(
                [
                    (.numbered(1), .example), (.numbered(2) { $0.startsSuspended = true }, other),
                    (.numbered(3), .example),
                ], in: session, now: 2
            ).lanes
        }
        #expect(lanes.count == 1)
        let waiting = try store.run { try $0.lanes.ready() }
        #expect(waiting == lanes.map { Lane(id: $0, session: session, origin: .example) })
        let resumed = try store.control(session, .resume)
        let lane = try store.run { try $0.lanes.find(resumed.lanes.first!) }
        #expect(lane?.origin == other)
    }

    @Test("an empty chunk enqueues no task and begins no round")
    func empty() throws {
        #expect(try store.enqueue([], in: session).isEmpty)
        #expect(try store.info(session)?.round == 0)
    }
}
