internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulStore

/// What others see of a running download.
extension DownloadRunner {
    func live(_ info: TaskInfo) -> TaskInfo {
        guard !info.state.hasEnded, info.state != .suspended else { return info }
        var info = info
        info.state = .running
        info.offset = machine.offset
        info.size = machine.size ?? info.size
        info.httpStatus = machine.head?.status ?? info.httpStatus
        info.attempts = task.attempts &+ requests
        info.bytesPerSecond = rate.bytesPerSecond
        info.nextAttemptMilliseconds = 0
        (info.reason, info.reasonText) = reason
        return info
    }

    var liveReading: Progress {
        Progress(
            task: task.id, state: .running, reason: reason.0, offset: machine.offset, size: machine.size,
            bytesPerSecond: rate.bytesPerSecond)
    }

    var readingAfterwards: Progress {
        let (state, reason) = stateAfterwards
        return Progress(
            task: task.id, state: state, reason: reason, offset: machine.offset, size: machine.size,
            bytesPerSecond: 0)
    }

    private var reason: (WaitReason, String?) {
        if machine.isFinishing { return (.finishing, "all bytes are here and are being made durable") }
        if machine.phase == .lookingForFile { return (.finishing, "the file that is there is being verified") }
        if machine.head == nil { return (.connecting, "\(task.origin.text) has not answered yet") }
        if waitsForRate { return (.rate, WaitReason.rate.text) }
        let silence = (core.loop.now - lastByte) / 1_000
        if silence >= 2 { return (.stalled, "\(task.origin.text) has sent nothing for \(silence) seconds") }
        return (.none, nil)
    }
}
