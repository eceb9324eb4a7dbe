public import Foundation
public import FoundationNetworking

/// The delegate of a session (Apple: URLSessionDelegate).
///
/// All methods are optional. They are called on the session's delegate queue, one after the other. A delegate is an
/// NSObject, as on Apple's systems.
///
/// The transfers run in a separate process, the daemon, which also verifies the certificates of servers. While the
/// program does not run, the daemon cannot call the delegate. So the protocol does not have
/// `urlSession(_:didReceive:completionHandler:)`, and a delegate with that method does not compile.
public protocol BackgroundURLSessionDelegate: NSObjectProtocol, Sendable {
    /// Called when the session has become invalid. After this last call, the session releases its delegate. The error
    /// is nil if the program has invalidated the session. The error is also nil if the program was launched for the
    /// session, and has called the session's completion handler.
    func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Called when the delegate has got all waiting events: ends of tasks, and challenges. The program may then call
    /// the completion handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// The method is called only if the program has that handler. Until the program calls the handler, the method is
    /// called again each time when all tasks have ended, and after each further challenge.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession)
}

/// The delegate of a session with tasks (Apple: URLSessionTaskDelegate).
public protocol BackgroundURLSessionTaskDelegate: BackgroundURLSessionDelegate {
    /// Called when a task has ended. This call is the last call for the task. After the method has returned, the
    /// library stores that the end of the task was delivered. If the program ends before the library has stored this
    /// fact, the method is called again in the next run of the program.
    ///
    /// Unlike on Apple's systems, a response with a status other than 2xx is an error. The error is
    /// `URLError.badServerResponse`, and `task.response` has the response.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?)

    /// Called while a body is sent, at most a few times a second. When the body is sent again from its start,
    /// `bytesSent` is negative.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64)

    /// Called before the last call for a task, with the metrics of all its attempts. An attempt is one run of the task.
    /// If no attempt was stored, the method is not called.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didFinishCollecting metrics: BackgroundURLSessionTaskMetrics)

    /// Called when a server or proxy demands a credential, once for each protection space (a server or proxy, with a
    /// realm). The argument `task` is one of the tasks that wait for the credential.
    ///
    /// The program may call the handler later, and on any thread. The response applies to all tasks that wait for the
    /// credential. If the delegate does not have this method, the `async` form is called.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The `async` form of the method above. If the delegate has neither method, the response is
    /// `.performDefaultHandling`: the tasks fail with `URLError.userAuthenticationRequired`.
    func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?)
}

/// The delegate of a session with uploads, which gets the bodies of responses (Apple: URLSessionDataDelegate).
public protocol BackgroundURLSessionDataDelegate: BackgroundURLSessionTaskDelegate {
    /// Called once before the last call for a task, with at most the first 65,536 bytes of the response's body. The
    /// method is also called if the response is an error. If the body is empty, the method is not called.
    func urlSession(_ session: BackgroundURLSession, dataTask: BackgroundURLSessionDataTask, didReceive data: Data)
}

/// The delegate of a session with downloads (Apple: URLSessionDownloadDelegate).
public protocol BackgroundURLSessionDownloadDelegate: BackgroundURLSessionTaskDelegate {
    /// Called when the file is complete and synced. The last call for the task follows. If the program has not moved
    /// the file when the last call returns, the file is removed.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didFinishDownloadingTo location: URL)

    /// Called while the file is downloaded, at most a few times a second. `totalBytesExpectedToWrite` is
    /// `BackgroundURLSessionTransferSizeUnknown` until a response has stated the size. When the download starts again
    /// from the first byte, `bytesWritten` is negative.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// Called at the first `resume` of a task that `downloadTask(withResumeData:)` has made. If the file has changed on
    /// the server, this call comes first, and then the download starts again from the first byte.
    func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
}

extension BackgroundURLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: BackgroundURLSession, didBecomeInvalidWithError error: (any Error)?) {}
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {}
}

extension BackgroundURLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didFinishCollecting metrics: BackgroundURLSessionTaskMetrics
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?
    ) {}

    /// Calls the `async` form of this method.
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

    /// Returns `performDefaultHandling`: the delegate has no credential.
    public func urlSession(
        _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

extension BackgroundURLSessionDataDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession, dataTask: BackgroundURLSessionDataTask, didReceive data: Data
    ) {}
}

extension BackgroundURLSessionDownloadDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didWriteData bytesWritten: Int64, totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
    ) {}
}

// The extension below gives NSObject Apple's methods for challenges of the whole session. Therefore, a delegate's
// method of the same name is an override, and does not compile without the keyword `override`. If the delegate's method
// compiled, the library would still never call the method. A program that pins certificates in this method would then
// trust servers that the program wants to refuse. The methods below are marked as deprecated. If they were marked as
// unavailable, Swift would accept a delegate's method of the same name without `override`. The compiler shows the lines
// `public func` with its error, so the reason is in these lines.
extension NSObject {
    /// Not available. The daemon verifies the certificates of servers. While the program does not run, the daemon
    /// cannot call the delegate.
    ///
    /// To pin certificates, set `caFile` of the configuration, or `tls.pinnedPublicKeys` in its `adjustment`. If a
    /// server or proxy demands a password, `urlSession(_:task:didReceive:completionHandler:)` is called.
    @available(*, deprecated, message: "Background sessions verify servers in the daemon, which has no delegate.")
    public func urlSession(  // Never called: the daemon verifies servers. Set caFile or tls.pinnedPublicKeys.
        _ session: BackgroundURLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { completionHandler(.performDefaultHandling, nil) }

    /// Not available, for the same reason as `urlSession(_:didReceive:completionHandler:)`.
    @available(*, deprecated, message: "Background sessions verify servers in the daemon, which has no delegate.")
    public func urlSession(  // Never called: the daemon verifies servers. Set caFile or tls.pinnedPublicKeys.
        _ session: BackgroundURLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }
}

/// The value for an unknown size.
public let BackgroundURLSessionTransferSizeUnknown: Int64 = -1

/// A key in the `userInfo` of an error. If a task was cancelled by `cancel(byProducingResumeData:)`, its error has the
/// resume data under this key.
public let BackgroundURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The same key for an upload.
public let BackgroundURLSessionUploadTaskResumeData = "NSURLSessionUploadTaskResumeData"
