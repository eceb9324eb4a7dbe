internal import BackhaulDisk
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// How an attempt leaves its task: ended, to be tried again, or as its row has it.
extension DownloadRunner {
    func conclude(_ conclusion: DownloadMachine.Conclusion, _ checkpoint: Checkpoint?) {
        switch conclusion {
        case .succeeded:
            CrashPoint.afterPlace.reach()
            var outcome = Outcome(state: .succeeded, path: location.destination.path)
            outcome.size = machine.size ?? machine.offset
            end(outcome)
        case .failed(let failure): end(Outcome(state: .failed, failure: failure))
        case .retry(let failure, let reason, let retryAfter, _):
            retry(failure, reason, retryAfter, checkpoint)
        case .credential(let demand): park(demand, checkpoint)
        case .left:
            record(
                AttemptRecord(
                    attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
                    bytesReceived: bytesReceived, checkpoint: checkpoint))
        }
    }
}

extension TaskRunner {
    func end(_ outcome: Outcome) {
        var outcome = outcome
        // Of a whole file the answer was recorded with the intent.
        if outcome.state != .succeeded, let head { outcome.answer = AnswerSummary(head) }
        if outcome.state == .failed, !errorBody.isEmpty {
            outcome.answer.errorBody = secrets.redacted(
                errorBody, isCut: errorBody.count >= Limits.errorBodySize)
        }
        outcome.attempts = task.attempts &+ requests
        outcome.bytesReceived = bytesReceived
        left = (outcome.state, .none)
        let (id, final, readsEvents) = (task.id, outcome, core.pushes(task.session))
        core.store({ (transaction) throws(Failure) in
            try transaction.end(id, final, now: Clock.wallMilliseconds, readsEvents: readsEvents)
        }, then: { core, result in
            switch result {
            case .success(let change):
                CrashPoint.afterEnd.reach()
                core.runners[id]?.take(.concluded)
                core.credentialRepeats[id] = nil
                if let change {
                    core.forgetClosed(change)
                    core.announce(change)
                }
            case .failure:
                guard let runner = core.runners[id] else { return }
                runner.again { [unowned runner] in runner.end(final) }
            }
        })
    }

    func retry(_ failure: Failure, _ reason: WaitReason, _ retryAfter: Int64?, _ checkpoint: Checkpoint?) {
        let fruitless = madeProgress ? 0 : task.attemptsWithoutProgress &+ 1
        let delay = RetryPolicy(configuration).delay(
            attemptsWithoutProgress: fruitless, retryAfterSeconds: retryAfter, jitter: .random(in: 0..<1))
        // A full disk is a reason to wait, however long.
        guard let delay = reason == .diskFull ? max(delay ?? 0, 5_000) : delay else {
            take(.retryRefused)
            return
        }
        // Looked at again when its time is over, at the latest: then it fails.
        let wait = min(delay, max(0, Int64(clamping: configuration.resourceTimeoutMilliseconds) - age))
        record(
            AttemptRecord(
                attempts: task.attempts &+ requests,
                attemptsWithoutProgress: reason == .diskFull ? task.attemptsWithoutProgress : fruitless,
                bytesReceived: bytesReceived, failure: failure, httpStatus: head?.status ?? 0,
                nextAttempt: Clock.bootMilliseconds + wait, reason: reason, checkpoint: checkpoint))
    }

    func record(_ attempt: AttemptRecord) {
        var attempt = attempt
        attempt.furthestOffset = furthest
        write(attempt)
    }

    private func write(_ attempt: AttemptRecord) {
        let (id, lane) = (task.id, task.lane)
        if attempt.nextAttempt != nil || attempt.reason != .none { left = (.waiting, attempt.reason) }
        core.store({ (transaction) throws(Failure) in
            try transaction.recordAttempt(id, attempt)
        }, then: { core, result in
            guard let runner = core.runners[id] else { return }
            switch result {
            case .success:
                runner.take(.concluded)
                core.due(at: attempt.nextAttempt)
                // Without a delay it waits for its turn again, unless it is suspended or has ended.
                if attempt.nextAttempt == nil { core.tasksWait(in: [lane], reload: false) }
            case .failure: runner.again { [unowned runner] in runner.write(attempt) }
            }
        })
    }
}
