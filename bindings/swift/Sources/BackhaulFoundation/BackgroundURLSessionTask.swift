public import Backhaul
public import Foundation
public import FoundationNetworking

/// A transfer: URLSessionTask.
public class BackgroundURLSessionTask: NSObject, @unchecked Sendable {
    // Unchecked: all that changes is in `state`, behind its lock.

    /// Where a task is: URLSessionTask.State.
    public enum State: Int, Sendable {
        case running = 0
        case suspended = 1
        case canceling = 2
        /// The task gets no more messages but its last, during which it is so already.
        case completed = 3
    }

    /// Priorities, from 0 to 1.
    public static let lowPriority: Float = 0.25
    public static let defaultPriority: Float = 0.5
    public static let highPriority: Float = 0.75

    /// Unique within the session, also across starts of the program; known at once, and not the engine's number.
    public let taskIdentifier: Int
    /// As it was given; after a new start of the program its URL.
    public let originalRequest: URLRequest?
    /// Bytes received and expected.
    public let progress = Progress(totalUnitCount: -1)

    let core: SessionCore
    let inner: Locked<TaskInner>
    /// Held while the engine is told something of the task.
    let verbs = NSLock()

    init(_ core: SessionCore, _ identifier: Int, _ request: URLRequest?, _ inner: TaskInner) {
        self.core = core
        taskIdentifier = identifier
        originalRequest = request
        self.inner = Locked(inner)
    }

    public var state: State { inner.with { $0.publicState } }
    /// Of the last answer, from the end on.
    public var response: URLResponse? { inner.with { $0.response } }
    public var error: (any Error)? { inner.with { $0.error } }
    /// Not Apple's: the first bytes of the body of an answer that was not accepted.
    public var errorBody: Data? { inner.with { $0.errorBody } }
    /// Not Apple's: the engine's number, as listings show it; nil before the first `resume`.
    public var engineTaskIdentifier: TaskID? { inner.with { $0.id } }
    public var countOfBytesReceived: Int64 { inner.with { $0.received } }
    /// `BackgroundURLSessionTransferSizeUnknown` until an answer has told it.
    public var countOfBytesExpectedToReceive: Int64 { inner.with { $0.expected } }
    /// Of the body, in the newest attempt.
    public var countOfBytesSent: Int64 { inner.with { $0.sent } }
    /// 0 without a body.
    public var countOfBytesExpectedToSend: Int64 { inner.with { $0.expectedToSend } }

    /// When the task may start at the earliest; nil: at once. Kept with the task, and may be changed at any time: one
    /// that waited and may begin now begins, one that runs goes on.
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

    /// An upper bound, for the budgets of sessions and networks: the task waits when less is left. Kept with the task
    /// when it was set before the first `resume`; a later change is for this process only.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { inner.with { $0.guessToSend } }
        set { inner.with { $0.guessToSend = newValue } }
    }
    /// As `countOfBytesClientExpectsToSend`.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { inner.with { $0.guessToReceive } }
        set { inner.with { $0.guessToReceive = newValue } }
    }

    /// With the URL of the last answer, after redirects.
    public var currentRequest: URLRequest? {
        guard var request = originalRequest else { return nil }
        if let url = response?.url { request.url = url }
        return request
    }

    /// The program's own label. Kept with the task when it was set before the first `resume`; a later change is for
    /// this process only. At most 65,536 bytes.
    public var taskDescription: String? {
        get { inner.with { $0.label } }
        set { inner.with { $0.label = newValue } }
    }

    /// From 0 to 1; higher runs first within the session. May be changed at any time; what is no number is ignored.
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

    /// Starts the task, or lets it run on; as many calls as there were of `suspend`, and one more for a new task. When
    /// the first has returned, the task is durable: the program may end. If it is refused, its delegate is told by
    /// `urlSession(_:task:didCompleteWithError:)`.
    public func resume() { core.resume(self) }

    /// Stops the task and keeps what it has received. Its time-outs stand still.
    public func suspend() { core.suspend(self) }

    /// Ends the task with `URLError.cancelled` and removes what it has received.
    public func cancel() { core.cancel(self) }
}

/// A transfer to a file: URLSessionDownloadTask.
public final class BackgroundURLSessionDownloadTask: BackgroundURLSessionTask, @unchecked Sendable {
    // Unchecked: adds nothing to its superclass.

    /// Ends the task with `URLError.cancelled`, and keeps what it has received for `downloadTask(withResumeData:)`, in
    /// the engine: the data name it, and are good once. It counts as a suspended task of its session until it goes on
    /// or is cancelled. The error's `userInfo` has the data, too.
    ///
    /// - Parameter completionHandler: Runs on the delegate queue; with nil when the task was not resumed before, or has
    ///   ended.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        let data = core.cancelProducingResumeData(self)
        core.queue.addOperation { completionHandler(data) }
    }

    /// As `cancel(byProducingResumeData:)`.
    @discardableResult
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            // A thread that may wait; Swift's may not.
            DispatchQueue.global().async { [core] in
                continuation.resume(returning: core.cancelProducingResumeData(self))
            }
        }
    }
}

/// A transfer whose answer goes to the program instead of a file: URLSessionDataTask. There are uploads only.
public class BackgroundURLSessionDataTask: BackgroundURLSessionTask, @unchecked Sendable {
    // Unchecked: adds nothing to its superclass.

    /// Not Apple's: the answer's body, at most 65,536 bytes, from the end on.
    public var responseBody: Data? { inner.with { $0.responseBody } }
}

/// A file that is sent: URLSessionUploadTask.
public final class BackgroundURLSessionUploadTask: BackgroundURLSessionDataTask, @unchecked Sendable {
    // Unchecked: adds nothing to its superclass.
}

/// What changes in a task.
struct TaskInner {
    /// Nil before the first `resume`.
    var id: TaskID?
    var state = BackgroundURLSessionTask.State.suspended
    /// Starts at 1; runs at 0.
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
    /// Of an upload that the engine does not have yet.
    var body: Body?
    /// The engine's suspended task that is to go on, before the first `resume`.
    var parked: TaskID?
    /// It was made from resume data that say nothing.
    var isUnusable = false

    var publicState: BackgroundURLSessionTask.State { state }

    /// -100 to 100, with Apple's default in the middle.
    var enginePriority: Int32 { Int32(((priority - 0.5) * 200).rounded()) }
}
