import Backhaul
import Foundation
import HostTestSupport
import Testing

/// A *Swift task* is a `Task` of the language, and can be cancelled. Other tasks in this file are downloads of the
/// library.
@Suite("Swift concurrency", .timeLimit(.minutes(10)))
struct ConcurrencyTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test("if a wait for events is cancelled, it throws CancellationError, and the session can still be used")
    func cancelledWait() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let waiting = Task { try await session.events.first { _ in true } }
        _ = try await application.sessions()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await session.download(try server.serve("a", content(10)), to: server.path("a"))
        let event = try await session.events.first { _ in true }
        #expect(event != nil)
        await application.close()
    }

    @Test("if a Swift task is cancelled while it opens an application, it throws CancellationError")
    func cancelledOpen() async throws {
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await open()
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        for _ in 0..<20 {
            let opening = Task { try await open() }
            opening.cancel()
            // Both outcomes are correct: the application may be open before the cancellation.
            do { try await opening.value.close() } catch { #expect(error is CancellationError) }
        }
        let application = try await open()
        #expect(try await application.sessions().isEmpty)
        await application.close()
    }

    @Test("if a Swift task is cancelled during a call, the application can still be used")
    func cancelledVerb() async throws {
        let application = try await open()
        for _ in 0..<200 {
            let verb = Task { try await application.sessions() }
            verb.cancel()
            // Both outcomes are correct: the reply may arrive before the cancellation.
            do { _ = try await verb.value } catch { #expect(error is CancellationError) }
        }
        #expect(try await application.sessions().isEmpty)
        await application.close()
    }

    @Test("if more Swift tasks wait than the machine has processors, a further Swift task can still run")
    func cooperativeThreadsStayFree() async throws {
        let application = try await open()
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        var sessions: [Session] = []
        for number in 0..<count {
            sessions.append(try await application.createSession(SessionConfiguration(identifier: "\(number)")))
        }
        let waiting = sessions.map { session in Task { try await session.events.first { _ in true } } }
        let url = try server.serve("a", content(1000))
        for (number, session) in sessions.enumerated() {
            try await session.download(url, to: server.path("file-\(number)"))
        }
        for task in waiting {
            guard case .taskEnded(let ended) = try await task.value else {
                Issue.record("The first event is no task's end.")
                continue
            }
            #expect(ended.path != nil)
        }
        await application.close()
    }

    @Test("a thousand concurrent calls of enqueue each make and return a task")
    func manyVerbs() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let url = server.url("a")
        let folder = server.path("files")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let ids = try await withThrowingTaskGroup(of: TaskID.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let request = Request(url: url, destination: "\(folder)/\(number)", startsSuspended: true)
                    return try await session.enqueue([request])[0].taskID
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1000)
        var listed = Set<TaskID>()
        for try await task in session.tasks(.states([.suspended])) { listed.insert(task.id) }
        #expect(listed == ids)
        await application.close()
    }

    @Test("calls of `sessions` return even if the program has not read a session's events")
    func verbsBesideUnreadEvents() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        try await session.download(try server.serve("a", content(10)), to: server.path("a"))
        for await info in application.attention where info.needsAttention {
            #expect(info.identifier == "s")
            break
        }
        for _ in 0..<100 { _ = try await application.sessions() }
        #expect(try await session.poll().events.isEmpty == false)
        await application.close()
    }

    @Test("when the last reference to a session object is released, the session is closed and can be opened again")
    func references() async throws {
        let application = try await open()
        for _ in 0..<20 { _ = try await application.createSession(SessionConfiguration(identifier: "s")) }
        let last = try await application.createSession(SessionConfiguration(identifier: "s"))
        #expect(last.role == .consume)
        await application.close()
    }
}
