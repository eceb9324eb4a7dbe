public import Backhaul
public import Foundation
public import FoundationNetworking

/// A transfer (Apple: URLSessionTask).
public class BackgroundURLSessionTask: NSObject, @unchecked Sendable {
    // Unchecked: all that changes is in `inner`, behind its lock.

    /// The state of a task (Apple: URLSessionTask.State).
    public enum State: Int, Sendable {
        case running = 0
        case suspended = 1
        case canceling = 2
        /// The task has ended. It has this state before and during its last delegate call.
        case completed = 3
    }

    /// A low priority. Priorities are from 0 to 1.
    public static let lowPriority: Float = 0.25
    public static let defaultPriority: Float = 0.5
    public static let highPriority: Float = 0.75

    /// The task's number, unique within the session, also over all starts of the program. It is available immediately,
    /// and is not the engine's number.
    public let taskIdentifier: Int
    /// The request of the task. After a new start of the program it has only the URL.
    public let originalRequest: URLRequest?
    /// The received and expected bytes of a download, or the sent and expected bytes of an upload.
    public let progress = Progress(totalUnitCount: -1)

    let core: SessionCore
    let inner: Locked<TaskInner>
    /// A lock that is held during each command about the task, so that the engine gets them in order.
    let verbs = NSLock()

    init(_ core: SessionCore, _ identifier: Int, _ request: URLRequest?, _ inner: TaskInner) {
        self.core = core
        taskIdentifier = identifier
        originalRequest = request
        self.inner = Locked(inner)
    }

    public var state: State { inner.with { $0.publicState } }
    /// The last response; nil before the task has ended.
    public var response: URLResponse? { inner.with { $0.response } }
    public var error: (any Error)? { inner.with { $0.error } }
    /// Not Apple's: the first bytes of the body of a response that was not accepted.
    public var errorBody: Data? { inner.with { $0.errorBody } }
    /// Not Apple's: the engine's number of the task, as listings show it; nil before the first `resume`.
    public var engineTaskIdentifier: TaskID? { inner.with { $0.id } }
    public var countOfBytesReceived: Int64 { inner.with { $0.received } }
    /// The size of the file; `BackgroundURLSessionTransferSizeUnknown` until a response has stated it.
    public var countOfBytesExpectedToReceive: Int64 { inner.with { $0.expected } }
    /// The bytes of the body that were sent in the newest attempt.
    public var countOfBytesSent: Int64 { inner.with { $0.sent } }
    /// The size of the body; 0 without one.
    public var countOfBytesExpectedToSend: Int64 { inner.with { $0.expectedToSend } }

    /// The time before which the task does not start; nil: no such time.
    ///
    /// It is stored with the task and may be changed at any time. A waiting task starts when its new time has come; a
    /// running task continues.
    public var earliestBeginDate: Date? {
        get { inner.with { $0.earliestBegin } }
        set {
            inner.with { $0.earliestBegin = newValue }
            core.performVerb(of: self) { (session, id, inner) throws(BackhaulError) in
                let start = inner.earliestBegin.flatMap(milliseconds).map { StartChange.at($0) } ?? StartChange.none
                try session.reschedule(earliestStart: start, id)
            }
        }
    }

    /// An upper bound of the bytes to send. The task waits while a budget of the session or network has less left.
    ///
    /// The value is stored at the first `resume`; a later change applies only in this process.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { inner.with { $0.guessToSend } }
        set { inner.with { $0.guessToSend = newValue } }
    }
    /// An upper bound of the bytes to receive, as `countOfBytesClientExpectsToSend`.
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

    /// A label for the program's own use, at most 65,536 bytes. It is stored at the first `resume`; a later change
    /// applies only in this process.
    public var taskDescription: String? {
        get { inner.with { $0.label } }
        set { inner.with { $0.label = newValue } }
    }

    /// The priority, from 0 to 1. Within the session, tasks with a higher priority start first. It may be changed at
    /// any time; NaN is ignored.
    public var priority: Float {
        get { inner.with { $0.priority } }
        set {
            guard !newValue.isNaN else { return }
            inner.with { $0.priority = min(max(newValue, 0), 1) }
            core.performVerb(of: self) { (session, id, inner) throws(BackhaulError) in
                try session.setPriority(inner.enginePriority, id)
            }
        }
    }

    /// Starts the task, or resumes it. A task needs one call to start, and one more for each call of `suspend`.
    ///
    /// When the first call has returned, the task is durable, and the program may end. If the engine refuses the task,
    /// the delegate gets `urlSession(_:task:didCompleteWithError:)`.
    public func resume() { core.resume(self) }

    /// Stops the task and keeps what it has received. Its time-outs do not count while it is suspended.
    public func suspend() { core.suspend(self) }

    /// Ends the task with `URLError.cancelled` and removes what it has received.
    public func cancel() { core.cancel(self) }
}

/// A transfer to a file (Apple: URLSessionDownloadTask).
public final class BackgroundURLSessionDownloadTask: BackgroundURLSessionTask, @unchecked Sendable {
    // Unchecked: adds nothing to its superclass.

    /// Ends the task with `URLError.cancelled`, and keeps what it has received for `downloadTask(withResumeData:)`.
    ///
    /// The engine keeps the bytes in a suspended task of the session, until that is continued or cancelled. The resume
    /// data identify that task, and can be used once. The error's `userInfo` has the data, too.
    ///
    /// - Parameter completionHandler: Runs on the delegate queue. It gets nil if the task was not resumed before, or
    ///   has
    ///   ended.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        let data = core.cancelProducingResumeData(self)
        core.queue.addOperation { completionHandler(data) }
    }

    /// The same as `cancel(byProducingResumeData:)`, for async code.
    @discardableResult
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            // The call blocks, so it runs on a thread of Dispatch and not on a cooperative thread.
            DispatchQueue.global().async { [core] in
                continuation.resume(returning: core.cancelProducingResumeData(self))
            }
        }
    }
}

/// A transfer whose response goes to the program and not to a file (Apple: URLSessionDataTask). All such tasks are
/// uploads.
public class BackgroundURLSessionDataTask: BackgroundURLSessionTask, @unchecked Sendable {
    // Unchecked: adds nothing to its superclass.

    /// Not Apple's: the response's body, at most 65,536 bytes; nil before the task has ended.
    public var responseBody: Data? { inner.with { $0.responseBody } }
}

/// A transfer of a file or data to a server (Apple: URLSessionUploadTask).
public final class BackgroundURLSessionUploadTask: BackgroundURLSessionDataTask, @unchecked Sendable {
    // Unchecked: adds nothing to its superclass.
}

/// The part of a task that changes.
struct TaskInner {
    /// The engine's number of the task; nil before the first `resume`.
    var id: TaskID?
    var state = BackgroundURLSessionTask.State.suspended
    /// The calls of `suspend` that no `resume` has undone: 1 in a new task. The task runs when it is 0.
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
    /// The suspended task of the engine that the first `resume` continues; nil without resume data.
    var parked: TaskID?
    /// Whether the task was made from invalid resume data.
    var isUnusable = false

    var publicState: BackgroundURLSessionTask.State { state }

    /// The engine's priority: -100 to 100, with Apple's default priority as 0.
    var enginePriority: Int32 { Int32(((priority - 0.5) * 200).rounded()) }
}
