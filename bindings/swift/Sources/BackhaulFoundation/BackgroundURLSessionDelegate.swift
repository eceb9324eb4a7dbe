public import Foundation
public import FoundationNetworking

/// What a session tells: URLSessionDelegate. All methods may be left out, and are called on the session's delegate
/// queue, one after the other. A delegate is an NSObject, as Apple's are.
///
/// There is no `urlSession(_:didReceive:completionHandler:)`, and a delegate that has one does not compile: the daemon
/// verifies servers while the program does not run, and could not ask it.
public protocol BackgroundURLSessionDelegate: NSObjectProtocol, Sendable {
    /// The last message of a session, which then gives its delegate up. Nil: it was invalidated or, in a program that
    /// was launched for it, completed.
    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Everything that waited has been delivered: now the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)` may be called. It comes only where the
    /// program has such a handler; again when more was delivered and the handler was not called yet.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession)
}

/// What a session tells of its tasks: URLSessionTaskDelegate.
public protocol BackgroundURLSessionTaskDelegate: BackgroundURLSessionDelegate {
    /// The last message of a task. Its event is acknowledged when this has returned: a program that dies before is told
    /// again. Unlike Apple's, an answer whose status is not 2xx is an error: `URLError.badServerResponse`, with the
    /// answer in `task.response`.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?)

    /// Several times a second at most, while a body is sent. Begun anew, `bytesSent` is negative.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64)

    /// What was measured of each try, before the task's last message. Left out where nothing is remembered of it.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didFinishCollecting metrics: BackgroundURLSessionTaskMetrics)

    /// A server or proxy asks for a credential: once for each protection space, with one of the tasks that wait for it.
    /// The handler may be called later and from any thread, and its answer is for all of them. Left out, the `async`
    /// form is called.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same as an `async` method. Left out, it is `.performDefaultHandling`: the tasks fail with
    /// `URLError.userAuthenticationRequired`.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?)
}

/// What a session tells of its uploads' answers: URLSessionDataDelegate.
public protocol BackgroundURLSessionDataDelegate: BackgroundURLSessionTaskDelegate {
    /// The answer's body, once and whole up to its first 65,536 bytes, before the task's last message. Also of an
    /// answer that is an error.
    func urlSession(_ session: BackgroundURLSession, dataTask: BackgroundURLSessionDataTask, didReceive data: Data)
}

/// What a session tells of its downloads: URLSessionDownloadDelegate.
public protocol BackgroundURLSessionDownloadDelegate: BackgroundURLSessionTaskDelegate {
    /// The file is whole and synced. It is removed after the task's last message, which follows, unless it was moved.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didFinishDownloadingTo location: URL)

    /// Several times a second at most. `totalBytesExpectedToWrite` is `BackgroundURLSessionTransferSizeUnknown` until
    /// an answer has told it. After a new start from the beginning `bytesWritten` is negative.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A task of `downloadTask(withResumeData:)` goes on. A server that has another file now makes it start over.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
}

extension BackgroundURLSessionDelegate {
    public func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {}
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {}
}

extension BackgroundURLSessionTaskDelegate {
    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {}

    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didFinishCollecting metrics: BackgroundURLSessionTaskMetrics
    ) {}

    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?
    ) {}

    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Task {
            let (disposition, credential) = await urlSession(session, task: task, didReceive: challenge)
            completionHandler(disposition, credential)
        }
    }

    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

extension BackgroundURLSessionDataDelegate {
    public func urlSession(
        _ session: BackgroundURLSession, dataTask: BackgroundURLSessionDataTask, didReceive data: Data
    ) {}
}

extension BackgroundURLSessionDownloadDelegate {
    public func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {}

    public func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
    ) {}
}

// A delegate's method of this name overrides one of NSObject, and so does not compile. A method that compiled would
// never be called, and a program that pins certificates in it would trust servers that it means to refuse. These
// declarations are marked deprecated, not unavailable, because an unavailable method may be overridden.
extension NSObject {
    /// Servers are verified by the daemon, also while the program does not run: it cannot ask the delegate. To pin, set
    /// `caFile` of the configuration, or `tls.pinnedPublicKeys` in its `adjustment`. Servers and proxies that ask
    /// for a password are `urlSession(_:task:didReceive:completionHandler:)`.
    @available(*, deprecated, message: "Background sessions verify servers in the daemon, and cannot ask the delegate.")
    public func urlSession(
        _ session: BackgroundURLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { completionHandler(.performDefaultHandling, nil) }

    /// As `urlSession(_:didReceive:completionHandler:)`.
    @available(*, deprecated, message: "Background sessions verify servers in the daemon, and cannot ask the delegate.")
    public func urlSession(
        _ session: BackgroundURLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

/// A size that is not known.
public let BackgroundURLSessionTransferSizeUnknown: Int64 = -1

/// In the `userInfo` of the error of a task that was cancelled by `cancel(byProducingResumeData:)`.
public let BackgroundURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
