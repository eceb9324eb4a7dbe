internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// What others see of a running upload.
extension UploadRunner {
    func live(_ info: TaskInfo) -> TaskInfo {
        guard !info.state.hasEnded, info.state != .suspended else { return info }
        var info = info
        info.state = .running
        info.httpStatus = head?.status ?? info.httpStatus
        info.attempts = task.attempts &+ requests
        info.bytesPerSecond = rate.bytesPerSecond
        info.bodySent = bodySent
        info.bodySize = feed?.size ?? info.bodySize
        info.nextAttemptMilliseconds = 0
        (info.reason, info.reasonText) = reason
        return info
    }

    var liveReading: Progress {
        Progress(
            task: task.id, state: .running, reason: reason.0, offset: 0, size: nil,
            bytesPerSecond: rate.bytesPerSecond, bodySent: bodySent, bodySize: feed?.size ?? 0)
    }

    var readingAfterwards: Progress {
        let (state, reason) = stateAfterwards
        return Progress(
            task: task.id, state: state, reason: reason, offset: 0, size: nil, bytesPerSecond: 0, bodySent: bodySent,
            bodySize: feed?.size ?? 0)
    }

    private var reason: (WaitReason, String?) {
        if machine.isFinishing { return (.finishing, "the answer is here and is being recorded") }
        if head == nil, bodySent == 0 { return (.connecting, "\(task.origin.text) has not answered yet") }
        if waitsForRate { return (.rate, WaitReason.rate.text) }
        let silence = (core.loop.now - lastByte) / 1_000
        if silence >= 2 { return (.stalled, "\(task.origin.text) has taken and sent nothing for \(silence) seconds") }
        return (.none, nil)
    }
}
