internal import BackhaulModel
internal import BackhaulStore
internal import BackhaulTransport

/// The progress of a task for listings and for `ProgressPublisher`, and the reason why a running task moves no bytes.
extension TransferRunner {
    /// Adds the live progress to the listing of the task.
    func addProgress(to info: inout TaskInfo) {
        guard !info.state.hasEnded, info.state != .suspended else { return }
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
        info.attempts = attempt.requests
        info.bytesPerSecond = attempt.exchange.rate.bytesPerSecond
        info.nextAttemptMilliseconds = 0
        (info.reason, info.reasonText) = reason
    }

    var progress: Progress { progress(.running, reason.0, bytesPerSecond: attempt.exchange.rate.bytesPerSecond) }

    /// The last progress of a task that does not run any more.
    var lastProgress: Progress {
        let (state, reason) = attempt.stopReason == .cancelled ? (.cancelled, .none) : attempt.stoppedState
        return progress(state, reason, bytesPerSecond: 0)
    }

    private func progress(_ state: TaskState, _ reason: WaitReason, bytesPerSecond: UInt64) -> Progress {
        Progress(
            task: attempt.task.id, state: state, reason: reason, offset: file?.offset ?? 0, size: file?.size,
            bytesPerSecond: bytesPerSecond, bodySent: body?.sent ?? 0, bodySize: body?.size ?? 0)
    }

    private var reason: (WaitReason, String?) {
        if let commitFailure = attempt.commitFailure {
            return (commitFailure.status == .storeFull ? .diskFull : .disk, commitFailure.message)
        }
        if let finishing { return (.disk, finishing) }
        if waitsForDisk { return (.disk, "the disk of \(storagePath), or of the store, is busy") }
        let origin = attempt.task.origin.text
        if hasNoResponse { return (.connecting, "\(origin) has not responded yet") }
        if attempt.waitsForRate { return (.rate, attempt.rateReason) }
        let silence = (attempt.services.runtime.now - attempt.exchange.lastByte) / 1_000
        if silence >= 2 { return (.stalled, "\(origin) has \(silenceDescription) for \(silence) seconds") }
        return (.none, nil)
    }

    /// Whether the disk has to write or read bytes before the attempt can send or receive more, or send its first
    /// request.
    private var waitsForDisk: Bool {
        guard let transfer = attempt.transfer else { return attempt.exchange.requests == 0 }
        return transfer.isWaiting && !attempt.waitsForRate
    }
}
