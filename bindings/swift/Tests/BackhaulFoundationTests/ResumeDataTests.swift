import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// A program can cancel a download and get *resume data*. With these data, a new task continues the download.
@Suite("Resume data", .timeLimit(.minutes(10)))
struct ResumeDataTests {
    private let whole = Data(String(repeating: "0123456789", count: 20_000).utf8)

    private func session(
        _ identifier: String, _ configure: (BackgroundURLSessionConfiguration) -> Void = { _ in }
    ) -> (session: BackgroundURLSession, recorder: Recorder) {
        let recorder = Recorder()
        let configuration = World.configuration(identifier)
        // The server sends only the first half of the file. Because of the long time-out, the task does not fail before
        // the test cancels it.
        configuration.timeoutIntervalForRequest = 3_600
        configure(configuration)
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        return (session, recorder)
    }

    /// Downloads the first half of a file, cancels the task, and returns the resume data.
    private func resumeData(_ session: BackgroundURLSession, _ recorder: Recorder) async throws -> Data {
        let task = session.downloadTask(with: try World.url("halves/a"))
        task.taskDescription = "both halves"
        task.resume()
        _ = await recorder.messages { if case .wrote(_, 100_000, 200_000) = $0 { true } else { false } }
        let data = try #require(await task.cancelByProducingResumeData())
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === task && ended.error?.code == .cancelled)
        #expect(ended.error?.userInfo[BackgroundURLSessionDownloadTaskResumeData] as? Data == data)
        #expect(await session.allTasks.isEmpty)
        return data
    }

    private func expectWhole(_ task: BackgroundURLSessionDownloadTask, _ recorder: Recorder) async {
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        guard messages.count == 3, case .resumed(task.taskIdentifier, 100_000, 200_000) = messages[0],
            case .file(_, let content, _) = messages[1], case .completed(let ended, nil) = messages[2]
        else {
            Issue.record("\(messages)")
            return
        }
        #expect(ended === task && content == whole && task.taskDescription == "both halves")
    }

    @Test("a task with resume data continues at the byte at which the cancelled task stopped")
    func goesOn() async throws {
        let (session, recorder) = session("parked")
        let data = try await resumeData(session, recorder)
        let task = session.downloadTask(withResumeData: data)
        #expect(task.state == .suspended)
        task.resume()
        await expectWhole(task, recorder)
        session.invalidateAndCancel()
    }

    @Test("if didCompleteWithError makes a task from the cancelled task's resume data, the new task gets its last call")
    func madeInTheLastCall() async throws {
        final class Delegate: NSObject, BackgroundURLSessionDownloadDelegate {
            let (halves, half) = AsyncStream<Void>.makeStream()
            let (tasks, task) = AsyncStream<BackgroundURLSessionTask>.makeStream()
            func urlSession(
                _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
                didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
            ) { if totalBytesWritten == 100_000 { half.yield() } }
            func urlSession(
                _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) {}
            func urlSession(
                _ session: BackgroundURLSession, task ended: BackgroundURLSessionTask,
                didCompleteWithError error: (any Error)?
            ) {
                let data = (error as? URLError)?.userInfo[BackgroundURLSessionDownloadTaskResumeData] as? Data
                let next = data.map { session.downloadTask(withResumeData: $0) }
                task.yield(next ?? ended)
                next?.resume()
            }
        }
        let delegate = Delegate()
        let configuration = World.configuration("parked-in-call")
        configuration.timeoutIntervalForRequest = 3_600
        let session = BackgroundURLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let first = session.downloadTask(with: try World.url("halves/a"))
        first.resume()
        await delegate.halves.first { _ in true }
        _ = try #require(await first.cancelByProducingResumeData())
        let tasks = await delegate.tasks.prefix(2).reduce(into: []) { $0.append($1) }
        #expect(tasks[0] !== first)
        #expect(tasks[0] === tasks[1])
        session.invalidateAndCancel()
    }

    @Test("resume data can be used after the cancelled task's session has become invalid", arguments: [true, false])
    func outlives(cancels: Bool) async throws {
        let (session, recorder) = session("parked-\(cancels)")
        let data = try await resumeData(session, recorder)
        if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
        _ = await recorder.messages { if case .invalid = $0 { true } else { false } }
        let (next, nextRecorder) = self.session("parked-\(cancels)")
        let task = next.downloadTask(withResumeData: data)
        task.resume()
        await expectWhole(task, nextRecorder)
        next.invalidateAndCancel()
    }

    @Test("invalidateAndCancel ends running and suspended tasks, but not the task that the resume data can continue")
    func cancelledBeside() async throws {
        let (session, recorder) = session("parked-beside")
        let data = try await resumeData(session, recorder)
        let running = session.downloadTask(with: try World.url("slow"))
        running.resume()
        _ = await recorder.messages { if case .wrote(running.taskIdentifier, _, _) = $0 { true } else { false } }
        let suspended = session.downloadTask(with: try World.url("slow"))
        suspended.resume()
        suspended.suspend()
        session.invalidateAndCancel()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        var cancelled: Set<BackgroundURLSessionTask> = []
        for case .completed(let task, let error) in messages where error?.code == .cancelled { cancelled.insert(task) }
        #expect(cancelled == [running, suspended])
        let (next, nextRecorder) = self.session("parked-beside")
        let task = next.downloadTask(withResumeData: data)
        task.resume()
        await expectWhole(task, nextRecorder)
        next.invalidateAndCancel()
    }

    @Test("if a task with resume data is cancelled, the resume data become invalid")
    func cancelledForGood() async throws {
        let (session, recorder) = session("parked-cancelled")
        let data = try await resumeData(session, recorder)
        for expected in [URLError.cancelled, .unsupportedURL] {
            let task = session.downloadTask(withResumeData: data)
            if expected == .cancelled { task.cancel() } else { task.resume() }
            let ended = try #require(await recorder.untilCompleted())
            #expect(ended.task === task && ended.error?.code == expected)
        }
        session.finishTasksAndInvalidate()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(messages.count == 1)
    }

    @Test(
        "a second task from the same resume data fails, and does not change the first task", arguments: [true, false])
    func usedTwice(cancels: Bool) async throws {
        let (session, recorder) = session("parked-twice-\(cancels)")
        let data = try await resumeData(session, recorder)
        let task = session.downloadTask(withResumeData: data)
        let other = session.downloadTask(withResumeData: data)
        #expect(other.taskIdentifier != task.taskIdentifier)
        if cancels { other.cancel() } else { other.resume() }
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === other && ended.error?.code == (cancels ? .cancelled : .unsupportedURL))
        task.resume()
        await expectWhole(task, recorder)
        session.invalidateAndCancel()
    }

    /// Opens the session as another run of the program. Returns the session and its only task.
    private func otherRun(_ identifier: String) async throws -> (Application, Session, TaskID) {
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let session = try await application.attachSession(identifier, role: .produce)
        let task = try #require(try await session.tasks().first { _ in true })
        return (application, session, task.id)
    }

    @Test("if another run has used the resume data, the cancellation of a task with these data changes nothing")
    func usedInOtherRun() async throws {
        let name = "parked-other-run"
        let (session, recorder) = session(name)
        let data = try await resumeData(session, recorder)
        let (application, other, id) = try await otherRun(name)
        // The task continues, but does not end before the test removes the earliest start.
        try await other.reschedule(.ids(id), earliestStart: .at(4_000_000_000_000), latestStart: .removed)
        try await other.resume(.ids(id))
        let late = session.downloadTask(withResumeData: data)
        late.cancel()
        let refused = try #require(await recorder.untilCompleted())
        #expect(refused.task === late && refused.error?.code == .cancelled)
        #expect(try await other.task(id).state == .waiting)
        try await other.reschedule(.ids(id), earliestStart: .removed)
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        guard case .file(_, let content, _) = messages.first, case .completed(let ended, nil) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(content == whole && ended.engineTaskIdentifier == id)
        await application.close()
        session.invalidateAndCancel()
    }

    @Test("properties that are set before the first resume of a task with resume data apply")
    func properties() async throws {
        let name = "parked-properties"
        let (session, recorder) = session(name)
        let task = session.downloadTask(withResumeData: try await resumeData(session, recorder))
        task.earliestBeginDate = Date(timeIntervalSince1970: 4_000_000_000)
        task.priority = BackgroundURLSessionTask.highPriority
        task.countOfBytesClientExpectsToReceive = 6
        task.resume()
        let (application, other, id) = try await otherRun(name)
        let info = try await other.task(id)
        #expect(info.earliestStartMilliseconds == 4_000_000_000_000 && info.priority == 50)
        #expect(task.earliestBeginDate == Date(timeIntervalSince1970: 4_000_000_000))
        #expect(task.priority == BackgroundURLSessionTask.highPriority)
        #expect(task.countOfBytesClientExpectsToReceive == 6)
        await application.close()
        task.earliestBeginDate = nil
        await expectWhole(task, recorder)
        session.invalidateAndCancel()
    }

    @Test("if a command of the first resume of a task with resume data fails, resume can be called again")
    func failedResume() async throws {
        let (session, recorder) = session("parked-failed-resume")
        let task = session.downloadTask(withResumeData: try await resumeData(session, recorder))
        // The engine refuses a time after the year 9999.
        task.earliestBeginDate = Date(timeIntervalSince1970: 900_000_000_000)
        task.resume()
        #expect(task.state == .suspended)
        task.earliestBeginDate = nil
        task.resume()
        await expectWhole(task, recorder)
        session.invalidateAndCancel()
    }

    @Test("if the engine has kept a task already, but its reply was lost, a repeated cancellation has resume data")
    func keptBefore() async throws {
        let name = "parked-before"
        let (session, recorder) = session(name)
        let task = session.downloadTask(with: try World.url("halves/a"))
        task.taskDescription = "both halves"
        task.resume()
        _ = await recorder.messages { if case .wrote(_, 100_000, 200_000) = $0 { true } else { false } }
        let (application, other, id) = try await otherRun(name)
        try await other.suspend(.ids(id))
        // The latest start is the mark of a kept task.
        try await other.reschedule(.ids(id), latestStart: .at(253_402_300_799_998))
        try await other.setAside(.ids(id))
        await application.close()
        let data = try #require(await task.cancelByProducingResumeData())
        #expect(await recorder.untilCompleted()?.task === task)
        let next = session.downloadTask(withResumeData: data)
        next.resume()
        await expectWhole(next, recorder)
        session.invalidateAndCancel()
    }

    @Test("a session finishes without the task that the resume data can continue, and this task can be continued later")
    func finishes() async throws {
        let name = "parked-finishes"
        _ = try World.server.serve(name, content(10))
        let (session, recorder) = session(name)
        let data = try await resumeData(session, recorder)
        await untilRound(1, session)
        let other = session.downloadTask(with: try World.url(name))
        other.resume()
        let ended = try #require(await recorder.untilCompleted())
        #expect(ended.task === other && ended.error == nil)
        await untilRound(2, session)
        let task = session.downloadTask(withResumeData: data)
        task.resume()
        await expectWhole(task, recorder)
        await untilRound(3, session)
        session.invalidateAndCancel()
    }

    /// Waits until the session has finished the round. No delegate method reports the end of a round in a program that
    /// was not launched.
    private func untilRound(_ round: UInt64, _ session: BackgroundURLSession) async {
        while session.finishedRound < round { try? await Task.sleep(for: .milliseconds(20)) }
        #expect(session.finishedRound == round)
    }

    @Test("if resume data are not used within timeoutIntervalForResource, the kept task ends without a delegate call")
    func thrownAway() async throws {
        let name = "parked-thrown-away"
        let (session, recorder) = session(name) { $0.timeoutIntervalForResource = 20 }
        let data = try await resumeData(session, recorder)
        let observer = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        // The event about the end of the kept task must be read before the next task has the same identifier.
        while try await observer.sessions().contains(where: {
            $0.identifier == name && ($0.liveTasks > 0 || $0.events > 0)
        }) {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(session.finishedRound == 1)
        let late = session.downloadTask(withResumeData: data)
        late.resume()
        let refused = try #require(await recorder.untilCompleted())
        #expect(refused.task === late && refused.error?.code == .unsupportedURL)
        session.finishTasksAndInvalidate()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(messages.count == 1)
    }

    @Test("resume data of another session and invalid data are refused")
    func unusable() async throws {
        let (session, recorder) = session("parked-here")
        let (other, otherRecorder) = self.session("parked-there")
        for data in [try await resumeData(session, recorder), Data("nonsense".utf8), Data()] {
            let task = other.downloadTask(withResumeData: data)
            task.resume()
            let ended = try #require(await otherRecorder.untilCompleted())
            #expect(ended.task === task && ended.error?.code == .unsupportedURL)
        }
        session.invalidateAndCancel()
        other.invalidateAndCancel()
    }

    @Test("a task that was never resumed has no resume data")
    func notResumed() async throws {
        let (session, recorder) = session("parked-new")
        let task = session.downloadTask(with: try World.url("halves/a"))
        let (none, noData) = AsyncStream<Data?>.makeStream()
        task.cancel(byProducingResumeData: { noData.yield($0) })
        #expect(await none.first { _ in true } == .some(nil))
        #expect(await recorder.untilCompleted()?.error?.code == .cancelled)
        session.invalidateAndCancel()
    }
}
