import Backhaul
import Foundation
import HostTestSupport
import Testing

/// An *event* is a stored message, for example that a task has ended. It is delivered again until the program
/// *acknowledges* it. The *history* lists ended tasks whose events are acknowledged. An *idempotency key* is a text in
/// a request. A second request with the same key makes no new task.
@Suite("The ends of tasks", .timeLimit(.minutes(10)))
struct EndingTests: EmbeddedTests {
    let server: Server

    init() throws { server = try Server() }

    private func withSession(
        _ configuration: SessionConfiguration = SessionConfiguration(identifier: "s"),
        _ body: (Session) async throws -> Void
    ) async throws {
        let application = try await open()
        try await body(try await application.createSession(configuration))
        await application.close()
    }

    @Test("a program that waits for the end of its task gets the same file at its second run")
    func secondRun() async throws {
        let url = try server.serve("a", content(10))
        for _ in 0..<2 {
            try await withSession { session in
                let id = try await session.download(url, to: server.path("a"), key: "a")
                let ending = try await session.ending(of: id)
                #expect(ending.outcome == .succeeded(path: server.path("a")))
                #expect(ending.taskID == id)
                #expect(ending.size == 10)
                #expect(ending.idempotencyKey == "a")
                if let event = ending.eventID { try await session.acknowledge(ids: [event]) }
                #expect(try await session.task(id).state == .succeeded)
            }
        }
    }

    @Test("a download that returns its file returns the same file at the second run of the program")
    func downloadTwice() async throws {
        let bytes = content(1000)
        let url = try server.serve("a", bytes)
        for _ in 0..<2 {
            try await withSession { session in
                let path = try await session.downloadFile(url, to: server.path("a"), key: "a")
                #expect(FileManager.default.contents(atPath: path) == bytes)
                #expect(try await session.history().tasks.count == 1)
            }
        }
    }

    @Test("a download that returns its file needs no history, and says if the file of the earlier run is gone")
    func withoutHistory() async throws {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.historyLimit = .noTasks
        let url = try server.serve("a", content(10))
        try await withSession(configuration) { session in
            let path = try await session.downloadFile(url, to: server.path("a"), key: "a")
            #expect(try await session.downloadFile(url, to: server.path("a"), key: "a") == path)
            try FileManager.default.removeItem(atPath: path)
            let error = await #expect(throws: BackhaulError.self) {
                try await session.downloadFile(url, to: server.path("a"), key: "a")
            }
            #expect(error?.status == .notFound)
            #expect(error?.message.contains(path) == true)
        }
    }

    @Test("a download that failed throws the reason, and the next download with the same key makes a new task")
    func failsAndSucceeds() async throws {
        try await withSession { session in
            let error = await #expect(throws: BackhaulError.self) {
                try await session.downloadFile(server.url("late"), to: server.path("late"), key: "late")
            }
            #expect(error?.status == .httpStatus)
            let url = try server.serve("late", content(10))
            #expect(
                try await session.downloadFile(url, to: server.path("late"), key: "late") == server.path("late"))
        }
    }

    @Test("after a download that returns its file, the session can be completed, and the key is then free")
    func completed() async throws {
        let url = try server.serve("a", content(10))
        for run in 1...3 {
            try await withSession { session in
                _ = try await session.downloadFile(url, to: server.path("a"), key: "a", ifExists: .replace)
                try await session.complete()
                #expect(try await session.history().tasks.count == run)
            }
        }
    }

    @Test("after acknowledged endings, the session can be completed, and the keys are then free")
    func acknowledgedEndings() async throws {
        for run in 1...2 {
            try await withSession { session in
                for name in ["a", "b"] {
                    let task = try await session.upload(.bytes([1]), to: server.url("in/\(name)"), key: name)
                    try await session.acknowledge(try await session.ending(of: task))
                }
                try await session.complete()
                #expect(try await session.history().tasks.count == 2 * run)
            }
        }
    }

    @Test("a second run after a crash before the call of complete completes the session, and the key is then free")
    func completedLater() async throws {
        let url = try server.serve("a", content(10))
        for run in 1...3 {
            try await withSession { session in
                _ = try await session.downloadFile(url, to: server.path("a"), key: "a", ifExists: .replace)
                if run == 2 { try await session.complete() }
                #expect(try await session.history().tasks.count == (run == 3 ? 2 : 1))
            }
        }
    }

    @Test("a session cannot be completed before the events that the program has not read are acknowledged")
    func outstanding() async throws {
        try await withSession { session in
            let tasks = [
                try await session.upload(.bytes([1]), to: server.url("in/a")),
                try await session.upload(.bytes([1]), to: server.url("in/b")),
            ]
            for task in tasks { _ = try await session.ending(of: task) }
            try await session.acknowledge(try await session.ending(of: tasks[0]))
            let error = await #expect(throws: BackhaulError.self) { try await session.complete() }
            #expect(error?.status == .eventsOutstanding)
            let rest = try await session.poll().events
            #expect(rest.contains { if case .taskEnded(let ending) = $0 { ending.taskID == tasks[1] } else { false } })
            try await session.acknowledge(rest)
            try await session.complete()
        }
    }

    @Test("a program that reads the event about the end of all tasks must acknowledge it before it completes")
    func readEnd() async throws {
        try await withSession { session in
            let task = try await session.upload(.bytes([1]), to: server.url("in/a"))
            try await session.acknowledge(try await session.ending(of: task))
            let end = try await session.events.first { if case .sessionFinished = $0 { true } else { false } }
            let error = await #expect(throws: BackhaulError.self) { try await session.complete() }
            #expect(error?.status == .eventsOutstanding)
            try await session.acknowledge(try #require(end))
            try await session.complete()
        }
    }

    @Test("an ending that was not acknowledged in an earlier run has the details of its event")
    func unacknowledged() async throws {
        let url = try server.serve("a", content(10))
        var enqueued: TaskID?
        try await withSession { session in
            enqueued = try await session.download(url, to: server.path("a"))
            for try await event in session.events { if case .sessionFinished = event { break } }
        }
        let id = try #require(enqueued)
        try await withSession { session in
            let ending = try await session.ending(of: id)
            #expect(ending.eventID != nil)
            #expect(ending.finalURL == url)
            #expect(!ending.headers.isEmpty)
        }
    }

    @Test("many Swift tasks get the ends of their tasks while another one reads and acknowledges all events")
    func beside() async throws {
        let urls = try (0..<50).map { try server.serve("\($0)", content($0 + 1)) }
        try await withSession { session in
            let gate = try await session.enqueue([Request(url: server.url("absent"), startsSuspended: true)])[0].taskID
            let reader = Task {
                for try await event in session.events {
                    try await session.acknowledge(event)
                    if case .sessionFinished = event { break }
                }
            }
            let sizes = try await withThrowingTaskGroup(of: UInt64.self) { group in
                for (number, url) in urls.enumerated() {
                    group.addTask {
                        let id = try await session.download(url, to: server.path("file-\(number)"))
                        return try await session.ending(of: id).size
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes.sorted() == (1...50).map { UInt64($0) })
            try await session.cancel(.ids(gate))
            try await reader.value
        }
    }

    @Test("waits for ended tasks end although another Swift task acknowledges the events at the same time")
    func acknowledgedMeanwhile() async throws {
        try await withSession { session in
            for round in 0..<50 {
                let task = try await session.upload(.bytes([1]), to: server.url("in/\(round)"))
                var events: [Event] = []
                for try await event in session.events {
                    events.append(event)
                    if case .sessionFinished = event { break }
                }
                let ending = Task { try await session.ending(of: task) }
                try await session.acknowledge(events)
                #expect(try await ending.value.taskID == task)
            }
        }
    }

    @Test("a wait for a task that does not run ends when the task is cancelled")
    func cancelledTask() async throws {
        try await withSession { session in
            let id = try await session.enqueue([Request(url: server.url("slow"), startsSuspended: true)])[0].taskID
            let waiting = Task { try await session.ending(of: id) }
            try await session.cancel(.ids(id))
            #expect(try await waiting.value.outcome == .cancelled)
        }
    }

    @Test("a wait for an unknown task fails, and a wait that is cancelled throws CancellationError")
    func noEnding() async throws {
        try await withSession { session in
            let error = await #expect(throws: BackhaulError.self) {
                try await session.ending(of: TaskID(rawValue: 77))
            }
            #expect(error?.status == .notFound)
            let id = try await session.download(server.url("slow"), to: server.path("slow"))
            let waiting = Task { try await session.ending(of: id) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(try await session.task(id).state != .cancelled)
        }
    }

    @Test("two readers of a session's events both get each event")
    func twoReaders() async throws {
        let url = try server.serve("a", content(10))
        try await withSession { session in
            let readers = (0..<2).map { _ in
                Task {
                    var count = 0
                    for try await event in session.events {
                        count += 1
                        if case .sessionFinished = event { break }
                    }
                    return count
                }
            }
            try await session.download(url, to: server.path("a"))
            for reader in readers { #expect(try await reader.value == 2) }
        }
    }
}
