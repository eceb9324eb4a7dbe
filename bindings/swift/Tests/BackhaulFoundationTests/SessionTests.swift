import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

@Suite("Background sessions", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test("delegate calls are made on the delegate queue")
    func queue() async throws {
        final class Delegate: NSObject, BackgroundURLSessionDownloadDelegate {
            let name: AsyncStream<String?>.Continuation
            init(_ name: AsyncStream<String?>.Continuation) { self.name = name }
            func urlSession(
                _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) { name.yield(OperationQueue.current?.name) }
        }
        _ = try World.server.serve("queue", content(10))
        let (names, name) = AsyncStream<String?>.makeStream()
        let queue = OperationQueue()
        queue.name = "mine"
        let session = BackgroundURLSession(
            configuration: World.configuration("queue"), delegate: Delegate(name), delegateQueue: queue)
        #expect(session.delegateQueue === queue)
        session.downloadTask(with: try World.url("queue")).resume()
        #expect(await names.first { _ in true } == "mine")
        session.invalidateAndCancel()
    }

    @Test("if two session objects have one identifier, the first object's delegate gets the calls for all tasks")
    func sameIdentifier() async throws {
        _ = try World.server.serve("same", content(10))
        let (first, second) = (Recorder(), Recorder())
        let configuration = World.configuration("same")
        let session = BackgroundURLSession(configuration: configuration, delegate: first, delegateQueue: nil)
        let other = BackgroundURLSession(configuration: configuration, delegate: second, delegateQueue: nil)
        #expect(other.delegate === first)
        let task = other.downloadTask(with: try World.url("same"))
        task.resume()
        #expect(await first.untilCompleted()?.task === task)
        session.invalidateAndCancel()
    }

    @Test("after invalidateAndCancel, all tasks end with an error, and the session's identifier can be used again")
    func cancels() async throws {
        let recorder = Recorder()
        let configuration = World.configuration("invalid")
        let session = BackgroundURLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        let running = session.downloadTask(with: try World.url("slow"))
        running.resume()
        let new = session.downloadTask(with: try World.url("slow"))
        session.invalidateAndCancel()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        var cancelled: Set<BackgroundURLSessionTask> = []
        for case .completed(let task, let error) in messages {
            #expect(error?.code == .cancelled)
            cancelled.insert(task)
        }
        #expect(cancelled == [running, new])
        #expect(session.delegate == nil)
        guard case .invalid(nil) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        let late = session.downloadTask(with: try World.url("slow"))
        late.resume()
        #expect(late.state == .completed)
        #expect(late.error != nil)

        let again = Recorder()
        let next = BackgroundURLSession(configuration: configuration, delegate: again, delegateQueue: nil)
        #expect(next.delegate === again)
        #expect(await next.allTasks.isEmpty)
        next.invalidateAndCancel()
    }

    @Test("after finishTasksAndInvalidate, all tasks end before the session becomes invalid")
    func finishes() async throws {
        _ = try World.server.serve("rest", content(10))
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration("finish"), delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try World.url("rest")).resume()
        session.finishTasksAndInvalidate()
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        #expect(messages.contains { if case .completed(_, nil) = $0 { true } else { false } })
        guard case .invalid(nil) = messages.last else {
            Issue.record("\(messages)")
            return
        }
    }

    @Test("if a proxy dictionary is not supported, the list `unhonored` contains connectionProxyDictionary")
    func unhonored() {
        let configuration = World.configuration("unhonored")
        #expect(configuration.unhonored.isEmpty)
        configuration.connectionProxyDictionary = [
            "HTTPProxy": "a", "HTTPEnable": 1, "SOCKSProxy": "b", "SOCKSEnable": 1,
        ]
        #expect(configuration.unhonored == ["connectionProxyDictionary"])
    }

    @Test("a later change of the configuration object does not change the session")
    func copies() async throws {
        let configuration = World.configuration("copy")
        configuration.timeoutIntervalForRequest = 7
        let session = BackgroundURLSession(configuration: configuration, delegate: Recorder(), delegateQueue: nil)
        configuration.timeoutIntervalForRequest = 8
        #expect(session.configuration.timeoutIntervalForRequest == 7)
        session.configuration.timeoutIntervalForRequest = 9
        #expect(session.configuration.timeoutIntervalForRequest == 7)
        session.invalidateAndCancel()
    }

    @Test("a session with an invalid identifier becomes invalid with an error, which its later tasks also get")
    func badIdentifier() async throws {
        let recorder = Recorder()
        let session = BackgroundURLSession(
            configuration: World.configuration(""), delegate: recorder, delegateQueue: nil)
        let messages = await recorder.messages { if case .invalid = $0 { true } else { false } }
        guard case .invalid(let error?) = messages.last else {
            Issue.record("\(messages)")
            return
        }
        let reason = error.userInfo[NSUnderlyingErrorKey] as? BackhaulError
        #expect(reason?.status == .invalidArgument)
        #expect(session.delegate == nil)
        let late = session.downloadTask(with: try World.url("slow"))
        late.resume()
        #expect((late.error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? BackhaulError == reason)
    }
}
