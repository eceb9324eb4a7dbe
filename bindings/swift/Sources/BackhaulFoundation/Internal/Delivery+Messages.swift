internal import Backhaul
internal import Foundation
internal import FoundationNetworking

extension Delivery {
    /// Makes the last delegate calls for a task. If the task has a file or metrics, these calls pass them to the
    /// delegate. If the engine has stored no attempt, the task has no metrics. The very last call is
    /// `didCompleteWithError`.
    func deliver(_ ending: TaskEnding, of event: EventID, acknowledge: @escaping @Sendable () -> Void) {
        let identifier = taskIdentifier(key: ending.idempotencyKey, id: ending.taskID)
        let task = core.task(identifier, id: ending.taskID, kind: ending.kind, url: ending.url) {
            $0.label = label(ending.userData)
            // This closure runs only if this process has no object for the task yet, because an earlier run of the
            // program enqueued the task. In the new object, all bytes of the task count as received.
            $0.received = Int64(clamping: ending.size)
        }
        let body = ending.kind == .upload ? (ending.responseBody ?? ending.errorBody).map { Data($0) } : nil
        let attempts = (try? core.opened().run(.attempts(ending.taskID))) ?? []
        let metrics =
            attempts.isEmpty
            ? nil : BackgroundURLSessionTaskMetrics(attempts, request: task.originalRequest, ending)
        let size = Int64(clamping: ending.size)
        let lastURL = (ending.finalURL ?? attempts.last?.url).flatMap { URL(string: $0) }
        let isCancelled = cancelledTasks.remove(ending.taskID) != nil
        let failure = ending.error(url: lastURL ?? task.originalRequest?.url, isCancelled: isCancelled)
        let sent = sentBytes(of: ending, task)
        let (before, sentBefore) = task.inner.with { inner in
            defer {
                inner.state = .completed
                inner.response = ending.response
                inner.error = failure
                inner.errorBody = ending.errorBody.map { Data($0) }
                inner.responseBody = ending.responseBody.map { Data($0) }
                if let sent { (inner.sent, inner.expectedToSend) = sent }
                if ending.path != nil { (inner.received, inner.expected) = (size, size) }
            }
            return (inner.received, inner.sent)
        }
        if ending.path != nil || sent != nil { task.showProgress() }
        // If the file does not exist, the program moved it during an earlier delivery of this event. The earlier
        // delivery was not acknowledged, so the engine, which stores the events, delivers the event again.
        let location = ending.path.flatMap {
            FileManager.default.fileExists(atPath: $0) ? URL(fileURLWithPath: $0) : nil
        }
        let removeOwnDownload: @Sendable () -> Void = {
            guard let location, isOwnDownload(location, of: identifier) else { return }
            try? FileManager.default.removeItem(at: location)
        }
        onQueue { [session, delegate] in
            if let location, let task = task as? BackgroundURLSessionDownloadTask,
                let delegate = delegate as? any BackgroundURLSessionDownloadDelegate
            {
                if before < size {
                    delegate.urlSession(
                        session, downloadTask: task, didWriteData: size - before, totalBytesWritten: size,
                        totalBytesExpectedToWrite: size)
                }
                delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: location)
            }
            if let (now, expected) = sent, now > sentBefore,
                let delegate = delegate as? any BackgroundURLSessionTaskDelegate
            {
                delegate.urlSession(
                    session, task: task, didSendBodyData: now - sentBefore, totalBytesSent: now,
                    totalBytesExpectedToSend: expected)
            }
            if let body, !body.isEmpty, let task = task as? BackgroundURLSessionDataTask,
                let delegate = delegate as? any BackgroundURLSessionDataDelegate
            {
                delegate.urlSession(session, dataTask: task, didReceive: body)
            }
            if let delegate = delegate as? any BackgroundURLSessionTaskDelegate {
                if let metrics { delegate.urlSession(session, task: task, didFinishCollecting: metrics) }
                ExitAcknowledgements.begin(event) {
                    removeOwnDownload()
                    acknowledge()
                }
                delegate.urlSession(session, task: task, didCompleteWithError: failure)
            }
        }
        removeOwnDownload()
        core.forget(task)
    }

    /// Returns how many bytes of an upload's body were sent, and the size of the body. A fast upload may end before its
    /// progress is read, so this function computes the two numbers. For a download, or if the size is unknown, the
    /// result is nil.
    private func sentBytes(of ending: TaskEnding, _ task: BackgroundURLSessionTask) -> (Int64, Int64)? {
        guard ending.kind == .upload, ending.bytesSent > 0 else { return nil }
        let (before, known) = task.inner.with { ($0.sent, $0.expectedToSend) }
        let asked = known > 0 ? nil : try? core.opened().tasks(.ids(ending.taskID)).first
        let expected = asked.map { Int64(clamping: $0.bodySize) } ?? known
        guard expected > 0 else { return nil }
        // After several attempts, the sent bytes of the last attempt are known only if this attempt succeeded.
        if case .succeeded = ending.outcome { return (expected, expected) }
        return (ending.attempts > 1 ? before : min(Int64(clamping: ending.bytesSent), expected), expected)
    }

    /// Makes the last delegate call for a task that was not stored, or that was lost with its session.
    func fail(_ task: BackgroundURLSessionTask, _ error: any Error) {
        task.inner.with { inner in
            inner.state = .completed
            inner.error = error
        }
        onQueue { [session, delegate] in
            if let delegate = delegate as? any BackgroundURLSessionTaskDelegate {
                delegate.urlSession(session, task: task, didCompleteWithError: error)
            }
        }
        core.forget(task)
    }
}

extension BackgroundURLSessionTask {
    func showProgress() {
        let (done, total) = inner.with { inner in
            self is BackgroundURLSessionUploadTask
                ? (inner.sent, inner.expectedToSend) : (inner.received, inner.expected)
        }
        progress.totalUnitCount = total
        progress.completedUnitCount = done
    }
}

extension TaskEnding {
    /// - Parameter isCancelled: Whether the task failed because its challenge was cancelled.
    func error(url: URL?, isCancelled: Bool) -> URLError? {
        switch outcome {
        case .succeeded: nil
        case .failed(let error) where !isCancelled: urlError(error, url)
        case .cancelled, .failed: urlError(BackhaulError(.cancelled, message: "cancelled"), url)
        }
    }
}
