internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulTransport

/// How an attempt that failed leaves its task: to be tried again, or to fail.
extension TaskRunner {
    /// `failed`: what the runner knows of its failure; the rest is added here.
    func retry(_ failed: FailedAttempt, _ checkpoint: Checkpoint?) {
        var failed = failed
        failed.method = task.request.method
        failed.surelyNotProcessed = circumstances.surelyNotProcessed
        failed.wentAway = circumstances.wentAway
        failed.hasNoWay = core.reachability.isUnreachable(task, failed.failure, circumstances)
        // Without a route it is known what is missing, and the kernel tells when it is there.
        if !failed.hasNoWay { noteUplink(failed.failure) }
        failed.isOfUplink = core.uplink.isHeld(for: task)
        failed.madeProgress = madeProgress
        failed.fruitless = task.attemptsWithoutProgress
        failed.immediate = core.transfers.immediateRepeats(of: task.id)
        failed.remainingMilliseconds = remainingMilliseconds
        let decision = RetryDecision.decide(failed, policy, jitter: .random(in: 0..<1))
        core.transfers.setImmediateRepeats(decision == .atOnce ? failed.immediate + 1 : nil, of: task.id)
        var attempt = AttemptRecord(
            attempts: task.attempts &+ requests, attemptsWithoutProgress: task.attemptsWithoutProgress,
            bytesReceived: bytesReceived, failure: failed.failure, httpStatus: head?.status ?? 0,
            checkpoint: checkpoint)
        var wait: Int64 = 0
        switch decision {
        case .end: return take(.retryRefused)
        case .atOnce: break
        case .later(let milliseconds, let fruitless):
            attempt.attemptsWithoutProgress = fruitless
            wait = milliseconds
            attempt.wait(milliseconds, for: .retry)
        case .whenThereIsSpace(let milliseconds):
            wait = milliseconds
            attempt.wait(milliseconds, for: .diskFull)
        case .whenUplinkLeads:
            left = (.waiting, .portal)
            attempt.attempt = self.attempt(.stopped, failure: failed.failure)
            return record(attempt)
        case .whenConnected:
            attempt.attempts = task.attempts
            // After the look that all are given, so that it is not made twice.
            let (untilLook, effects) = core.reachability.hold(task)
            core.apply(effects)
            attempt.wait(min(untilLook + 1_000, max(0, remainingMilliseconds)), for: .connectivity)
            return record(attempt)
        }
        attempt.attempt = self.attempt(
            .retry, failure: failed.failure, nextAttemptMilliseconds: Clock.wallMilliseconds + wait)
        record(attempt)
    }

    func record(_ attempt: AttemptRecord) {
        var attempt = attempt
        attempt.furthestOffset = furthest
        attempt.bytesSent = bytesSent
        write(attempt)
    }

    private func write(_ attempt: AttemptRecord) {
        let (id, number, lane) = (task.id, self.attempt, task.lane)
        if attempt.nextAttempt != nil || attempt.reason != .none { left = (.waiting, attempt.reason) }
        core.store({ (transaction) throws(Failure) in
            try transaction.recordAttempt(id, attempt)
        }, then: { core, result in
            guard let runner = core.transfers.runner(id, number) else { return }
            switch result {
            case .success:
                runner.take(.concluded)
                core.scheduler.due(at: attempt.nextAttempt)
                // Without a delay it waits for its turn again, unless it is suspended or has ended.
                if attempt.nextAttempt == nil { core.scheduler.tasksWait(in: [lane], reload: false) }
            case .failure(let failure): runner.again(after: failure) { [unowned runner] in runner.write(attempt) }
            }
        })
    }
}

extension AttemptRecord {
    fileprivate mutating func wait(_ milliseconds: Int64, for reason: WaitReason) {
        nextAttempt = Clock.bootMilliseconds + milliseconds
        self.reason = reason
    }
}

extension EngineCore {
    /// The task has ended, or the host has done something with it.
    func forgetRepeats(of task: TaskID) {
        credentials.setRepeats(nil, of: task)
        transfers.setImmediateRepeats(nil, of: task)
    }
}
