public import Foundation
public import FoundationNetworking

/// The delegate of a session (Apple: URLSessionDelegate).
///
/// All methods are optional. They are called on the session's delegate queue, one after the other. A delegate is an
/// NSObject, as on Apple's systems.
///
/// There is no `urlSession(_:didReceive:completionHandler:)`, and a delegate that has one does not compile: the daemon
/// verifies servers while the program does not run, and cannot call the delegate.
public protocol BackgroundURLSessionDelegate: NSObjectProtocol, Sendable {
    /// The last call for a session, which then releases its delegate. The error is nil if the session was invalidated
    /// or, in a program that was launched for it, completed.
    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Called when all waiting events are delivered. The program may then call the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// It is called only if the program has such a handler. It is called again if a round has ended or a challenge was
    /// delivered since, and the program has not called the handler yet.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession)
}

/// The delegate of a session with tasks (Apple: URLSessionTaskDelegate).
public protocol BackgroundURLSessionTaskDelegate: BackgroundURLSessionDelegate {
    /// The last call for a task. Its event is acknowledged when this has returned. If the program ends before, the next
    /// start gets the call again.
    ///
    /// Unlike on Apple's systems, a response with a status other than 2xx is an error: `URLError.badServerResponse`,
    /// with the response in `task.response`.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?)

    /// Called while a body is sent, at most a few times a second. When the body is sent again from its start,
    /// `bytesSent` is negative.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64)

    /// Called with the metrics of each attempt, before the task's last call. It is not called if the engine has stored
    /// no attempt.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didFinishCollecting metrics: BackgroundURLSessionTaskMetrics)

    /// Called when a server or proxy demands a credential, once for each protection space, with one of the waiting
    /// tasks.
    ///
    /// The handler may be called later and on any thread. The response applies to all waiting tasks. If the delegate
    /// does not have this method, the `async` form is called.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The same as an `async` method. If the delegate has neither method, the response is `.performDefaultHandling`:
    /// the tasks fail with `URLError.userAuthenticationRequired`.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?)
}

/// The delegate of a session with uploads, which gets the bodies of responses (Apple: URLSessionDataDelegate).
public protocol BackgroundURLSessionDataDelegate: BackgroundURLSessionTaskDelegate {
    /// Called once with the response's body, at most its first 65,536 bytes, before the task's last call. It is also
    /// called for a response that is an error.
    func urlSession(_ session: BackgroundURLSession, dataTask: BackgroundURLSessionDataTask, didReceive data: Data)
}

/// The delegate of a session with downloads (Apple: URLSessionDownloadDelegate).
public protocol BackgroundURLSessionDownloadDelegate: BackgroundURLSessionTaskDelegate {
    /// Called when the file is complete and synced. The task's last call follows; after that the file is removed unless
    /// the program has moved it.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didFinishDownloadingTo location: URL)

    /// Called while the file is downloaded, at most a few times a second. `totalBytesExpectedToWrite` is
    /// `BackgroundURLSessionTransferSizeUnknown` until a response has stated it. When the download starts again from
    /// the first byte, `bytesWritten` is negative.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// Called when a task of `downloadTask(withResumeData:)` continues. If the server's file has changed, the download
    /// then starts again from the first byte.
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

// These methods make a delegate's method of the same name an override, which does not compile. If it compiled, it would
// never be called, and a program that pins certificates in it would trust servers that it means to refuse. The
// declarations are deprecated and not unavailable, because an unavailable method may be overridden.
extension NSObject {
    /// Not available: the daemon verifies servers, also while the program does not run, and cannot call the delegate.
    ///
    /// To pin certificates, set `caFile` of the configuration, or `tls.pinnedPublicKeys` in its `adjustment`. If a
    /// server or proxy demands a password, `urlSession(_:task:didReceive:completionHandler:)` is called.
    @available(*, deprecated, message: "Background sessions verify servers in the daemon, which has no delegate.")
    public func urlSession(
        _ session: BackgroundURLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { completionHandler(.performDefaultHandling, nil) }

    /// Not available, as `urlSession(_:didReceive:completionHandler:)`.
    @available(*, deprecated, message: "Background sessions verify servers in the daemon, which has no delegate.")
    public func urlSession(
        _ session: BackgroundURLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

/// The value of a size that is not known.
public let BackgroundURLSessionTransferSizeUnknown: Int64 = -1

/// The key of the resume data in the `userInfo` of the error of a task that was cancelled by
/// `cancel(byProducingResumeData:)`.
public let BackgroundURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
