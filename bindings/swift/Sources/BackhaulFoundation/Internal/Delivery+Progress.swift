internal import Backhaul
internal import Foundation

extension Delivery {
    /// The progress of a task since the last delegate call, in bytes. `step` is the number of new bytes, `total` is the
    /// number of all bytes so far, and `expected` is the whole size.
    private struct Change: Sendable {
        let task: BackgroundURLSessionTask
        let step: Int64
        let total: Int64
        let expected: Int64
    }

    func deliverProgress(_ readings: [TaskProgress]) {
        readResponses(readings)
        let changes = readings.compactMap { reading -> Change? in
            guard let task = core.task(id: reading.taskID) else { return nil }
            let change = task is BackgroundURLSessionUploadTask ? sent(task, reading) : received(task, reading)
            task.showProgress()
            return change.step > 0 ? change : nil
        }
        guard !changes.isEmpty, delegate is any BackgroundURLSessionTaskDelegate else { return }
        onQueue { [session, delegate] in
            for change in changes {
                if let task = change.task as? BackgroundURLSessionDownloadTask {
                    (delegate as? any BackgroundURLSessionDownloadDelegate)?.urlSession(
                        session, downloadTask: task, didWriteData: change.step, totalBytesWritten: change.total,
                        totalBytesExpectedToWrite: change.expected)
                } else {
                    (delegate as? any BackgroundURLSessionTaskDelegate)?.urlSession(
                        session, task: change.task, didSendBodyData: change.step, totalBytesSent: change.total,
                        totalBytesExpectedToSend: change.expected)
                }
            }
        }
    }

    /// Reads the responses of running downloads that have no response yet.
    private func readResponses(_ readings: [TaskProgress]) {
        let ids = readings.filter { reading in
            guard reading.size != nil || reading.offset > 0 else { return false }
            guard let task = core.task(id: reading.taskID) as? BackgroundURLSessionDownloadTask else { return false }
            return task.response == nil
        }.map(\.taskID)
        guard !ids.isEmpty, let infos = try? core.opened().tasks(.ids(ids)) else { return }
        for info in infos {
            core.task(id: info.id)?.inner.with { if $0.response == nil { $0.response = info.response } }
        }
    }

    private func received(_ task: BackgroundURLSessionTask, _ reading: TaskProgress) -> Change {
        let now = Int64(clamping: reading.offset)
        return task.inner.with { inner in
            let before = inner.received
            inner.received = now
            if let size = reading.size { inner.expected = Int64(clamping: size) }
            return Change(task: task, step: now - before, total: now, expected: inner.expected)
        }
    }

    private func sent(_ task: BackgroundURLSessionTask, _ reading: TaskProgress) -> Change {
        let now = Int64(clamping: reading.bodySent)
        return task.inner.with { inner in
            let before = inner.sent
            inner.sent = now
            inner.expectedToSend = Int64(clamping: reading.bodySize)
            return Change(task: task, step: now - before, total: now, expected: inner.expectedToSend)
        }
    }
}
