import Backhaul
import BackhaulFoundation
import Foundation
import HostTestSupport
import Testing

@Suite("Progress of download tasks", .timeLimit(.minutes(10)))
struct ProgressTests {
    @Test("the progress of a running download is reported to the delegate")
    func progress() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("progress"), delegate: recorder, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("slow"))
        task.resume()
        let messages = await recorder.messages { if case .wrote = $0 { true } else { false } }
        guard case .wrote(let identifier, let total, let expected) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(identifier == task.taskIdentifier)
        #expect(total > 0)
        #expect(expected == 1_000_000_000)
        #expect(task.progress.totalUnitCount == 1_000_000_000)
        session.invalidateAndCancel()
    }

    @Test("if the program does not list its tasks, the progress of a task of an earlier run is reported nevertheless")
    func earlierRun() async throws {
        _ = World.configuration("progress-earlier")
        // This application acts as an earlier run of the program.
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        let earlier = try await application.createSession(SessionConfiguration(identifier: "progress-earlier"))
        let id = try #require(try await earlier.enqueue([Request(url: World.server.url("slow"))]).first?.taskID)
        await application.close()
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("progress-earlier"), delegate: recorder, delegateQueue: nil)
        let messages = await recorder.messages { if case .wrote = $0 { true } else { false } }
        #expect(messages.count == 1)
        let task = await session.allTasks.first
        #expect(task?.engineTaskIdentifier == id)
        #expect((task?.progress.completedUnitCount ?? 0) > 0)
        session.invalidateAndCancel()
    }

    @Test("if a download starts again from the first byte, bytesWritten is negative, so its sum is the total")
    func startsAgain() async throws {
        final class Delegate: NSObject, BackgroundURLSessionDownloadDelegate {
            let (steps, step) = AsyncStream<(bytes: Int64, total: Int64)>.makeStream()
            func urlSession(
                _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
                didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
            ) { step.yield((bytesWritten, totalBytesWritten)) }
            func urlSession(
                _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) {}
        }
        let delegate = Delegate()
        let configuration = World.configuration("progress-changing")
        configuration.timeoutIntervalForRequest = 3_600
        let session = BackgroundURLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let first = session.downloadTask(with: try World.url("changing"))
        first.resume()
        var sum: Int64 = 0
        for await step in delegate.steps {
            sum += step.bytes
            if step.total == 100_000 { break }
        }
        let data = try #require(await first.cancelByProducingResumeData())
        session.downloadTask(withResumeData: data).resume()
        for await step in delegate.steps {
            sum += step.bytes
            #expect(sum == step.total)
            if step.bytes < 0 { break }
        }
        session.invalidateAndCancel()
    }
}
