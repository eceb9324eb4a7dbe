internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// What others see of a task that runs.
extension TaskRunner {
    /// Lays live progress over what the row says.
    func overlay(_ info: TaskInfo) -> TaskInfo {
        guard !info.state.hasEnded, info.state != .suspended else { return info }
        var info = info
        info.state = .running
        if let file {
            info.offset = file.offset
            info.size = file.size ?? info.size
        }
        if let body {
            info.bodySent = body.sent
            info.bodySize = body.size ?? info.bodySize
        }
        info.httpStatus = head?.status ?? info.httpStatus
        info.attempts = task.attempts &+ requests
        info.bytesPerSecond = rate.bytesPerSecond
        info.nextAttemptMilliseconds = 0
        (info.reason, info.reasonText) = reason
        return info
    }

    var reading: Progress { reading(.running, reason.0, bytesPerSecond: rate.bytesPerSecond) }

    /// When it runs no more.
    var lastReading: Progress {
        let (state, reason) = wasCancelled ? (.cancelled, .none) : left
        return reading(state, reason, bytesPerSecond: 0)
    }

    private func reading(_ state: TaskState, _ reason: WaitReason, bytesPerSecond: UInt64) -> Progress {
        Progress(
            task: task.id, state: state, reason: reason, offset: file?.offset ?? 0, size: file?.size,
            bytesPerSecond: bytesPerSecond, bodySent: body?.sent ?? 0, bodySize: body?.size ?? 0)
    }

    private var reason: (WaitReason, String?) {
        if let uncommitted { return (uncommitted.status == .storeFull ? .diskFull : .finishing, uncommitted.message) }
        if let finishing { return (.finishing, finishing) }
        if isUnanswered { return (.connecting, "\(task.origin.text) has not answered yet") }
        if waitsForRate { return (.rate, WaitReason.rate.text) }
        let silence = (core.loop.now - lastByte) / 1_000
        if silence >= 2 { return (.stalled, "\(task.origin.text) has \(silentWord) for \(silence) seconds") }
        return (.none, nil)
    }
}
