import Backhaul
import Foundation
import HostTestSupport
import Testing

/// An *event* is a stored message for the program. It is delivered again until the program acknowledges it. A *round*
/// begins when a task is enqueued in a session without unfinished tasks, and ends when all tasks have ended. To
/// *complete* a session is to report that its events are processed. The *consumer* is the one program that reads the
/// session's events. To *claim* a file is to move it out of the library's store.
@Suite("Sessions", .timeLimit(.minutes(10)))
struct SessionTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test("a session downloads a file, delivers one event for the task and one for the round, and can be completed")
    func downloads() async throws {
        let bytes = content(300_000)
        let url = try server.serve("picture.jpg", bytes)
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        #expect(session.isNew)
        let request = Request(
            url: url, destination: server.path("picture.jpg"), idempotencyKey: "1", userData: [1, 0, 255])
        let enqueued = try await session.enqueue([request])
        #expect(enqueued.map(\.isNew) == [true])

        var ending: TaskEnding?
        for try await event in session.events {
            try await session.acknowledge(event)
            if case .taskEnded(let ended) = event { ending = ended }
            if case .sessionFinished(let round) = event {
                #expect(round.round == 1)
                break
            }
        }
        let ended = try #require(ending)
        #expect(ended.taskID == enqueued.first?.taskID)
        #expect(ended.outcome == .succeeded(path: server.path("picture.jpg")))
        #expect(ended.size == 300_000)
        #expect(ended.httpStatus == 200)
        #expect(ended.idempotencyKey == "1")
        #expect(ended.userData == [1, 0, 255])
        #expect(FileManager.default.contents(atPath: server.path("picture.jpg")) == bytes)
        try await session.complete()
        #expect(try await session.poll().events.isEmpty)
        await application.close()
    }

    @Test("an enqueue returns whether a task is new, suspended or ended, and whether its event was acknowledged")
    func keysAgain() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        // This suspended task does not end, so the round does not end.
        let living = Request(
            url: "http://127.0.0.1:9/", destination: server.path("b"), idempotencyKey: "living", startsSuspended: true)
        let url = try server.serve("a", content(10))
        let request = Request(url: url, destination: server.path("a"), idempotencyKey: "a")
        let first = try await session.enqueue([living, request])
        #expect(first.allSatisfy { $0.isNew && $0.state == nil && !$0.isAcknowledged })
        var iterator = session.events.makeAsyncIterator()
        let end = try #require(try await iterator.next())
        let ended = try await session.enqueue([living, request])
        #expect(ended.map(\.state) == [.suspended, .succeeded])
        #expect(ended.map(\.eventID) == [nil, end.id])
        #expect(ended.map(\.isAcknowledged) == [false, false])
        try await session.acknowledge(end)
        let acknowledged = try await session.enqueue([living, request])
        #expect(acknowledged.map(\.taskID) == first.map(\.taskID))
        #expect(acknowledged.map(\.isAcknowledged) == [false, true])
        await application.close()
    }

    @Test("when a session is opened again, it still has its configuration and its events")
    func attaches() async throws {
        let url = try server.serve("a", content(10))
        var configuration = SessionConfiguration(identifier: "gallery")
        configuration.connectionsPerOrigin = 2
        configuration.rules.requestTimeout = .seconds(7)
        do {
            let application = try await open()
            let session = try await application.createSession(configuration)
            try await session.download(url, to: server.path("a"))
            for try await event in session.events { if case .sessionFinished = event { break } }
            await application.close()
        }
        let application = try await open()
        let session = try await application.attachSession("gallery")
        #expect(!session.isNew)
        let remembered = try await session.configuration()
        #expect(remembered.connectionsPerOrigin == 2)
        #expect(remembered.rules.requestTimeout == .seconds(7))
        let (events, more) = try await session.poll()
        #expect(events.count == 2)
        #expect(!more)
        #expect(try await session.acknowledge(events) == 2)
        await application.close()
    }

    @Test("a download without a destination keeps its file until the program claims the file")
    func claims() async throws {
        let bytes = content(5000)
        let url = try server.serve("kept", bytes)
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let task = try await session.download(url)
        for try await event in session.events { if case .sessionFinished = event { break } }
        try await session.claim(task, to: server.path("claimed"))
        #expect(FileManager.default.contents(atPath: server.path("claimed")) == bytes)
        await application.close()
    }

    @Test("tasks are listed with their state, and can be suspended, resumed and cancelled")
    func controls() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let requests = (0..<3).map {
            Request(url: server.url("slow/\($0)"), destination: server.path("slow-\($0)"), startsSuspended: true)
        }
        let ids = try await session.enqueue(requests).map(\.taskID)
        var listed: [TaskInfo] = []
        for try await task in session.tasks() { listed.append(task) }
        #expect(listed.map(\.id) == ids)
        #expect(listed.allSatisfy { $0.state == .suspended && $0.reason?.code == .suspended })
        #expect(try await session.resume(.ids(ids[0])) == 1)
        #expect(try await session.task(ids[0]).state != .suspended)
        #expect(try await session.suspend(.ids(ids[0])) == 1)
        #expect(try await session.task(ids[0]).state == .suspended)
        #expect(try await session.setPriority(5, .ids(ids[1], ids[2])) == 2)
        #expect(try await session.task(ids[1]).priority == 5)
        #expect(try await session.cancel(.all) == 3)
        for try await event in session.events {
            guard case .taskEnded(let ended) = event else { break }
            #expect(ended.outcome == .cancelled)
        }
        await application.close()
    }

    @Test(
        "an empty list of ids or an empty set of states selects no task",
        arguments: [
            TaskSelection.ids([]), TaskSelection(ids: []), TaskSelection.states([]),
        ])
    func emptySelection(selection: TaskSelection) async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let id = try await session.enqueue([Request(url: server.url("slow"), startsSuspended: true)])[0].taskID
        for try await task in session.tasks(selection) { Issue.record("Task \(task.id) is listed.") }
        #expect(try await session.cancel(selection) == 0)
        #expect(try await session.setPriority(5, selection) == 0)
        #expect(try await session.task(id).state == .suspended)
        #expect(try await session.cancel(.ids([id])) == 1)
        await application.close()
    }

    @Test("a failed task has an error status and the response's status code")
    func fails() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        try await session.download(server.url("absent"), to: server.path("absent"))
        for try await event in session.events {
            guard case .taskEnded(let ended) = event else { break }
            guard case .failed(let error) = ended.outcome else {
                Issue.record("The task has not failed: \(ended)")
                break
            }
            #expect(error.status == .httpStatus)
            #expect(ended.httpStatus == 404)
        }
        await application.close()
    }

    @Test("while a session has a consumer, a second one is refused, and the error has the first one's process id")
    func isConsumedOnce() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let error = await #expect(throws: BackhaulError.self) { try await application.attachSession("gallery") }
        #expect(error?.status == .inUse)
        #expect(error?.domain == .process)
        #expect(error?.detail == Int64(getpid()))
        let producer = try await application.attachSession("gallery", role: .produce)
        producer.close()
        session.close()
        let second = try await application.attachSession("gallery")
        second.close()
        await application.close()
    }

    /// In a process of its own: its other threads cannot open files either.
    @Test("an attach with too few free descriptors does not keep the session's consumer", arguments: 0...2)
    func descriptors(free: Int) async {
        await #expect(processExitsWith: .success) { [free = free as Int] in
            try await SessionTests().attachWithFewDescriptors(free)
        }
    }

    func attachWithFewDescriptors(_ free: Int) async throws {
        let application = try await open()
        try await application.createSession(SessionConfiguration(identifier: "gallery")).close()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var former = rlimit()
        getrlimit(resource, &former)
        var limit = former
        limit.rlim_cur = 512
        setrlimit(resource, &limit)
        var fillers: [Int32] = []
        while case let filler = dup(STDOUT_FILENO), filler >= 0 { fillers.append(filler) }
        for filler in fillers.suffix(free) { close(filler) }
        let attached = try? await application.attachSession("gallery")
        attached?.close()
        for filler in fillers.dropLast(free) { close(filler) }
        setrlimit(resource, &former)
        try await application.attachSession("gallery").close()
        await application.close()
    }

    @Test("an application lists its sessions with the process ids of their consumers")
    func isListed() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "gallery"))
        let sessions = try await application.sessions()
        #expect(sessions.map(\.identifier) == ["gallery"])
        #expect(sessions.first?.consumer == Int64(getpid()))
        session.close()
        await application.close()
    }
}
