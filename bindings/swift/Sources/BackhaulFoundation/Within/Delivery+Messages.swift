internal import Backhaul
internal import Foundation
internal import FoundationNetworking

extension Delivery {
    /// A task's end: its file, if there is one, and its last message.
    func tell(_ ending: TaskEnding) {
        let identifier = taskIdentifier(key: ending.idempotencyKey, id: ending.taskID)
        let task = core.task(identifier, id: ending.taskID, url: ending.url) {
            $0.label = label(ending.userData)
            // Nothing that this process has followed.
            $0.received = Int64(clamping: ending.size)
        }
        let size = Int64(clamping: ending.size)
        let failure = ending.error(url: task.originalRequest?.url)
        let before = task.inner.with { inner in
            defer {
                inner.state = .completed
                inner.response = ending.response
                inner.error = failure
                inner.errorBody = ending.errorBody.map { Data($0) }
                if ending.path != nil { (inner.received, inner.expected) = (size, size) }
            }
            return inner.received
        }
        if ending.path != nil { task.showProgress() }
        // Absent when an earlier delivery, that was not acknowledged, has moved it: the program has it already.
        let location = ending.path.flatMap {
            FileManager.default.fileExists(atPath: $0) ? URL(fileURLWithPath: $0) : nil
        }
        onQueue { [session, delegate] in
            if let location, let delegate = delegate as? any BackgroundURLSessionDownloadDelegate {
                if before < size {
                    delegate.urlSession(
                        session, downloadTask: task, didWriteData: size - before, totalBytesWritten: size,
                        totalBytesExpectedToWrite: size)
                }
                delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: location)
            }
            if let delegate = delegate as? any BackgroundURLSessionTaskDelegate {
                delegate.urlSession(session, task: task, didCompleteWithError: failure)
            }
        }
        core.forget(task)
    }

    /// The last message of a task that the engine does not have.
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

    func tellProgress(_ readings: [TaskProgress]) {
        let changes = readings.compactMap { reading -> (BackgroundURLSessionDownloadTask, Int64, Int64, Int64)? in
            guard let task = core.task(id: reading.taskID) else { return nil }
            let now = Int64(clamping: reading.offset)
            let (before, expected) = task.inner.with { inner in
                defer {
                    inner.received = now
                    if let size = reading.size { inner.expected = Int64(clamping: size) }
                }
                return (inner.received, reading.size.map { Int64(clamping: $0) } ?? inner.expected)
            }
            task.showProgress()
            return now == before ? nil : (task, now - before, now, expected)
        }
        guard !changes.isEmpty, let delegate = delegate as? any BackgroundURLSessionDownloadDelegate else { return }
        onQueue { [session] in
            for (task, written, total, expected) in changes {
                delegate.urlSession(
                    session, downloadTask: task, didWriteData: written, totalBytesWritten: total,
                    totalBytesExpectedToWrite: expected)
            }
        }
    }
}

extension BackgroundURLSessionTask {
    func showProgress() {
        let (received, expected) = inner.with { ($0.received, $0.expected) }
        progress.totalUnitCount = expected
        progress.completedUnitCount = received
    }
}

extension TaskEnding {
    func error(url: URL?) -> URLError? {
        switch outcome {
        case .succeeded: nil
        case .cancelled: urlError(BackhaulError(.cancelled, message: "cancelled"), url)
        case .failed(let error): urlError(error, url)
        }
    }
}
