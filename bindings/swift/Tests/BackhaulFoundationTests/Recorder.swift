import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// A delegate that records its calls.
final class Recorder: NSObject, BackgroundURLSessionDownloadDelegate, BackgroundURLSessionDataDelegate {
    enum Message: Sendable {
        case wrote(task: Int, total: Int64, expected: Int64)
        case sent(task: Int, bytes: Int64, total: Int64, expected: Int64)
        case resumed(task: Int, offset: Int64, expected: Int64)
        case file(task: Int, content: Data?, location: URL)
        case data(task: Int, Data)
        case metrics(task: Int, BackgroundURLSessionTaskMetrics)
        case completed(task: BackgroundURLSessionTask, error: URLError?)
        case challenge(URLAuthenticationChallenge, task: Int)
        case finishedEvents
        case invalid(URLError?)
    }

    typealias Reply = (BackgroundURLSession.AuthChallengeDisposition, URLCredential?)

    private let messages: AsyncStream<Message>
    private let continuation: AsyncStream<Message>.Continuation
    /// The folder to which the delegate moves finished files. If this property is nil, the delegate does not move
    /// files.
    private let folder: String?
    private let reply: @Sendable () -> Reply

    init(movingTo folder: String? = nil, reply: @escaping @Sendable () -> Reply = { (.performDefaultHandling, nil) }) {
        (messages, continuation) = AsyncStream.makeStream()
        self.folder = folder
        self.reply = reply
    }

    /// Waits for a call for which `isLast` is true. Returns this call and the calls before it. Earlier calls for
    /// progress and metrics are omitted.
    func messages(through isLast: (Message) -> Bool) async -> [Message] {
        var found: [Message] = []
        for await message in messages {
            if case .wrote = message, !isLast(message) { continue }
            if case .sent = message, !isLast(message) { continue }
            if case .metrics = message, !isLast(message) { continue }
            found.append(message)
            if isLast(message) { break }
        }
        return found
    }

    func untilCompleted() async -> (task: BackgroundURLSessionTask, error: URLError?)? {
        let messages = await messages { if case .completed = $0 { true } else { false } }
        if case .completed(let task, let error) = messages.last { return (task, error) }
        return nil
    }

    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let content = try? Data(contentsOf: location)
        continuation.yield(.file(task: downloadTask.taskIdentifier, content: content, location: location))
        guard let folder, let name = downloadTask.originalRequest?.url?.lastPathComponent else { return }
        do {
            let place = URL(fileURLWithPath: folder).appendingPathComponent(name)
            try FileManager.default.moveItem(at: location, to: place)
        } catch {
            Issue.record("The file could not be moved: \(error)")
        }
    }

    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        continuation.yield(
            .wrote(
                task: downloadTask.taskIdentifier, total: totalBytesWritten, expected: totalBytesExpectedToWrite))
    }

    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
    ) {
        continuation.yield(
            .resumed(task: downloadTask.taskIdentifier, offset: fileOffset, expected: expectedTotalBytes))
    }

    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
        continuation.yield(
            .sent(
                task: task.taskIdentifier, bytes: bytesSent, total: totalBytesSent,
                expected: totalBytesExpectedToSend))
    }

    func urlSession(_ session: BackgroundURLSession, dataTask: BackgroundURLSessionDataTask, didReceive data: Data) {
        continuation.yield(.data(task: dataTask.taskIdentifier, data))
    }

    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didFinishCollecting metrics: BackgroundURLSessionTaskMetrics
    ) { continuation.yield(.metrics(task: task.taskIdentifier, metrics)) }

    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?
    ) { continuation.yield(.completed(task: task, error: error as? URLError)) }

    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        continuation.yield(.challenge(challenge, task: task.taskIdentifier))
        let (disposition, credential) = reply()
        completionHandler(disposition, credential)
    }

    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {
        continuation.yield(.invalid(error as? URLError))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {
        continuation.yield(.finishedEvents)
    }
}

/// The server and the application of this process. All tests share one store, because a process has only one
/// application.
enum World {
    static let server: Server = {
        do {
            let server = try Server()
            var options = BackgroundApplication.Options()
            options.identifier = "org.example.tests"
            options.store = server.path("store")
            options.hosting = .embedded
            try BackgroundApplication.shared.configure(options)
            return server
        } catch {
            fatalError("\(error)")
        }
    }()

    static func configuration(_ identifier: String) -> BackgroundURLSessionConfiguration {
        _ = server
        return .background(withIdentifier: identifier)
    }

    static func url(_ name: String) throws -> URL { try #require(URL(string: server.url(name))) }
}
