internal import Backhaul
internal import Foundation
internal import FoundationNetworking

/// The mark of a kept task: a task that the program has cancelled with resume data. The *engine*, the process that
/// performs the transfers, keeps such a task, and `allTasks` omits it. The mark is a value of the task's latest start.
/// Normally, the latest start is the time after which the task no longer waits for good conditions, such as external
/// power. The mark is a time in the far future, so it has no other effect.
///
/// A kept task is *set aside*: the engine does not run it, and the session's round ends without it. If the task is not
/// resumed, the engine ends it when its resource time-out is over.
private let keptTaskMark: Int64 = 253_402_300_799_998

extension TaskInfo {
    var isKeptTask: Bool { latestStartMilliseconds == keptTaskMark }
    var isLiveKeptTask: Bool { isKeptTask && !state.hasEnded }
}

/// The content of resume data. It identifies the engine's kept task, which can be continued.
private struct ResumeToken: Codable {
    var version = 1
    let application: String
    let session: String
    let task: TaskID
    let taskIdentifier: Int
    let isUpload: Bool
    let url: String

    init?(_ data: Data) {
        guard let token = try? JSONDecoder().decode(ResumeToken.self, from: data), token.version == 1 else {
            return nil
        }
        self = token
    }

    init(application: String, session: String, _ task: BackgroundURLSessionTask, _ id: TaskID) {
        self.application = application
        self.session = session
        self.task = id
        taskIdentifier = task.taskIdentifier
        isUpload = task is BackgroundURLSessionUploadTask
        url = task.originalRequest?.url?.absoluteString ?? ""
    }
}

extension SessionCore {
    private static let unusable = URLError(
        .unsupportedURL,
        userInfo: [
            NSLocalizedDescriptionKey:
                "The resume data belong to another session, or were used before; transfer the file from its start."
        ])

    /// Cancels the task for the program, and returns the resume data. The engine keeps what was transferred. Returns
    /// nil if this is impossible, for example because the task was never resumed.
    func cancelProducingResumeData(_ task: BackgroundURLSessionTask) -> Data? {
        task.verbs.lock()
        defer { task.verbs.unlock() }
        guard task.state == .running || task.state == .suspended else { return nil }
        guard let id = task.engineTaskIdentifier, let data = parkOrRepeat(task, id) else {
            cancelLocked(task)
            return nil
        }
        let key =
            task is BackgroundURLSessionUploadTask
            ? BackgroundURLSessionUploadTaskResumeData : BackgroundURLSessionDownloadTaskResumeData
        let details: [String: Any] = [key: data]
        fail(task, urlError(BackhaulError(.cancelled, message: "cancelled"), task.originalRequest?.url, details))
        return data
    }

    /// Does the same for async code. The call blocks, so it does not run on one of Swift's cooperative threads.
    func cancelProducingResumeDataAsync(_ task: BackgroundURLSessionTask) async -> Data? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.cancelProducingResumeData(task)) }
        }
    }

    /// Does the same as `park`, but returns nil if it fails. After a failed command, repeats all commands once, because
    /// the caller of this function otherwise cancels the task, which removes what was transferred.
    private func parkOrRepeat(_ task: BackgroundURLSessionTask, _ id: TaskID) -> Data? {
        do {
            return try park(task, id)
        } catch is BackhaulError {
            return try? park(task, id)
        } catch {
            return nil
        }
    }

    /// Stops the engine's task, marks it as cancelled with resume data, and returns the resume data. Throws if the task
    /// has already ended. In this case, the last delegate call for the task follows.
    private func park(_ task: BackgroundURLSessionTask, _ id: TaskID) throws -> Data {
        let session = try opened()
        try session.run(.suspend(.ids(id)))
        // The task has the mark already if an earlier call has stored it, but has got no reply.
        guard let info = try session.tasks(.ids(id)).first, info.state == .suspended || info.isLiveKeptTask else {
            throw SessionCore.unusable
        }
        // The task gets the mark first. If the program dies between the two calls, a later run does not list the task.
        try session.run(.reschedule(.ids(id), latestStart: .at(keptTaskMark)))
        try session.run(.setAside(.ids(id)))
        return try JSONEncoder().encode(
            ResumeToken(
                application: BackgroundApplication.shared.options.identifier, session: identifier, task, id))
    }

    func makeDownload(resumeData: Data) -> BackgroundURLSessionDownloadTask {
        let (number, request, values) = keptTask(resumeData, isUpload: false)
        return add(BackgroundURLSessionDownloadTask(self, number, request, values))
    }

    func makeUpload(resumeData: Data) -> BackgroundURLSessionUploadTask {
        let (number, request, values) = keptTask(resumeData, isUpload: true)
        return add(BackgroundURLSessionUploadTask(self, number, request, values))
    }

    /// The values of an object for a kept task.
    private func keptTask(_ resumeData: Data, isUpload: Bool) -> (Int, URLRequest?, TaskInner) {
        var values = TaskInner()
        guard let token = ResumeToken(resumeData), token.session == identifier, token.isUpload == isUpload,
            token.application == BackgroundApplication.shared.options.identifier
        else {
            values.unusable = SessionCore.unusable
            return (nextTaskIdentifier(), nil, values)
        }
        // The data were used already if another object with the identifier has not ended. The object of the cancelled
        // task may also still exist, but has the state `canceling` or `completed`.
        if let other = task(token.taskIdentifier), other.state == .running || other.state == .suspended {
            values.unusable = SessionCore.unusable
            return (nextTaskIdentifier(), nil, values)
        }
        values.keptTask = token.task
        return (token.taskIdentifier, URL(string: token.url).map { URLRequest(url: $0) }, values)
    }

    /// Gives the engine's kept task to the object `task`. `removeMark` then gives the engine the object's properties.
    func takeKept(_ task: BackgroundURLSessionTask, _ keptTask: TaskID) throws {
        guard let info = try keptInfo(keptTask, of: task) else { throw SessionCore.unusable }
        task.inner.with { inner in
            // The properties that the program has set before this call.
            let own = inner
            inner.fill(info)
            inner.id = keptTask
            inner.earliestBegin = own.earliestBegin
            inner.label = own.label ?? inner.label
            if own.hasOwnPriority { inner.priority = own.priority }
            if own.guessToSend > 0 { inner.guessToSend = own.guessToSend }
            if own.guessToReceive > 0 { inner.guessToReceive = own.guessToReceive }
            (inner.state, inner.suspensions) = (.running, 0)
        }
        know(task, as: keptTask)
    }

    /// Removes the mark of the object's kept task, because the resume data can be used only once. Does nothing if the
    /// object has no kept task, or if an earlier call has removed the mark.
    func removeMark(of task: BackgroundURLSessionTask) throws(BackhaulError) {
        let inner = task.inner.with { $0 }
        guard let keptTask = inner.keptTask else { return }
        let session = try opened()
        if inner.hasOwnPriority { try session.run(.setPriority(inner.enginePriority, .ids(keptTask))) }
        try session.run(.reschedule(.ids(keptTask), earliestStart: inner.startChange, latestStart: .removed))
        task.inner.with { $0.keptTask = nil }
        // The task does not run yet, so the delegate gets this call before the calls for the rest of the transfer.
        let (offset, expected) = (inner.received, inner.expected)
        if let task = task as? BackgroundURLSessionDownloadTask {
            post { $0.deliver(task, resumedAt: offset, expected) }
        }
    }

    /// Returns the engine's kept task of an object that was made from resume data. Returns nil if the resume data were
    /// used before, or if the engine's store was made again, and its task with this number is another one.
    func keptInfo(_ id: TaskID, of task: BackgroundURLSessionTask) throws(BackhaulError) -> TaskInfo? {
        guard let info = try opened().tasks(.ids(id)).first, info.isLiveKeptTask,
            taskIdentifier(key: info.idempotencyKey, id: id) == task.taskIdentifier
        else { return nil }
        return info
    }

    /// Whether all tasks of the engine's session have ended. Tasks that the program has cancelled with resume data do
    /// not count.
    func isWithoutTasks() throws(BackhaulError) -> Bool {
        guard let count = try info()?.liveTasks, count > 0 else { return true }
        guard try opened().tasks(.states([.running])).isEmpty else { return false }
        let stopped = try opened().tasks(.states([.waiting, .suspended]))
        return stopped.count { $0.isKeptTask } == Int(clamping: count)
    }

    /// Whether an ended task was a kept task, whose last delegate call was already made.
    func wasKept(_ ending: TaskEnding) throws(BackhaulError) -> Bool {
        let identifier = taskIdentifier(key: ending.idempotencyKey, id: ending.taskID)
        if isOwn(identifier) { return false }
        return try opened().tasks(.ids(ending.taskID)).first?.isKeptTask == true
    }

    static func refuseUnusable(_ task: BackgroundURLSessionTask) throws {
        if let unusable = task.inner.with({ $0.unusable }) { throw unusable }
    }
}

extension Delivery {
    func deliver(_ task: BackgroundURLSessionDownloadTask, resumedAt offset: Int64, _ expected: Int64) {
        onQueue { [session, delegate] in
            (delegate as? any BackgroundURLSessionDownloadDelegate)?.urlSession(
                session, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: expected)
        }
    }
}
