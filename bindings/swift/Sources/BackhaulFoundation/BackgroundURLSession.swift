internal import Backhaul
public import Foundation
public import FoundationNetworking

/// A session whose transfers continue while the program does not run (Apple: URLSession with
/// `URLSessionConfiguration.background(withIdentifier:)`).
///
/// The initializer does not wait: the engine is found or started in the background. The session lives, and keeps its
/// delegate, until it is invalidated. In a program that was launched for it, it lives until it is completed.
///
/// If the process makes a second session with the same identifier, it gets another object for the first session, with
/// the first delegate and queue, as on Apple's systems. While another process consumes the session, tasks can be made
/// and controlled here. The delegate is called here when the other process has released the session.
///
/// All methods may be called from any thread. `resume`, `suspend`, `cancel` and the invalidating methods wait for the
/// engine, usually for a few milliseconds.
public final class BackgroundURLSession: NSObject, Sendable {
    public typealias Configuration = BackgroundURLSessionConfiguration

    /// How the delegate responds to a challenge (Apple: URLSession.AuthChallengeDisposition).
    public enum AuthChallengeDisposition: Int, Sendable {
        /// The credential is sent. Without one this is `performDefaultHandling`.
        case useCredential = 0
        /// The waiting tasks fail with `URLError.userAuthenticationRequired`, because there is no credential storage.
        case performDefaultHandling = 1
        /// The waiting tasks are cancelled.
        case cancelAuthenticationChallenge = 2
        /// The same as `performDefaultHandling`, because all schemes of a protection space share one challenge here.
        case rejectProtectionSpace = 3
    }

    let core: SessionCore

    /// Creates a session object.
    ///
    /// - Parameters:
    ///   - delegate: The session keeps it until it is invalid. Nil: no events are delivered; they wait for a process
    ///     with a
    ///     delegate.
    ///   - queue: The queue of the delegate's calls; nil: the session makes a serial one. On any queue, each call waits
    ///     for
    ///     the end of the one before.
    public init(
        configuration: BackgroundURLSessionConfiguration, delegate: (any BackgroundURLSessionDelegate)?,
        delegateQueue queue: OperationQueue? = nil
    ) {
        core = SessionCore.core(configuration, delegate, queue)
        super.init()
        core.begin(self)
    }

    /// Creates another object for a session that has ended, as the argument of a late delegate call.
    init(of core: SessionCore) { self.core = core }

    /// A copy of the configuration; changes to it have no effect on the session.
    public var configuration: BackgroundURLSessionConfiguration { core.configuration }

    /// The delegate; nil when the session is invalid.
    public var delegate: (any BackgroundURLSessionDelegate)? { core.delegate }

    public var delegateQueue: OperationQueue { core.queue }

    /// A label for the program's own use.
    public var sessionDescription: String? {
        get { core.label }
        set { core.label = newValue }
    }

    /// Not Apple's: the number of the last round whose end was delivered; 0 before the first. A round is the session's
    /// tasks from the first that is resumed until none is left.
    public var finishedRound: UInt64 { core.finishedRound }

    /// A task that starts with its first `resume`.
    public func downloadTask(with url: URL) -> BackgroundURLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// A task that starts with its first `resume`.
    ///
    /// It uses the request's URL, headers, method and body. A body has at most a mebibyte, and needs a method other
    /// than GET. `timeoutInterval` and `cachePolicy` of the request have no effect; the session's configuration
    /// applies.
    public func downloadTask(with request: URLRequest) -> BackgroundURLSessionDownloadTask {
        core.makeDownload(request)
    }

    /// A task that continues a task which was cancelled by `cancel(byProducingResumeData:)`, in this start of the
    /// program or an earlier one.
    ///
    /// It starts with its first `resume`, and has the `taskIdentifier` and label of the cancelled task. If the data
    /// belong to another session, or were used before, it fails with `URLError.unsupportedURL`.
    public func downloadTask(withResumeData data: Data) -> BackgroundURLSessionDownloadTask {
        core.makeDownload(resumeData: data)
    }

    /// A task that starts with its first `resume`, and sends the file with the request's method, or PUT if that is GET.
    ///
    /// The engine reads the file in place until the task has ended. If the file changes meanwhile, the task fails.
    public func uploadTask(with request: URLRequest, fromFile file: URL) -> BackgroundURLSessionUploadTask {
        core.makeUpload(request, .file(file.path))
    }

    /// An upload task like that for a file, but with at most a mebibyte of data, which is stored with the task. Apple's
    /// background sessions have no such tasks.
    public func uploadTask(with request: URLRequest, from body: Data) -> BackgroundURLSessionUploadTask {
        core.makeUpload(request, .bytes(Array(body)))
    }

    /// All tasks whose `didCompleteWithError` was not called yet. They include tasks that were not resumed yet, and
    /// tasks that have ended but were not delivered. None of them is delivered before this returns.
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

    /// The same tasks by kind. The list of data tasks is empty, because all data tasks are uploads.
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

    /// Passes `allTasks` to the handler, which runs on the delegate queue. No event is delivered before it has
    /// returned.
    public func getAllTasks(completionHandler: @escaping @Sendable ([BackgroundURLSessionTask]) -> Void) {
        core.list { [core] tasks, isDone in
            let operation = BlockOperation { completionHandler(tasks) }
            // The completion block also runs if the program cancels the operations of its queue.
            operation.completionBlock = isDone
            core.queue.addOperation(operation)
        }
    }

    /// Passes all tasks to the handler, by kind: data tasks (none), upload tasks and download tasks. The handler runs
    /// on the delegate queue.
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

    /// Invalidates the session when all its tasks have ended, also those that are not resumed yet.
    ///
    /// A task that is made later fails when it is resumed. If the program ends before
    /// `urlSession(_:didBecomeInvalidWithError:)`, a session with the same identifier gets the remaining delegate calls
    /// at the next start.
    public func finishTasksAndInvalidate() { core.invalidate(cancellingTasks: false) }

    /// Cancels the tasks, and then does the same as `finishTasksAndInvalidate`.
    public func invalidateAndCancel() { core.invalidate(cancellingTasks: true) }
}

/// Not Apple's: a credential that consists of header fields, such as "Authorization: Bearer …", for `.useCredential`.
public final class HeaderCredential: URLCredential, @unchecked Sendable {
    // Unchecked: nothing changes after the initializer.
    /// The header fields, which are sent in place of user and password. For a proxy's challenge they are sent only to
    /// the proxy.
    public let headers: [String: String]

    public init(headers: [String: String]) {
        self.headers = headers
        super.init(user: "", password: "", persistence: .none)
    }

    public required init?(coder: NSCoder) { nil }
}
