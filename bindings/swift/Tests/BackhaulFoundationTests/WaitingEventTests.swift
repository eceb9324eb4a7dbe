import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import Glibc
import Synchronization
import HostTestSupport
import Testing

/// An *event* is a stored message, for example that a task has ended. Each event is delivered until the program
/// acknowledges it. A *waiting event* was stored during an earlier run of the program, and that run did not acknowledge
/// it.
@Suite("Events of earlier runs", .timeLimit(.minutes(10)))
struct WaitingEventTests {
    /// Acts as an earlier run of the program: downloads a file and reads the events, but does not acknowledge them.
    private func storeWaitingEvents(_ identifier: String, _ name: String) async throws -> (file: String, task: TaskID) {
        _ = World.configuration(identifier)
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let session = try await application.createSession(SessionConfiguration(identifier: identifier))
        _ = try World.server.serve(name, content(1000))
        let request = Request(url: World.server.url(name), userData: Array("an earlier one".utf8))
        let task = try #require(try await session.enqueue([request]).first?.taskID)
        var path: String?
        for try await event in session.events {
            if case .taskEnded(let ending) = event { path = ending.path }
            if case .sessionFinished = event { break }
        }
        await application.close()
        return (try #require(path), task)
    }

    @Test("the delegate of the next session object gets a waiting event, and the task's description is restored")
    func delivered() async throws {
        let waiting = try await storeWaitingEvents("waited", "waited.bin")
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("waited"), delegate: recorder, delegateQueue: nil)
        session.finishTasksAndInvalidate()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        guard case .file(_, let content?, _) = messages.first, case .completed(let task, nil) = messages[1] else {
            Issue.record("\(messages)")
            return
        }
        #expect(messages.count == 3)
        #expect(content.count == 1000)
        #expect(task.engineTaskIdentifier == waiting.task)
        #expect(task.taskDescription == "an earlier one")
        #expect(task.originalRequest?.url == (try World.url("waited.bin")))
        #expect(session.finishedRound == 1)
    }

    @Test("if an earlier run has moved a task's file, only didCompleteWithError is called for the task")
    func movedBefore() async throws {
        let waiting = try await storeWaitingEvents("moved-before", "moved-before.bin")
        try FileManager.default.moveItem(atPath: waiting.file, toPath: World.server.path("mine.bin"))
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("moved-before"), delegate: recorder, delegateQueue: nil)
        session.finishTasksAndInvalidate()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(messages.count == 2)
        guard case .completed(_, nil) = messages.first else {
            Issue.record("\(messages)")
            return
        }
        #expect(FileManager.default.fileExists(atPath: World.server.path("mine.bin")))
    }

    @Test("if a listed task has ended, the list's completion handler is called before the delegate gets the end")
    func listedFirst() async throws {
        let waiting = try await storeWaitingEvents("listed-first", "listed-first.bin")
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("listed-first"), delegate: recorder, delegateQueue: nil)
        let listed = await withCheckedContinuation { continuation in
            session.getTasksWithCompletionHandler { _, _, downloads in continuation.resume(returning: downloads) }
        }
        #expect(listed.map(\.engineTaskIdentifier) == [waiting.task])
        #expect(listed.first?.taskDescription == "an earlier one")
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === listed.first && ended.error == nil)
        #expect(await session.allTasks.isEmpty)
        session.invalidateAndCancel()
    }

    /// A delegate that checks whether the program knows each task for which the delegate is called.
    private final class Register: NSObject, BackgroundURLSessionDownloadDelegate {
        let known = Mutex<Set<Int>>([])
        private let (checks, check) = AsyncStream<Bool>.makeStream()

        func add(_ tasks: [BackgroundURLSessionTask]) {
            known.withLock { $0.formUnion(tasks.map(\.taskIdentifier)) }
        }

        func firstCheck() async -> Bool? { await checks.first { _ in true } }

        func urlSession(
            _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) { check.yield(known.withLock { $0.contains(downloadTask.taskIdentifier) }) }
    }

    /// The function sleeps, because a thread that the system does not run for some time cannot be made in another way.
    private func pause() { usleep(700_000) }

    @Test("if the thread pauses between the session and the list, the delegate is called after the list's handler")
    func pausedBeforeList() async throws {
        _ = try await storeWaitingEvents("paused", "paused.bin")
        let register = Register()
        let session = BackgroundURLSession(configuration: World.configuration("paused"), delegate: register)
        pause()
        session.getAllTasks { tasks in
            pause()
            register.add(tasks)
        }
        #expect(await register.firstCheck() == true)
        session.invalidateAndCancel()
    }

    @Test("if an actor lists the tasks, the delegate is called after the actor could store the tasks")
    @MainActor
    func pausedAfterList() async throws {
        _ = try await storeWaitingEvents("paused-actor", "paused-actor.bin")
        let register = Register()
        let session = BackgroundURLSession(configuration: World.configuration("paused-actor"), delegate: register)
        pause()
        let tasks = await session.allTasks
        pause()
        register.add(tasks)
        #expect(await register.firstCheck() == true)
        session.invalidateAndCancel()
    }

    @Test("if the program does not list its tasks, the delegate is called for tasks of earlier runs nevertheless")
    func neverListed() async throws {
        _ = try await storeWaitingEvents("never-listed", "never-listed.bin")
        let register = Register()
        let session = BackgroundURLSession(configuration: World.configuration("never-listed"), delegate: register)
        #expect(await register.firstCheck() == false)
        session.invalidateAndCancel()
    }

    @Test("if a session object has no delegate, waiting events stay stored for a later consumer")
    func noDelegate() async throws {
        _ = try await storeWaitingEvents("left", "left.bin")
        let session = BackgroundURLSession(
            configuration: World.configuration("left"), delegate: nil, delegateQueue: nil)
        #expect(await session.allTasks.count == 1)
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        #expect(try await application.attachSession("left").poll().events.count == 2)
        await application.close()
    }

    @Test("while another process gets a session's events, this process can make tasks, and later gets their events")
    func contended() async throws {
        _ = World.configuration("contended")
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let other = try await application.createSession(SessionConfiguration(identifier: "contended"))
        _ = try World.server.serve("contended.bin", content(10))
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("contended"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("contended.bin"))
        task.resume()
        #expect(task.engineTaskIdentifier != nil)
        // `other`, which stands for the other process, gets the event.
        #expect(try await other.events.first { _ in true } != nil)
        let bad = session.downloadTask(with: try #require(URL(string: "ftp://example.org/a")))
        bad.resume()
        #expect(await recorder.untilCompleted()?.task === bad)
        #expect(task.state == .running)
        other.close()
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === task)
        #expect(ended.error == nil)
        session.invalidateAndCancel()
        await application.close()
    }
}
