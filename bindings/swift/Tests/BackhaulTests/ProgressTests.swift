import Backhaul
import Foundation
import HostTestSupport
import Testing

@Suite("Progress", .timeLimit(.minutes(10)))
struct ProgressTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    @Test("the progress of a task is returned while the task runs")
    func progress() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let id = try await session.download(server.url("slow"), to: server.path("slow"))
        var last: UInt64 = 0
        for try await reading in session.progress(every: .milliseconds(100)) where reading.offset > 0 {
            #expect(reading.taskID == id)
            #expect(reading.size == 1_000_000_000)
            #expect(reading.offset >= last)
            if last > 0 && reading.offset > last { break }
            last = reading.offset
        }
        #expect(last > 0)
        await application.close()
    }

    @Test("if an iteration over the progress begins when another one has just ended, it gets readings")
    func again() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let id = try await session.download(server.url("slow"), to: server.path("slow"))
        for _ in 0..<20 {
            let reading = try await session.progress(every: .milliseconds(100)).first { _ in true }
            #expect(reading?.taskID == id)
        }
        await application.close()
    }

    @Test("if an iteration over the progress is cancelled while it begins, the next iteration gets readings")
    func cancelledBeginning() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let id = try await session.download(server.url("slow"), to: server.path("slow"))
        for _ in 0..<20 {
            let cancelled = Task { try await session.progress(every: .milliseconds(100)).first { _ in true } }
            cancelled.cancel()
            // Both outcomes are correct: the first reading may arrive before the cancellation.
            _ = await cancelled.result
            let reading = try await session.progress(every: .milliseconds(100)).first { _ in true }
            #expect(reading?.taskID == id)
        }
        await application.close()
    }

    @Test("the progress of one task ends with its final state, even if the task never runs")
    func ofTask() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let id = try await session.download(try server.serve("a", content(1000)), to: server.path("a"))
        let suspended = Request(url: server.url("slow"), startsSuspended: true)
        let other = try await session.enqueue([suspended])[0].taskID
        let waiting = Task {
            try await session.progress(of: other, every: .milliseconds(100)).reduce(into: []) { $0.append($1.state) }
        }
        var last: TaskProgress?
        for try await reading in session.progress(of: id, every: .milliseconds(100)) { last = reading }
        #expect(last?.taskID == id)
        #expect(last?.state == .succeeded)
        #expect(last?.offset == 1000)
        #expect(last?.size == 1000)
        try await session.cancel(.ids(other))
        #expect(try await waiting.value.last == .cancelled)
        for event in try await session.poll().events { try await session.acknowledge(event) }
        // The history has the ended tasks.
        let again = try await session.progress(of: id).reduce(into: []) { $0.append($1.state) }
        #expect(again == [.succeeded])
        await application.close()
    }

    @Test("if a task's end is acknowledged between two readings, and no history keeps the task, the progress ends")
    func ofAcknowledgedTask() async throws {
        let application = try await open()
        var configuration = SessionConfiguration(identifier: "s")
        configuration.historyLimit = .noTasks
        let session = try await application.createSession(configuration)
        let suspended = Request(url: server.url("slow"), startsSuspended: true)
        let id = try await session.enqueue([suspended])[0].taskID
        var readings = session.progress(of: id, every: .milliseconds(100)).makeAsyncIterator()
        let first = try await readings.next()
        #expect(first?.state == .suspended)
        try await session.cancel(.ids(id))
        try await session.acknowledge(try await session.poll().events)
        let last = try await readings.next()
        #expect(last == nil)
        await application.close()
    }

    @Test("if the interval between progress readings is too short, the interval is refused")
    func badInterval() async throws {
        let application = try await open()
        let session = try await application.createSession(SessionConfiguration(identifier: "s"))
        let error = await #expect(throws: BackhaulError.self) {
            try await session.progress(every: .nanoseconds(1)).first { _ in true }
        }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message == "the interval is 1e-09 seconds; give 100 milliseconds to a minute")
        await application.close()
    }
}
