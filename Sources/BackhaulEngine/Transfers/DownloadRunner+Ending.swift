internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// How an attempt leaves its task: ended, to be tried again, or as its row has it.
extension DownloadRunner {
    func conclude(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        noteSpace(conclusion, checkpoint)
        switch conclusion {
        case .succeeded:
            CrashPoint.afterPlace.reach()
            noteUplink(nil)
            var outcome = Outcome(state: .succeeded, path: location.destination.path + (machine.fileName ?? ""))
            outcome.size = machine.size ?? machine.offset
            outcome.checksum = machine.checksum
            // Of a file that was placed the answer was recorded with the intent.
            if machine.isUnchanged, let head { outcome.answer = AnswerSummary(head, secrets) }
            end(outcome, with: recordVersion())
        case .failed(let failure):
            noteUplink(failure)
            end(Outcome(state: .failed, failure: failure))
        case .retry(let failure, let reason, let retryAfter, let fromZero):
            var failed = FailedAttempt(failure)
            failed.reason = reason
            failed.fromZero = fromZero
            failed.retryAfterSeconds = retryAfter
            retry(failed, checkpoint)
        case .credential(let demand): park(demand, checkpoint)
        case .left:
            record(
                AttemptRecord(
                    attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
                    bytesReceived: bytesReceived, checkpoint: checkpoint, attempt: attempt(.stopped)))
        }
    }

    /// What was missing when the file system was found full: looked for before the server is asked again.
    private func noteSpace(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        guard case .retry(_, reason: .diskFull, _, _) = conclusion else {
            return core.transfers.forgetNeededSpace(of: task.id)
        }
        let size = machine.size ?? checkpoint?.size
        let missing = size.map { $0 - min($0, checkpoint?.syncedOffset ?? 0) }
        core.transfers.foundFull(task.id, missing: missing)
    }
}

extension TaskRunner {
    /// `also`: part of the same transaction.
    func end(_ outcome: Outcome, with also: (@Sendable (Transaction) throws(Failure) -> Void)? = nil) {
        var outcome = outcome
        if outcome.state != .succeeded, let head { outcome.answer = AnswerSummary(head, secrets) }
        if outcome.state == .failed, !errorBody.isEmpty {
            outcome.answer.errorBody = secrets.redacted(
                errorBody, isCut: errorBody.count >= Limits.errorBodySize)
        }
        outcome.attempts = task.attempts &+ requests
        outcome.bytesReceived = bytesReceived
        outcome.bytesSent = bytesSent
        left = (outcome.state, .none)
        if task.refreshed?.url != nil { core.credentials.acceptedAddress(of: task.id, task.session) }
        let last = attempt(.end, failure: outcome.failure)
        core.endings.write(
            Ending(
                end: TaskEnd(task.id, outcome, attempt: last == recordedAttempt ? nil : last), attempt: attempt,
                session: task.session, also: also))
    }
}
