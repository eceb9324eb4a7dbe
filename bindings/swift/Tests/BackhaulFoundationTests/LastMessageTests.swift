import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// The last delegate call for a task is `didCompleteWithError`. The last delegate call for a session is
/// `didBecomeInvalidWithError`: the session has then ended.
@Suite("Last delegate calls", .timeLimit(.minutes(10)))
struct LastMessageTests {
    private func ended(_ identifier: String) async throws -> (session: BackgroundURLSession, recorder: Recorder) {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration(identifier), delegate: recorder, delegateQueue: nil)
        session.invalidateAndCancel()
        _ = await recorder.messages { if case .invalid = $0 { true } else { false } }
        // A second call of `invalidateAndCancel` has no effect.
        session.invalidateAndCancel()
        return (session, recorder)
    }

    @Test("if a task is resumed after its session has ended, didCompleteWithError is called", arguments: 0..<5)
    func resumedLate(round: Int) async throws {
        let (session, recorder) = try await ended("late-\(round)")
        let task = session.downloadTask(with: try World.url("slow"))
        task.resume()
        let message = try #require(await recorder.untilCompleted())
        #expect(message.task === task && task.state == .completed)
        #expect(message.error?.code == .backgroundSessionWasDisconnected)
    }

    @Test("if a task is cancelled after its session has ended, didCompleteWithError is called")
    func cancelledLate() async throws {
        let (session, recorder) = try await ended("late-cancel")
        let task = session.uploadTask(with: URLRequest(url: try World.url("in/1")), from: Data("x".utf8))
        task.cancel()
        let message = try #require(await recorder.untilCompleted())
        #expect(message.task === task && message.error?.code == .cancelled)
    }

    @Test("after finishTasksAndInvalidate, a new task fails, but an earlier task can still be resumed")
    func finishing() async throws {
        _ = try World.server.serve("made-before", content(10))
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("finishing"), delegate: recorder, delegateQueue: nil)
        let before = session.downloadTask(with: try World.url("made-before"))
        session.finishTasksAndInvalidate()
        let after = session.downloadTask(with: try World.url("made-before"))
        after.resume()
        let refused = try #require(await recorder.untilCompleted())
        #expect(refused.task === after && refused.error?.code == .backgroundSessionWasDisconnected)
        before.resume()
        let finished = try #require(await recorder.untilCompleted())
        #expect(finished.task === before && finished.error == nil)
        let last = await recorder.messages { if case .invalid = $0 { true } else { false } }.last
        guard case .invalid(nil) = last else {
            Issue.record("It is not invalid, or with an error.")
            return
        }
    }

    @Test("if a session cannot be opened, didCompleteWithError is called before didBecomeInvalidWithError")
    func notOpened() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(configuration: World.configuration("\u{7}"), delegate: recorder)
        let task = session.downloadTask(with: try World.url("slow"))
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        guard case .completed(task, _?) = messages.first else {
            // The task was made after the end of the session, so it gets its last call when it is resumed.
            task.resume()
            #expect(await recorder.untilCompleted()?.task === task)
            return
        }
        #expect(messages.count == 2)
    }

    @Test("if the first session object has no delegate, the second object's delegate gets didCompleteWithError")
    func adopted() async throws {
        _ = try World.server.serve("adopted", content(10))
        let configuration = World.configuration("adopted")
        let session = BackgroundURLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
        let task = session.downloadTask(with: try World.url("adopted"))
        task.resume()
        #expect(task.engineTaskIdentifier != nil)
        let recorder = Recorder()
        let other = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        #expect(session.delegate === recorder)
        #expect(await recorder.untilCompleted()?.task === task)
        other.invalidateAndCancel()
    }

    @Test("if a session has no delegate, an unsupported task has the state completed and an error")
    func noDelegate() async throws {
        let session = BackgroundURLSession(
            configuration: World.configuration("no-delegate"), delegate: nil, delegateQueue: nil)
        let task = session.downloadTask(with: try #require(URL(string: "ftp://example.org/a")))
        task.resume()
        #expect(task.state == .completed && (task.error as? URLError)?.code == .unsupportedURL)
        session.invalidateAndCancel()
    }
}
