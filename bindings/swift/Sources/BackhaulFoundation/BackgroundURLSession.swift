internal import Backhaul
public import Foundation
public import FoundationNetworking

/// A session whose transfers continue while the program does not run (Apple: URLSession with
/// `URLSessionConfiguration.background(withIdentifier:)`).
///
/// The *engine*, which is usually a separate process, performs the transfers. The initializer returns immediately. The
/// engine is found or started in the background. The session exists, and keeps its delegate, until the session is
/// invalidated. If the engine has launched the program for the session, the session object exists until the program
/// calls the completion handler that it got for the session.
///
/// If the process makes a second session object with the same identifier, the new object belongs to the first session.
/// It has the delegate and the queue of the first session, and the standard error gets a warning, as on Apple's
/// systems. While another process gets the session's events, this process can make and control tasks, but its delegate
/// is not called. When the other process has released the session, the delegate of this process is called.
///
/// All methods may be called from any thread. `resume`, `suspend` and `cancel` of a task, and the invalidating methods,
/// wait for the engine, usually for a few milliseconds.
public final class BackgroundURLSession: NSObject, Sendable {
    /// The configuration of a session.
    public typealias Configuration = BackgroundURLSessionConfiguration

    /// How the delegate responds to a challenge, which is a demand for a credential (Apple:
    /// URLSession.AuthChallengeDisposition).
    public enum AuthChallengeDisposition: Int, Sendable {
        /// The credential is sent. If the credential is nil, this case means the same as `performDefaultHandling`.
        case useCredential = 0
        /// The tasks that wait for the credential fail with `URLError.userAuthenticationRequired`. On Apple's systems,
        /// the default handling uses a credential storage. This library has no credential storage.
        case performDefaultHandling = 1
        /// The tasks that wait for the credential end with `URLError.cancelled`.
        case cancelAuthenticationChallenge = 2
        /// The same as `performDefaultHandling`. On Apple's systems, a challenge for the next authentication scheme
        /// follows. Here, all authentication schemes of a protection space share one challenge.
        case rejectProtectionSpace = 3
    }

    let core: SessionCore

    /// Creates a session object.
    ///
    /// - Parameters:
    ///   - configuration: The identifier and the settings of the session.
    ///   - delegate: The delegate. The session has a reference to the delegate until the session is invalid. If the
    ///     delegate is nil, no delegate method is called until a process makes an object with a delegate for this
    ///     session.
    ///   - queue: The queue on which the delegate is called. Nil: the session makes a serial queue. On every queue, a
    ///     delegate call begins only after the previous delegate call has returned.
    public init(
        configuration: BackgroundURLSessionConfiguration, delegate: (any BackgroundURLSessionDelegate)?,
        delegateQueue queue: OperationQueue? = nil
    ) {
        core = SessionCore.core(configuration, delegate, queue)
        super.init()
        core.begin(self)
    }

    /// Creates a session object without a delegate.
    public convenience init(configuration: BackgroundURLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Creates an object for a session that has already ended. If a delegate method is called after the session's end,
    /// this object is its session argument.
    init(of core: SessionCore) { self.core = core }

    /// A copy of the configuration. Changes of the copy do not change the session.
    public var configuration: BackgroundURLSessionConfiguration { core.configuration }

    /// The delegate. Nil if the session is invalid.
    public var delegate: (any BackgroundURLSessionDelegate)? { core.delegate }

    /// The queue on which the delegate is called.
    public var delegateQueue: OperationQueue { core.queue }

    /// A text that the program may set. The session does not use it.
    public var sessionDescription: String? {
        get { core.label }
        set { core.label = newValue }
    }

    /// Not in Apple's API: the number of the last round whose end was delivered. 0 before the end of the first round.
    /// If all tasks that were resumed earlier have ended, the first `resume` of another task begins a round. The round
    /// ends when all resumed tasks have ended.
    public var finishedRound: UInt64 { core.finishedRound }

    /// Makes a task that downloads the URL. The task starts at its first `resume`.
    public func downloadTask(with url: URL) -> BackgroundURLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// Makes a task that downloads the request's URL. The task starts at its first `resume`.
    ///
    /// The task uses the URL, the headers, the method, the body, `allowsCellularAccess` and `timeoutInterval` of the
    /// request. A body has at most one mebibyte, and needs a method other than GET. If `timeoutInterval` is not 60 (its
    /// default), it replaces `timeoutIntervalForRequest` of the session's configuration. `cachePolicy` of the request
    /// has no effect.
    public func downloadTask(with request: URLRequest) -> BackgroundURLSessionDownloadTask {
        core.makeDownload(request)
    }

    /// Makes a task that continues a cancelled task. The program cancelled this earlier task with
    /// `cancel(byProducingResumeData:)`, in this run or in an earlier run.
    ///
    /// The new task starts at its first `resume`, and has the `taskIdentifier` and the `taskDescription` of the
    /// cancelled task. If the data belong to another session, or were used before, the new task fails with
    /// `URLError.unsupportedURL`.
    public func downloadTask(withResumeData data: Data) -> BackgroundURLSessionDownloadTask {
        core.makeDownload(resumeData: data)
    }

    /// Makes a task that sends the file. The task starts at its first `resume`. The task uses the method of the
    /// request. If this method is GET, the task uses PUT instead. The task ignores the body of the request.
    ///
    /// The engine reads the file in place until the task has ended. If the file changes before the end of the task, the
    /// task fails. If `file` is no file URL, the task fails with `URLError.unsupportedURL`.
    public func uploadTask(with request: URLRequest, fromFile file: URL) -> BackgroundURLSessionUploadTask {
        let reason = "The file of an upload needs a file URL; use URL(fileURLWithPath:)."
        return core.makeUpload(
            request, .file(file.path), unusable: file.isFileURL ? nil : refusal(.unsupportedURL, reason, file))
    }

    /// Makes an upload task that sends data in place of a file. The data have at most one mebibyte. The engine stores
    /// the data with the task. Apple's background sessions do not have this method.
    public func uploadTask(with request: URLRequest, from body: Data) -> BackgroundURLSessionUploadTask {
        core.makeUpload(request, .bytes(Array(body)))
    }

    /// Makes a task that continues a cancelled upload. The program cancelled this earlier task with
    /// `cancel(byProducingResumeData:)`, in this run or in an earlier run. The rest is as with
    /// `downloadTask(withResumeData:)`.
    public func uploadTask(withResumeData data: Data) -> BackgroundURLSessionUploadTask {
        core.makeUpload(resumeData: data)
    }

    /// All tasks for which `didCompleteWithError` was not called yet. The list includes tasks that were not resumed
    /// yet, and tasks that have already ended. Until this property returns, no delegate method is called for the end of
    /// a task.
    ///
    /// Delegate calls for tasks of earlier runs wait for the first list, so that the caller can store the tasks first.
    /// If the caller runs on an actor, such as the main actor, these calls also wait until the caller suspends again or
    /// ends. Otherwise they wait for one more second.
    public nonisolated(nonsending) var allTasks: [BackgroundURLSessionTask] {
        get async {
            let caller = #isolation
            let tasks = await withCheckedContinuation { continuation in
                core.list { tasks, isDone in
                    continuation.resume(returning: tasks)
                    isDone()
                }
            }
            if let caller {
                Task { [core] in await BackgroundURLSession.openGate(of: core, on: caller) }
            } else {
                core.gate.openSoon()
            }
            return tasks
        }
    }

    private static func openGate(of core: SessionCore, on caller: isolated any Actor) async { core.openGate() }

    /// The tasks of `allTasks`, by kind. The first list, of data tasks, is always empty: every data task is an upload
    /// task, and is in the second list.
    public nonisolated(nonsending) var tasks:
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

    /// Passes `allTasks` to the handler. The handler runs on the delegate queue. Until the handler has returned, no
    /// delegate method is called for the end of a task. Delegate calls for tasks of earlier runs wait for the first
    /// list.
    public func getAllTasks(completionHandler: @escaping @Sendable ([BackgroundURLSessionTask]) -> Void) {
        core.list { [core] tasks, isDone in
            let operation = BlockOperation { completionHandler(tasks) }
            // The completion block also runs if the program cancels all operations of the delegate queue.
            operation.completionBlock = {
                core.openGate()
                isDone()
            }
            core.queue.addOperation(operation)
        }
    }

    /// Passes all tasks to the handler, in three lists. The first list is for data tasks, and is empty. The second list
    /// has the upload tasks, and the third list has the download tasks. The handler runs on the delegate queue.
    public func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [BackgroundURLSessionDataTask], [BackgroundURLSessionUploadTask], [BackgroundURLSessionDownloadTask]
            ) -> Void
    ) {
        getAllTasks { tasks in
            let (data, uploads, downloads) = BackgroundURLSession.byKind(tasks)
            completionHandler(data, uploads, downloads)
        }
    }

    /// Invalidates the session as soon as all its tasks have ended, including tasks that are not resumed yet.
    ///
    /// If the program makes a task after this call, the task fails when it is resumed. If the program ends before
    /// `urlSession(_:didBecomeInvalidWithError:)` is called, the remaining delegate calls follow after the next start
    /// of the program, in a session with the same identifier.
    public func finishTasksAndInvalidate() { core.invalidate(cancellingTasks: false) }

    /// Cancels the tasks, and then does the same as `finishTasksAndInvalidate`.
    public func invalidateAndCancel() { core.invalidate(cancellingTasks: true) }
}

/// Not in Apple's API: a credential that consists of header fields, such as "Authorization: Bearer …", for
/// `.useCredential`.
public final class HeaderCredential: URLCredential, @unchecked Sendable {
    // Unchecked: the properties do not change after the initializer.
    /// The header fields that are sent in place of a user name and password. For the challenge of a proxy, the fields
    /// are sent only to the proxy.
    public let headers: [String: String]

    /// Makes a credential of header fields.
    public init(headers: [String: String]) {
        self.headers = headers
        super.init(user: "", password: "", persistence: .none)
    }

    /// Returns nil, because the credential cannot be archived.
    public required init?(coder: NSCoder) { nil }
}
