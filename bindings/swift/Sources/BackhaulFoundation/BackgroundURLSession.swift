internal import Backhaul
public import Foundation
public import FoundationNetworking

/// A session whose transfers go on while the program does not run: URLSession, made from
/// `Configuration.background(withIdentifier:)`.
///
/// Making one costs nothing and does not wait: the engine is found or started in the background. It lives until it is
/// invalidated (or, in a program that was launched for it, completed), and keeps its delegate for as long.
///
/// The same identifier again in one process gives another object for the first session: its delegate and queue stay, as
/// on Apple's systems. While another process of the application has the session, tasks can be made and controlled here,
/// and its messages come here when the other one has let it go.
///
/// All methods may be called from any thread. `resume`, `suspend`, `cancel` and the invalidating methods wait for the
/// engine, usually for a few milliseconds.
public final class BackgroundURLSession: NSObject, Sendable {
    public typealias Configuration = BackgroundURLSessionConfiguration

    /// How a challenge is answered: URLSession.AuthChallengeDisposition.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// The credential; without one as `performDefaultHandling`.
        case useCredential = 0
        /// The tasks that wait fail with `URLError.userAuthenticationRequired`: no credential storage is asked.
        case performDefaultHandling = 1
        /// The tasks that wait are cancelled.
        case cancelAuthenticationChallenge = 2
        /// As `performDefaultHandling`: all schemes of a protection space are one challenge here.
        case rejectProtectionSpace = 3
    }

    let core: SessionCore

    /// - Parameters:
    ///   - delegate: Kept until the session is invalid. Nil: nothing is delivered; events wait for a process that has
    ///     one.
    ///   - queue: Nil: a serial one is made. On any queue a message waits for the end of the one before.
    public init(
        configuration: BackgroundURLSessionConfiguration, delegate: (any BackgroundURLSessionDelegate)?,
        delegateQueue queue: OperationQueue? = nil
    ) {
        core = SessionCore.core(configuration, delegate, queue)
        super.init()
        core.begin(self)
    }

    /// Another object for a session that has ended, where a late message is about it.
    init(of core: SessionCore) { self.core = core }

    /// A copy: changes have no effect.
    public var configuration: BackgroundURLSessionConfiguration { core.configuration }

    /// Nil when the session is invalid.
    public var delegate: (any BackgroundURLSessionDelegate)? { core.delegate }

    public var delegateQueue: OperationQueue { core.queue }

    /// A label for the program's own use.
    public var sessionDescription: String? {
        get { core.label }
        set { core.label = newValue }
    }

    /// Not Apple's: the number of the last round whose end was delivered, 0 before. A round is all tasks from the first
    /// that is resumed to the moment when none is left.
    public var finishedRound: UInt64 { core.finishedRound }

    /// A task that starts with its first `resume`.
    public func downloadTask(with url: URL) -> BackgroundURLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// A task that starts with its first `resume`. Of the request URL, headers, method and body count; a body has at
    /// most a mebibyte, and a method other than GET. Its `timeoutInterval` and `cachePolicy` have no effect: the
    /// session's configuration counts.
    public func downloadTask(with request: URLRequest) -> BackgroundURLSessionDownloadTask {
        core.makeDownload(request)
    }

    /// A task that goes on, with its first `resume`, where one was cancelled by `cancel(byProducingResumeData:)`, in
    /// this start of the program or an earlier one: it has that one's `taskIdentifier` and label. With data that are of
    /// another session, or were used before, it fails with `URLError.unsupportedURL`.
    public func downloadTask(withResumeData data: Data) -> BackgroundURLSessionDownloadTask {
        core.makeDownload(resumeData: data)
    }

    /// A task that starts with its first `resume`, and sends the file by the request's method, which is PUT where it
    /// was left at GET. The file is read where it is until the task has ended; one that changes meanwhile is an error.
    public func uploadTask(with request: URLRequest, fromFile file: URL) -> BackgroundURLSessionUploadTask {
        core.makeUpload(request, .file(file.path))
    }

    /// As from a file, from at most a mebibyte of memory, which is kept with the task. Apple's background sessions have
    /// no such tasks.
    public func uploadTask(with request: URLRequest, from body: Data) -> BackgroundURLSessionUploadTask {
        core.makeUpload(request, .bytes(Array(body)))
    }

    /// All tasks that did not get their last message: also those that were not resumed yet, and those that have ended
    /// and are not delivered yet. None of these is delivered before it is listed here.
    public var allTasks: [BackgroundURLSessionTask] {
        get async {
            await withCheckedContinuation { continuation in
                core.list { tasks, isDone in
                    continuation.resume(returning: tasks)
                    isDone()
                }
            }
        }
    }

    /// The same by kind. There are no data tasks that are no uploads.
    public var tasks:
        ([BackgroundURLSessionDataTask], [BackgroundURLSessionUploadTask], [BackgroundURLSessionDownloadTask])
    {
        get async { BackgroundURLSession.byKind(await allTasks) }
    }

    private static func byKind(
        _ tasks: [BackgroundURLSessionTask]
    ) -> ([BackgroundURLSessionDataTask], [BackgroundURLSessionUploadTask], [BackgroundURLSessionDownloadTask]) {
        (
            [], tasks.compactMap { $0 as? BackgroundURLSessionUploadTask },
            tasks.compactMap { $0 as? BackgroundURLSessionDownloadTask }
        )
    }

    /// As `allTasks`. The handler runs on the delegate queue; nothing is delivered before it has returned.
    public func getAllTasks(completionHandler: @escaping @Sendable ([BackgroundURLSessionTask]) -> Void) {
        core.list { [core] tasks, isDone in
            let operation = BlockOperation { completionHandler(tasks) }
            // Also when the program cancels what is on its queue.
            operation.completionBlock = isDone
            core.queue.addOperation(operation)
        }
    }

    /// Data (none), upload and download tasks. The handler runs on the delegate queue.
    public func getTasksWithCompletionHandler(
        _ completionHandler: @escaping @Sendable (
            [BackgroundURLSessionDataTask], [BackgroundURLSessionUploadTask], [BackgroundURLSessionDownloadTask]
        ) -> Void
    ) {
        getAllTasks { tasks in
            let (data, uploads, downloads) = BackgroundURLSession.byKind(tasks)
            completionHandler(data, uploads, downloads)
        }
    }

    /// Lets the tasks end, also those that are not resumed yet. A task that is made later gets its last message when it
    /// is resumed. A program that ends before `urlSession(_:didBecomeInvalidWithError:)` is told the rest at its next
    /// start, by a session of the same identifier.
    public func finishTasksAndInvalidate() { core.invalidate(cancellingTasks: false) }

    /// Cancels the tasks, and is as `finishTasksAndInvalidate` otherwise.
    public func invalidateAndCancel() { core.invalidate(cancellingTasks: true) }
}

/// A credential that is header fields, such as "Authorization: Bearer …", for `.useCredential`. Apple's challenges have
/// no such thing.
public final class HeaderCredential: URLCredential, @unchecked Sendable {
    // Unchecked: nothing changes after the initializer.
    /// Sent instead of user and password; for a proxy to the proxy only.
    public let headers: [String: String]

    public init(headers: [String: String]) {
        self.headers = headers
        super.init(user: "", password: "", persistence: .none)
    }

    public required init?(coder: NSCoder) { nil }
}
