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
        let readings = readingsOfKnownTasks(readings)
        readResponses(readings)
        let changes = readings.compactMap { reading -> Change? in
            guard let task = core.task(id: reading.taskID) else { return nil }
            let change = task is BackgroundURLSessionUploadTask ? sent(task, reading) : received(task, reading)
            task.showProgress()
            return change.step == 0 ? nil : change
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

    /// Returns the readings of the tasks that this process knows. For other live tasks, which an earlier run of the
    /// program enqueued, makes the objects, so that their next readings are delivered. As for other delegate calls, the
    /// thread first waits until the program can know these tasks.
    private func readingsOfKnownTasks(_ readings: [TaskProgress]) -> [TaskProgress] {
        let known = readings.filter { core.task(id: $0.taskID) != nil }
        guard known.count < readings.count else { return known }
        let ids = readings.filter { !$0.state.hasEnded && core.task(id: $0.taskID) == nil }.map(\.taskID)
        guard var infos = try? core.opened().tasks(.ids(ids)) else { return known }
        let identifiers = infos.filter { !$0.isKeptTask }.map { taskIdentifier(key: $0.idempotencyKey, id: $0.id) }
        if let delayed = identifiers.first(where: { core.delaysCalls(for: $0) }) {
            waitForProgram(delayed)
            // During the wait, the program may have listed tasks, and cancelled some of them with resume data.
            infos = (try? core.opened().tasks(.ids(ids))) ?? []
        }
        _ = core.tasks(infos.filter { !$0.state.hasEnded })
        return known
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
