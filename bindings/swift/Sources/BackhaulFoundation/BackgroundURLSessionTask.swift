public import Backhaul
public import Foundation
public import FoundationNetworking

/// A transfer (Apple: URLSessionTask). The *engine*, which is usually a separate process, performs the transfer.
public class BackgroundURLSessionTask: NSObject, @unchecked Sendable {
    // Unchecked: all state that changes is in `inner`, which has a mutex.

    /// The state of a task (Apple: URLSessionTask.State).
    public enum State: Int, Sendable {
        /// The task runs, or waits until it can run.
        case running = 0
        /// The task does not run until `resume` is called.
        case suspended = 1
        /// The task was cancelled, and has not ended yet.
        case canceling = 2
        /// The task has ended. The task gets this state immediately before its last delegate call.
        case completed = 3
    }

    /// A low priority. Priorities are from 0 to 1.
    public static let lowPriority: Float = 0.25
    /// The priority of a task whose priority was not set.
    public static let defaultPriority: Float = 0.5
    /// A high priority.
    public static let highPriority: Float = 0.75

    /// The number of the task. It is unique in the session, over all runs of the program. The task has this number
    /// already before the first `resume`. The engine uses another number for the task (`engineTaskIdentifier`).
    public let taskIdentifier: Int
    /// The request of the task. If an earlier run of the program made the task, the request has only the URL.
    public let originalRequest: URLRequest?
    /// The received and expected bytes of a download, or the sent and expected bytes of an upload.
    public let progress = Progress(totalUnitCount: -1)

    let core: SessionCore
    let inner: Locked<TaskInner>
    /// A mutex that is locked during each command about the task, so the engine gets the commands in the order of the
    /// calls.
    let verbs = NSLock()

    init(_ core: SessionCore, _ identifier: Int, _ request: URLRequest?, _ inner: TaskInner) {
        self.core = core
        taskIdentifier = identifier
        originalRequest = request
        self.inner = Locked(inner)
    }

    /// The state of the task.
    public var state: State { inner.with { $0.state } }
    /// The last response. While a download runs, the response has the status and the size, and the URL of the request.
    /// After the end of a task, the response has all header fields, and the URL after redirects. If the engine has
    /// continued an interrupted download, the status is 206, and the file is complete.
    public var response: URLResponse? { inner.with { $0.response } }
    /// Why the task failed. Nil if it has not ended, or has succeeded.
    public var error: (any Error)? { inner.with { $0.error } }
    /// Not Apple's: the first bytes of the response's body, if the response was not accepted.
    public var errorBody: Data? { inner.with { $0.errorBody } }
    /// Not Apple's: the engine's number of the task. Listings show this number. Nil before the first `resume`.
    public var engineTaskIdentifier: TaskID? { inner.with { $0.id } }
    /// The bytes of the file that were received.
    public var countOfBytesReceived: Int64 { inner.with { $0.received } }
    /// The size of the file. It is `BackgroundURLSessionTransferSizeUnknown` until a response has stated the size.
    public var countOfBytesExpectedToReceive: Int64 { inner.with { $0.expected } }
    /// The bytes of the body that were sent in the newest attempt.
    public var countOfBytesSent: Int64 { inner.with { $0.sent } }
    /// The size of the body. 0 if the request has no body.
    public var countOfBytesExpectedToSend: Int64 { inner.with { $0.expectedToSend } }

    /// The time before which the task does not start. If it is nil, the task may start immediately.
    ///
    /// The engine stores the time with the task. The program may change the time at any moment. A waiting task starts
    /// when the new time has come. A running task continues.
    public var earliestBeginDate: Date? {
        get { inner.with { $0.earliestBegin } }
        set {
            inner.with { $0.earliestBegin = newValue }
            core.performVerb(of: self) { (session, id, inner) throws(BackhaulError) in
                try session.run(.reschedule(.ids(id), earliestStart: inner.startChange))
            }
        }
    }

    /// An upper bound of the bytes to send. A session or a network can have a budget: a limit of bytes in a day or
    /// month. While such a budget has fewer bytes left than this bound, the task waits.
    ///
    /// The value is stored at the first `resume`. A later change applies only in this process, and so does a change of
    /// a task that was made from resume data.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { inner.with { $0.guessToSend } }
        set { inner.with { $0.guessToSend = newValue } }
    }
    /// An upper bound of the bytes to receive. It is used and stored in the same way as
    /// `countOfBytesClientExpectsToSend`.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { inner.with { $0.guessToReceive } }
        set { inner.with { $0.guessToReceive = newValue } }
    }

    /// The request with the URL of the last response, after redirects.
    public var currentRequest: URLRequest? {
        guard var request = originalRequest else { return nil }
        if let url = response?.url { request.url = url }
        return request
    }

    /// A text of at most 65,536 bytes, which the program may set. It is stored at the first `resume`. A later change
    /// applies only in this process, and so does a change of a task that was made from resume data.
    public var taskDescription: String? {
        get { inner.with { $0.label } }
        set { inner.with { $0.label = newValue } }
    }

    /// The priority, from 0 to 1. In a session, tasks with a higher priority start first. The priority may be changed
    /// at any time. NaN is ignored.
    public var priority: Float {
        get { inner.with { $0.priority } }
        set {
            guard !newValue.isNaN else { return }
            inner.with { $0.priority = min(max(newValue, 0), 1) }
            core.performVerb(of: self) { (session, id, inner) throws(BackhaulError) in
                try session.run(.setPriority(inner.enginePriority, .ids(id)))
            }
        }
    }

    /// Starts the task, or resumes it. A new task needs one call in order to start. For each call of `suspend`, the
    /// task needs one further call of `resume`.
    ///
    /// When the first call has returned, the task is stored, and the program may end. If the engine refuses the task,
    /// the delegate gets `urlSession(_:task:didCompleteWithError:)`. A task that was made from resume data stays
    /// suspended instead, and `resume` can be called again.
    public func resume() { core.resume(self) }

    /// Suspends the task, and keeps its received bytes. The time in which the task is suspended does not count for its
    /// time-outs.
    public func suspend() { core.suspend(self) }

    /// Ends the task with `URLError.cancelled`, and removes its received bytes.
    public func cancel() { core.cancel(self) }
}

/// A transfer to a file (Apple: URLSessionDownloadTask).
public final class BackgroundURLSessionDownloadTask: BackgroundURLSessionTask, @unchecked Sendable {
    // Unchecked: this class has no stored properties of its own.

    /// Ends the task with `URLError.cancelled`, and keeps its received bytes for `downloadTask(withResumeData:)`.
    ///
    /// The engine keeps the bytes in a waiting task of the session, until this task is continued or cancelled, but not
    /// longer than `timeoutIntervalForResource` from now on. The resume data identify the waiting task. They can be
    /// used only once. The `userInfo` of the error also has the resume data.
    ///
    /// - Parameter completionHandler: Runs on the delegate queue. It gets nil if the task was never resumed, or if the
    ///   task has ended.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        let data = core.cancelProducingResumeData(self)
        core.queue.addOperation { completionHandler(data) }
    }

    /// Does the same as `cancel(byProducingResumeData:)`, for async code.
    @discardableResult
    public func cancelByProducingResumeData() async -> Data? { await core.cancelProducingResumeDataAsync(self) }
}

/// A transfer whose response is passed to the program, and is not written to a file (Apple: URLSessionDataTask). All
/// data tasks are uploads.
public class BackgroundURLSessionDataTask: BackgroundURLSessionTask, @unchecked Sendable {
    // Unchecked: this class has no stored properties of its own.

    /// Not Apple's: the body of the response, at most 65,536 bytes. Nil until the task has ended.
    public var responseBody: Data? { inner.with { $0.responseBody } }
}

/// A transfer of a file or data to a server (Apple: URLSessionUploadTask).
public final class BackgroundURLSessionUploadTask: BackgroundURLSessionDataTask, @unchecked Sendable {
    // Unchecked: this class has no stored properties of its own.

    /// Ends the task with `URLError.cancelled`, and keeps it for `uploadTask(withResumeData:)`.
    ///
    /// The engine keeps the waiting task of the session until it is continued or cancelled, but not longer than
    /// `timeoutIntervalForResource` from now on. If the server knows a protocol for uploads that continue, the server
    /// keeps the bytes that it has; otherwise the continued task sends the file from its start. The resume data can be
    /// used only once. The `userInfo` of the error also has the resume data.
    ///
    /// - Parameter completionHandler: Runs on the delegate queue. It gets nil if the task was never resumed, or if the
    ///   task has ended.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        let data = core.cancelProducingResumeData(self)
        core.queue.addOperation { completionHandler(data) }
    }

    /// Does the same as `cancel(byProducingResumeData:)`, for async code.
    @discardableResult
    public func cancelByProducingResumeData() async -> Data? { await core.cancelProducingResumeDataAsync(self) }
}

/// The part of a task's state that changes.
struct TaskInner {
    /// The engine's number of the task. Nil before the first `resume`.
    var id: TaskID?
    var state = BackgroundURLSessionTask.State.suspended
    /// Whether another run of the program, or another program, has made the task.
    var isFromEarlierRun = false
    /// How many more calls of `resume` the task needs in order to run. In a new task, the number is 1. Each `suspend`
    /// adds 1.
    var suspensions = 1
    var label: String?
    var priority = BackgroundURLSessionTask.defaultPriority
    var received: Int64 = 0
    var expected = BackgroundURLSessionTransferSizeUnknown
    var earliestBegin: Date?
    var guessToSend = BackgroundURLSessionTransferSizeUnknown
    var guessToReceive = BackgroundURLSessionTransferSizeUnknown
    var response: URLResponse?
    var error: (any Error)?
    var errorBody: Data?
    var responseBody: Data?
    var sent: Int64 = 0
    var expectedToSend: Int64 = 0
    /// The body of an upload that is not enqueued yet.
    var body: Body?
    /// The engine's kept task, which the first `resume` continues. Nil if the task was made without resume data, or if
    /// the engine's task is no longer kept.
    var keptTask: TaskID?
    /// Why the task cannot be enqueued: it was made from invalid resume data, or from a URL that is no file URL.
    var unusable: URLError?

    /// The change that gives the engine's task the time `earliestBegin`.
    var startChange: StartChange { earliestBegin.flatMap(milliseconds).map { StartChange.at($0) } ?? .removed }

    /// Whether the priority differs from the default priority.
    var hasOwnPriority: Bool { priority != BackgroundURLSessionTask.defaultPriority }

    /// The engine's priority, from -100 to 100. Apple's default priority becomes 0.
    var enginePriority: Int32 { Int32(((priority - 0.5) * 200).rounded()) }
}
